import { isError } from "@coffer/contract";
import ky from "ky";
import { redirectMode } from "./runtime.ts";

/**
 * What goes out. It is what `fetch` takes as its options, so `fetch(request.url, request)` sends it, and a `Request` is
 * one. No `Request` is built before the transport, because some runtimes have none, or one that the caller's `fetch`
 * does not accept: {@link toRequest} builds it where it is wanted.
 */
export interface TransportRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  /** A stream can be read once. */
  readonly body: BodyInit | null;
  readonly signal: AbortSignal;
  /** `error`, or `manual` where the runtime knows no `error`, and in browsers. Never `follow`. */
  readonly redirect: RequestRedirect;
  /** Set for a stream, as `fetch` wants it. */
  readonly duplex?: "half";
}

/**
 * The SDK's one port to the network. Resolves with any answer, error statuses included; rejects only when no answer
 * came. It follows `request.signal`, never follows redirects (a credential must not travel to another origin) and
 * never retries.
 */
export interface Transport {
  (request: TransportRequest): Promise<Response>;
}

/** The same request as the runtime's `Request`. It takes over a body that is a stream: pass it on in place of the other. */
export function toRequest(request: TransportRequest): Request {
  return request instanceof Request ? request : new Request(request.url, request);
}

/**
 * The default: ky over the runtime's `fetch`, which is looked up at call time, so that interceptors installed later are
 * seen. ky's own retry and time limits are off: it would clone request bodies for retries and limit uploads by the
 * clock. A `fetch` of the caller's is called as `fetch(url, init)`, without ky.
 */
export function kyTransport(
  options: { readonly fetch?: (url: string, init: RequestInit) => Promise<Response> } = {},
): Transport {
  const { fetch: ofCaller } = options;
  if (ofCaller !== undefined) return (request) => ofCaller(request.url, initOf(request));
  // `window: null` together with `redirect: "error"` keeps undici from teeing a streamed body into memory (undici #4058).
  const send = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
    globalThis.fetch(input, { ...init, window: null });
  return async (request) =>
    ky(request.url, { ...initOf(request), fetch: send, retry: 0, timeout: false, throwHttpErrors: false });
}

/** The fields by name: those of a `Request` are getters, which a spread would lose. A `Request` may say `follow`. */
function initOf({ method, headers, body, signal, duplex }: TransportRequest): RequestInit {
  return { method, headers, body, signal, redirect: redirectMode(), ...(duplex === undefined ? {} : { duplex }) };
}

/**
 * Calls a server inside this process: any function from `Request` to `Response`, such as a fetch-like handler.
 * The promise rejects as soon as the request's signal aborts, also when the server does not look at it.
 */
export function inProcessTransport(fetchLike: (request: Request) => Response | Promise<Response>): Transport {
  return (request) =>
    new Promise((resolve, reject) => {
      const { signal } = request;
      const refuse = (): void => {
        reject(isError(signal.reason) ? signal.reason : new DOMException("Aborted", "AbortError"));
      };
      if (signal.aborted) {
        refuse();
        return;
      }
      signal.addEventListener("abort", refuse, { once: true });
      Promise.resolve()
        .then(() => fetchLike(toRequest(request)))
        .finally(() => {
          signal.removeEventListener("abort", refuse);
        })
        .then(resolve, reject);
    });
}

/** What a middleware learns about the call besides the request. */
export interface AttemptContext {
  readonly endpointId: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** Runs once per attempt, outermost first. It may replace the request or the response. */
export interface Middleware {
  (request: TransportRequest, next: Transport, context: AttemptContext): Promise<Response>;
}

/** The transport with the middlewares around it. */
export function throughMiddleware(
  transport: Transport,
  middleware: readonly Middleware[],
  context: AttemptContext,
): Transport {
  return middleware.reduceRight<Transport>((next, layer) => (request) => layer(request, next, context), transport);
}
