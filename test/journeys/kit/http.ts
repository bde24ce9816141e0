/** Plain HTTP for journeys: what any script would send, without the SDK. */
import { recordAnswer, recordRequest } from "../../kit/secret-recorder.ts";
import { once } from "node:events";
import { request as openRequest, type ClientRequest } from "node:http";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** The body parsed as JSON; throws when it is none. */
  json(): unknown;
}

export interface Call {
  readonly method?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object travels as JSON, bytes as they are. */
  readonly body?: Uint8Array | object;
}

/** Many times what any answer takes on a busy machine: one that streams without end fails here. Milliseconds. */
const ANSWER_LIMIT = 120_000;

/** One request with fetch. */
export async function send(baseUrl: string, path: string, call: Call = {}): Promise<Answer> {
  if (call.body !== undefined && !(call.body instanceof Uint8Array)) recordRequest(JSON.stringify(call.body));
  const response = await fetch(new URL(path, baseUrl), {
    method: call.method ?? "GET",
    headers: headersOf(call),
    signal: AbortSignal.timeout(ANSWER_LIMIT),
    ...(call.body === undefined ? {} : { body: bodyOf(call.body) }),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (response.headers.get("content-type")?.startsWith("application/json") === true) {
    recordAnswer(new TextDecoder().decode(bytes));
  }
  const json = (): unknown => JSON.parse(new TextDecoder().decode(bytes));
  return { status: response.status, headers: response.headers, bytes, json };
}

function headersOf({ key, headers, body }: Call): Headers {
  const all = new Headers(headers);
  if (key !== undefined) all.set("authorization", `Bearer ${key}`);
  if (body !== undefined && !all.has("content-type")) {
    all.set("content-type", body instanceof Uint8Array ? "application/octet-stream" : "application/json");
  }
  return all;
}

function bodyOf(body: Uint8Array | object): Uint8Array<ArrayBuffer> | string {
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}

/** An upload that is sent piece by piece, so that things can happen while it is in flight. */
export interface SlowUpload {
  /** Sends `count` pieces, or fewer when the server answers or hangs up before. */
  sendPieces(count: number): Promise<void>;
  /** The status, or the error code of a connection that ended without an answer. */
  readonly outcome: Promise<{ readonly status: number; readonly body: string } | { readonly broken: string }>;
}

/** Opens a request to `path` with a declared length of `pieces` × `piece.length` bytes. */
export function openUpload(baseUrl: string, path: string, key: string, piece: Uint8Array, pieces: number): SlowUpload {
  const request = openRequest(new URL(path, baseUrl), {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/octet-stream",
      "content-length": String(piece.length * pieces),
    },
  });
  let over = false;
  const outcome = outcomeOf(request).finally(() => (over = true));
  return {
    outcome,
    async sendPieces(count) {
      for (let sent = 0; sent < count && !over; sent += 1) {
        if (!request.write(piece)) await Promise.race([once(request, "drain").catch(() => null), outcome]);
      }
    },
  };
}

function outcomeOf(request: ClientRequest): SlowUpload["outcome"] {
  return new Promise((resolve) => {
    request.on("response", (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => (body += text));
      response.on("close", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    request.on("error", (error: NodeJS.ErrnoException) => resolve({ broken: error.code ?? error.message }));
  });
}
