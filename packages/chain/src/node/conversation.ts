/** One end of a conversation between two threads: asks and waits, and answers what is asked. */
import { readError, writeError, type Message } from "./worker-messages.ts";

/** A Worker, or the port a worker has to its thread. */
export interface Line {
  postMessage(message: unknown): void;
  on(event: "message", listener: (message: unknown) => void): unknown;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class Conversation<Asking, Asked> {
  readonly #line: Line;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  constructor(line: Line, answer: (asked: Asked) => Promise<unknown>) {
    this.#line = line;
    line.on("message", (message) => void this.#receive(message as Message<Asked>, answer));
  }

  /** How many questions have no answer yet. */
  get open(): number {
    return this.#waiting.size;
  }

  async ask(asked: Asking): Promise<unknown> {
    this.#last += 1;
    const id = this.#last;
    return await new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ kind: "asked", id, asked });
    });
  }

  /** The worker is gone: waiting callers get an error. */
  end(error: Error): void {
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }

  async #receive(message: Message<Asked>, answer: (asked: Asked) => Promise<unknown>): Promise<void> {
    const { id } = message;
    if (message.kind === "asked") {
      await answer(message.asked).then(
        (value) => this.#send({ kind: "answered", id, value }),
        (error: unknown) => this.#send({ kind: "failed", id, error: writeError(error) }),
      );
      return;
    }
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (message.kind === "answered") waiting?.resolve(message.value);
    else waiting?.reject(readError(message.error));
  }

  #send(message: Message<Asking>): void {
    this.#line.postMessage(message);
  }
}
