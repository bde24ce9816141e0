/**
 * Somebody else's server: a real one on this machine that records what webhooks bring, answers as it was told, and reads
 * signatures with the library of Standard Webhooks.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { listenOnLoopback, type LoopbackServer } from "../../kit/loopback.ts";
import { parseObject } from "./stack.ts";

/** One request as it came. */
export interface Arrived {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Milliseconds since the Unix epoch, when its last byte was there. */
  readonly at: number;
}

/** `hang`: no answer until the sink is closed. `reset`: the connection ends without one. */
export type Scripted =
  | number
  | "hang"
  | "reset"
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

/** One address of the sink, with what came to it and what it says. */
export interface Receiver {
  readonly url: string;
  readonly arrived: readonly Arrived[];
  /** From now on: one of these a request, the last one for ever. Before the first call it is 204. */
  answer(first: Scripted, ...later: readonly Scripted[]): void;
  /** The first request, past or coming, that fits; rejects after twenty seconds. */
  waitFor(matches?: (arrived: Arrived) => boolean): Promise<Arrived>;
  /** Resolves when so many have come in all; rejects after twenty seconds. */
  waitForCount(count: number): Promise<readonly Arrived[]>;
}

export interface WebhookSink extends LoopbackServer {
  /** A new address with a script of its own. */
  receiver(): Receiver;
}

/** Many times what an arrival takes on an idle machine. Milliseconds. */
const ARRIVAL_LIMIT = 60_000;

export async function openWebhookSink(): Promise<WebhookSink> {
  const inboxes = new Map<string, Inbox>();
  const server = await listenOnLoopback(async (request, response) => {
    const body = await text(request);
    const inbox = inboxes.get(new URL(request.url ?? "/", "http://sink").pathname);
    if (inbox === undefined) reply(response, 404);
    else inbox.take(request, body, response);
  });
  return {
    ...server,
    receiver() {
      const path = `/receiver/${inboxes.size + 1}`;
      const inbox = new Inbox(server.baseUrl + path);
      inboxes.set(path, inbox);
      return inbox;
    },
  };
}

class Inbox implements Receiver {
  readonly url: string;
  readonly arrived: Arrived[] = [];
  readonly #watchers = new Set<() => void>();
  #script: readonly Scripted[] = [204];

  constructor(url: string) {
    this.url = url;
  }

  answer(first: Scripted, ...later: readonly Scripted[]): void {
    this.#script = [first, ...later];
  }

  async waitFor(matches: (arrived: Arrived) => boolean = () => true): Promise<Arrived> {
    await this.#until(() => this.arrived.some(matches));
    return this.arrived.find(matches)!;
  }

  async waitForCount(count: number): Promise<readonly Arrived[]> {
    await this.#until(() => this.arrived.length >= count);
    return this.arrived;
  }

  take({ method = "", url = "", headers }: IncomingMessage, body: string, response: ServerResponse): void {
    this.arrived.push({ method, path: url, headers, body, at: Date.now() });
    const [next = 204, ...rest] = this.#script;
    if (rest.length > 0) this.#script = rest;
    reply(response, next);
    for (const watch of this.#watchers) watch();
  }

  #until(holds: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        this.#watchers.delete(look);
        settle();
      };
      const look = (): void => {
        if (holds()) finish(resolve);
      };
      const timer = setTimeout(() => {
        const came = this.arrived.map(({ headers, body }) => `${String(headers["webhook-id"])} ${body}`).join("\n");
        finish(() =>
          reject(new Error(`it did not arrive in ${ARRIVAL_LIMIT} ms; ${this.arrived.length} came: ${came}`)),
        );
      }, ARRIVAL_LIMIT);
      this.#watchers.add(look);
      look();
    });
  }
}

function reply(response: ServerResponse, scripted: Scripted): void {
  if (scripted === "hang") return;
  if (scripted === "reset") return void response.socket?.resetAndDestroy();
  const { status, headers = {}, body = "" } = typeof scripted === "number" ? { status: scripted } : scripted;
  response.writeHead(status, headers).end(body);
}

/** The event, when the signature is good for the secret, or throws what `standardwebhooks` says. */
export function verifyArrived({ body, headers }: Pick<Arrived, "body" | "headers">, secret: string) {
  const names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
  const signed = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
  return parseObject(JSON.stringify(new Webhook(secret).verify(body, signed)));
}

/** Whether it verifies. */
export function isSignedBy(arrived: Pick<Arrived, "body" | "headers">, secret: string): boolean {
  try {
    verifyArrived(arrived, secret);
    return true;
  } catch {
    return false;
  }
}

/** The event that a request carries, unverified. */
export function eventIn({ body }: Pick<Arrived, "body">): Readonly<Record<string, unknown>> {
  return parseObject(body);
}

/** The same request with one byte of its body changed. */
export function tampered(arrived: Arrived): Arrived {
  const at = arrived.body.length - 1;
  return { ...arrived, body: arrived.body.slice(0, at) + (arrived.body.charAt(at) === "}" ? "]" : "}") };
}
