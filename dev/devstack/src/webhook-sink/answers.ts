/** How the sink answers a delivery whose signature is right: as a good receiver does, or as bad ones do, to play with. */
import type { ServerResponse } from "node:http";

/** `hang`: never. `slow`: 204 after a while. The rest is a status. */
export const ANSWERS = ["204", "500", "410", "429", "slow", "hang"] as const;
export type Answer = (typeof ANSWERS)[number];

export function isAnswer(text: unknown): text is Answer {
  return ANSWERS.some((answer) => answer === text);
}

/** Shorter than a sender waits. Milliseconds. */
const SLOW = 3_000;
/** Seconds of a 429 answer's `Retry-After`. */
const RETRY_AFTER = "2";

/** Owns the answers that are still to come. */
export class Answering implements Disposable {
  /** The answer to the next deliveries. */
  current: Answer = "204";
  readonly #timers = new Set<NodeJS.Timeout>();

  give(response: ServerResponse): void {
    if (this.current === "hang") return;
    if (this.current !== "slow") {
      const more = this.current === "429" ? { "Retry-After": RETRY_AFTER } : {};
      response.writeHead(Number(this.current), { ...more, ...framingOf(this.current) }).end();
      return;
    }
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      response.writeHead(204).end();
    }, SLOW);
    this.#timers.add(timer);
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}

function framingOf(status: string): Record<string, string> {
  return status === "204" ? {} : { "Content-Length": "0" };
}
