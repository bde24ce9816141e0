/** Stands between all clients and the service: keeps every byte both ways, and plays a service that lies. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { request as openRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { listenOnLoopback, type LoopbackServer } from "../../kit/loopback.ts";

export interface TappedRequest {
  readonly method: string;
  readonly path: string;
}

/** Answers what the client is to get instead of the body. */
export type Rewrite = (answer: TappedRequest & { readonly status: number; readonly body: Buffer }) => Buffer;

/** Its address is where clients find the service. */
export interface WireTap extends LoopbackServer {
  readonly requests: readonly TappedRequest[];
  /** Every header and body so far, in both directions. */
  bytes(): Buffer;
  forwardTo(target: string): void;
  /** While `work` runs, answers are rewritten; their digests fit the lie. */
  lying<Result>(rewrite: Rewrite, work: () => Promise<Result>): Promise<Result>;
  /** While `work` runs, the connection breaks before these requests reach the service. */
  cutting<Result>(cut: (request: TappedRequest) => boolean, work: () => Promise<Result>): Promise<Result>;
}

interface State {
  target: string;
  rewrite: Rewrite | null;
  cut: ((request: TappedRequest) => boolean) | null;
  readonly requests: TappedRequest[];
  readonly passed: Buffer[];
}

export async function openWireTap(): Promise<WireTap> {
  const state: State = { target: "", rewrite: null, cut: null, requests: [], passed: [] };
  // Who keeps a connection open is never surprised by its end.
  const server = await listenOnLoopback((incoming, answer) => pass(state, incoming, answer), 0);
  return {
    ...server,
    requests: state.requests,
    bytes: () => Buffer.concat(state.passed),
    forwardTo: (target) => (state.target = target),
    async lying(rewrite, work) {
      state.rewrite = rewrite;
      return work().finally(() => (state.rewrite = null));
    },
    async cutting(cut, work) {
      state.cut = cut;
      return work().finally(() => (state.cut = null));
    },
  };
}

async function pass(state: State, incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
  const request = { method: incoming.method ?? "GET", path: incoming.url ?? "/" };
  const sent = await buffer(incoming);
  state.requests.push(request);
  state.passed.push(Buffer.from(`${request.path} ${JSON.stringify(incoming.headers)}`), sent);
  if (state.cut?.(request) === true) return void answer.destroy();
  const { host } = new URL(state.target);
  const { "accept-encoding": _, ...headers } = incoming.headers;
  const onward = openRequest(new URL(request.path, state.target), {
    method: request.method,
    headers: { ...headers, host },
    agent: false,
  });
  onward.end(sent);
  const [response] = (await once(onward, "response")) as [IncomingMessage];
  const body = await buffer(response);
  const status = response.statusCode ?? 502;
  state.passed.push(Buffer.from(JSON.stringify(response.headers)), body);
  const told = state.rewrite?.({ ...request, status, body }) ?? body;
  answer.writeHead(status, told === body ? response.headers : fitting(response.headers, told)).end(told);
}

/** A service that lies about the bytes lies about their digest. */
function fitting(headers: IncomingMessage["headers"], body: Buffer): IncomingMessage["headers"] {
  const sha256 = createHash("sha256").update(body);
  const digest = sha256.digest();
  return {
    ...headers,
    "content-length": String(body.length),
    ...(headers["repr-digest"] === undefined ? {} : { "repr-digest": `sha-256=:${digest.toString("base64")}:` }),
    ...(headers.etag === undefined ? {} : { etag: `"sha256-${digest.toString("base64url")}"` }),
  };
}
