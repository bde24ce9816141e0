/** A request for a content over `node:http`, and its answer. */
import type { ClientRequest, IncomingMessage } from "node:http";
import { Readable } from "node:stream";

export interface Exchange {
  readonly answer: IncomingMessage;
  readonly sending: ClientRequest;
}

export interface ContentRequest {
  readonly url: string | URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** How long the head of an answer may take, in milliseconds. Default: as long as `signal` lets it. */
  readonly within?: number;
}

/** Resolves with the head of any answer. */
export async function sendContentRequest({ url, headers, signal, within }: ContentRequest): Promise<Exchange> {
  const { request } = String(url).startsWith("https:") ? await import("node:https") : await import("node:http");
  const sending = request(url, { method: "GET", signal, headers });
  return await new Promise((resolve, reject) => {
    const late = (): void => void sending.destroy(new Error("no answer in time"));
    const timer = within === undefined ? undefined : setTimeout(late, within);
    sending.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    sending.on("response", (answer) => {
      clearTimeout(timer);
      resolve({ answer, sending });
    });
    sending.end();
  });
}

/** What a page may be sent to instead (Fetch §2.2.3). */
const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);

/** The answer for the SDK. Throws for a redirect: a credential must not travel to another origin. */
export function toResponse({ answer, sending }: Exchange): Response {
  if (REDIRECTS.has(answer.statusCode)) {
    sending.destroy();
    throw new Error("unexpected redirect");
  }
  return responseOf({ answer, sending }, headersOf(answer));
}

export function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  return headers;
}

export function responseOf({ answer }: Exchange, headers: Headers): Response {
  const { statusCode: status = 0 } = answer;
  // A response of these has no body (Fetch §2.2.3).
  const isEmpty = status === 204 || status === 205 || status === 304;
  if (isEmpty) answer.resume();
  return new Response(isEmpty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>), { status, headers });
}
