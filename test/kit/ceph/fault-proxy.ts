/**
 * Between a driver and its store: passes on what comes, but for the requests that a test chose. A fault happens before the store
 * has seen the request, or after it has carried it out.
 */
import { type IncomingHttpHeaders, type IncomingMessage, request as send, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { Certificate } from "../certificates.ts";
import { listenOnLoopback } from "../loopback.ts";

export type Fault =
  /** An answer in the store's place. `after`: the store has carried the request out all the same. */
  | { readonly kind: "answer"; readonly status: number; readonly body: string; readonly after?: boolean }
  /** The connection is cut: before the store sees anything, once half of the body is there, or instead of the answer. */
  | { readonly kind: "cut"; readonly at: "start" | "half" | "answer" }
  /** The store's answer, with another ETag. */
  | { readonly kind: "wrong etag" }
  /** The answer's body ends early, with its connection. */
  | { readonly kind: "truncated"; readonly bytes: number }
  /** The answer comes so much later. Milliseconds. */
  | { readonly kind: "slow"; readonly wait: number };

export interface AskedOfStore {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Among all requests, from 1. */
  readonly at: number;
}

export interface FaultProxy extends AsyncDisposable {
  readonly endpoint: string;
  readonly asked: readonly AskedOfStore[];
  /** Decides on each request from now on. */
  inject(choose: (asked: AskedOfStore) => Fault | null): void;
}

const ERROR = (code: string): string => `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`;

/** Faults by what operators call them. */
export const FAULTS = {
  "500": { kind: "answer", status: 500, body: ERROR("InternalError") },
  "503": { kind: "answer", status: 503, body: "" },
  SlowDown: { kind: "answer", status: 503, body: ERROR("SlowDown") },
  "500 after it was done": { kind: "answer", status: 500, body: ERROR("InternalError"), after: true },
  "200 with an error": { kind: "answer", status: 200, body: ERROR("InternalError") },
  "200 with an error after it was done": { kind: "answer", status: 200, body: ERROR("InternalError"), after: true },
  "reset at the start": { kind: "cut", at: "start" },
  "reset half-way": { kind: "cut", at: "half" },
  "reset instead of the answer": { kind: "cut", at: "answer" },
  "wrong ETag": { kind: "wrong etag" },
  "truncated answer": { kind: "truncated", bytes: 20 },
} as const satisfies Record<string, Fault>;

/** Over TLS to the driver if it has a certificate. */
export async function openFaultProxy(endpoint: string, certificate: Certificate | null = null): Promise<FaultProxy> {
  const asked: AskedOfStore[] = [];
  let choose: (asked: AskedOfStore) => Fault | null = () => null;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const one = { method: request.method ?? "", path: request.url ?? "", at: asked.length + 1 };
    asked.push(one);
    await carry(endpoint, request, response, choose(one));
  };
  const server = await listenOnLoopback(handle, 0, certificate);
  return {
    endpoint: server.baseUrl,
    asked,
    inject: (other) => void (choose = other),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function carry(
  endpoint: string,
  request: IncomingMessage,
  response: ServerResponse,
  fault: Fault | null,
): Promise<void> {
  if (fault?.kind === "cut" && fault.at === "start") return void request.socket.destroy();
  if (fault?.kind === "answer" && fault.after !== true) {
    for await (const _ of request);
    return void response.writeHead(fault.status).end(fault.body);
  }
  const half = fault?.kind === "cut" && fault.at === "half";
  const answer = await passOn(endpoint, request, half ? Number(request.headers["content-length"] ?? 0) / 2 : null);
  if (answer === null || (fault?.kind === "cut" && fault.at === "answer")) {
    answer?.resume();
    return void request.socket.destroy();
  }
  if (fault?.kind === "answer") {
    for await (const _ of answer);
    return void response.writeHead(fault.status).end(fault.body);
  }
  if (fault?.kind === "slow") await new Promise((resolve) => setTimeout(resolve, fault.wait));
  const headers: IncomingHttpHeaders = { ...answer.headers };
  if (fault?.kind === "wrong etag") headers.etag = '"00000000000000000000000000000000"';
  response.writeHead(answer.statusCode ?? 500, headers);
  if (fault?.kind !== "truncated") return pipeline(answer, response).catch(() => void request.socket.destroy());
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    response.write(chunk.subarray(0, fault.bytes));
    return void setTimeout(() => request.socket.destroy(), 20);
  }
  response.end();
}

/** null: the connection was cut as soon as the store had so many bytes. */
function passOn(endpoint: string, request: IncomingMessage, most: number | null): Promise<IncomingMessage | null> {
  return new Promise((resolve, reject) => {
    const { method, url, headers } = request;
    // The host as it was signed.
    const onward = send(endpoint + String(url), { ...(method === undefined ? {} : { method }), headers }, resolve);
    onward.on("error", (error) => (most === null ? reject(error) : resolve(null)));
    let passed = 0;
    request.on("data", (chunk: Buffer) => {
      passed += chunk.length;
      if (most !== null && passed >= most) onward.destroy();
      else if (!onward.write(chunk)) {
        request.pause();
        onward.once("drain", () => request.resume());
      }
    });
    request.on("end", () => (most === null ? onward.end() : onward.destroy()));
    request.on("error", reject);
  });
}
