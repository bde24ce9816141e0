/** What the client suite works on, and how it meddles with the wire. */
import {
  createClient,
  type Client,
  type ClientOptions,
  type Middleware,
  type Transport,
  toRequest,
  type TransportRequest,
} from "@coffer/sdk";
import { randomUUID } from "node:crypto";

/** A service that the SDK's client can reach. It offers dev-signup. */
export interface ClientSubject extends AsyncDisposable {
  readonly baseUrl: string;
  /** Absent: the client's own, over the network. */
  readonly transport?: Transport;
  /** null: nothing happens to it besides its API. */
  readonly backstage: Backstage | null;
}

/** What happens to a service besides its API: its operator, people's mailboxes, and who is paid. */
export interface Backstage {
  /** A code to sign up with, for one use. */
  accessCode(): Promise<string>;
  /** The token in the newest mail of that purpose. */
  mailedToken(to: string, purpose: "verify" | "reset"): Promise<string>;
  /** Delivers an event as the payment provider does; `forged`: with a signature that is not the provider's. */
  pay(event: Payment, forged?: "forged"): Promise<Response>;
}

export interface Payment {
  readonly kind: "subscription.active" | "subscription.ending" | "subscription.ended";
  readonly accountId: string;
  readonly plan: "pro";
  readonly reference: string;
  /** RFC 3339. */
  readonly occurredAt: string;
}

/** Opens clients of fresh accounts. */
export interface Accounts {
  /** A new account with its owner's key. */
  signup(options?: Partial<ClientOptions>): Promise<{ client: Client; apiKey: string }>;
  /** Another client with this key. */
  connect(apiKey: string | null, options?: Partial<ClientOptions>): Client;
  readonly backstage: Backstage;
}

export function accountsOf(subject: ClientSubject): Accounts {
  // Short waits: the suite is about what is repeated, not about when.
  const retry = { baseDelayMs: 2, maxDelayMs: 20 };
  const connect = (apiKey: string | null, options: Partial<ClientOptions> = {}): Client =>
    createClient({
      baseUrl: subject.baseUrl,
      transport: subject.transport,
      credentials: apiKey === null ? null : { apiKey },
      retry,
      ...options,
    });
  return {
    connect,
    get backstage() {
      if (subject.backstage === null) throw new Error("this service has no operator, mailboxes or payments");
      return subject.backstage;
    },
    signup: async (options) => {
      const { apiKey } = await connect(null).development.signup({ email: `client-${randomUUID()}@example.com` });
      return { client: connect(apiKey, options), apiKey };
    },
  };
}

/** Bytes that no compression or repetition makes alike: a linear congruence. */
export function sampleBytes(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

/** Keeps every request's method and path. */
export function recorder(): { middleware: Middleware; sent: string[]; requests: TransportRequest[] } {
  const sent: string[] = [];
  const requests: TransportRequest[] = [];
  const middleware: Middleware = (request, next) => {
    sent.push(`${request.method} ${new URL(request.url).pathname}`);
    requests.push(request);
    return next(request);
  };
  return { middleware, sent, requests };
}

/** Lets the first `times` matching requests reach the service and loses their answers. */
export function loseAnswers(matches: (request: TransportRequest) => boolean, times = 1): Middleware {
  let left = times;
  return async (request, next) => {
    const lose = left > 0 && matches(request);
    if (lose) left -= 1;
    const response = await next(request);
    if (!lose) return response;
    await response.body?.cancel();
    throw new TypeError("connection lost");
  };
}

/** Turns one bit of the first matching request's body. */
export function corruptOnce(matches: (request: TransportRequest) => boolean): Middleware {
  let done = false;
  return async (request, next) => {
    if (done || !matches(request)) return next(request);
    done = true;
    const body = new Uint8Array(await toRequest(request).arrayBuffer());
    body[0] = (body[0] ?? 0) ^ 1;
    const { url, method, headers, signal, redirect } = request;
    return next({ url, method, headers, body, signal, redirect });
  };
}

/** Passes answers of matching requests through `change`. */
export function changeBodies(
  matches: (request: TransportRequest) => boolean,
  change: (body: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>,
  times = 1,
): Middleware {
  let left = times;
  return async (request, next) => {
    const response = await next(request);
    if (left === 0 || response.body === null || !matches(request)) return response;
    left -= 1;
    return new Response(change(response.body), { status: response.status, headers: response.headers });
  };
}

/** An `AbortSignal` that counts listeners. */
export function countedSignal(): { controller: AbortController; listeners: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  let count = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    count += 1;
    add(...given);
  };
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    count -= 1;
    remove(...given);
  };
  return { controller, listeners: () => count };
}
