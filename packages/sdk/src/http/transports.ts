import ky from "ky";

/**
 * The SDK's one port to the network. Resolves with any answer, error statuses included; rejects only when no answer
 * came. It follows `request.signal`, never follows redirects (a credential must not travel to another origin) and
 * never retries.
 */
export interface Transport {
  (request: Request): Promise<Response>;
}

/**
 * The default: ky over `fetch`. `fetch` is looked up at call time, so interceptors installed later are seen. ky's own
 * retry and time limits are off: it would clone request bodies for retries and limit uploads by the clock.
 */
export function kyTransport(
  options: { readonly fetch?: (request: Request, init?: RequestInit) => Promise<Response> } = {},
): Transport {
  const send = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = input instanceof Request ? input : new Request(input);
    // `window: null` together with `redirect: "error"` keeps undici from teeing a streamed body into memory (undici #4058).
    return (options.fetch ?? globalThis.fetch)(request, { ...init, window: null });
  };
  return async (request) => {
    return ky(request, { fetch: send, retry: 0, timeout: false, throwHttpErrors: false, redirect: "error" });
  };
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
        reject(signal.reason instanceof Error ? signal.reason : new DOMException("Aborted", "AbortError"));
      };
      if (signal.aborted) {
        refuse();
        return;
      }
      signal.addEventListener("abort", refuse, { once: true });
      Promise.resolve()
        .then(() => fetchLike(request))
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
  (request: Request, next: Transport, context: AttemptContext): Promise<Response>;
}

/** The transport with the middlewares around it. */
export function throughMiddleware(
  transport: Transport,
  middleware: readonly Middleware[],
  context: AttemptContext,
): Transport {
  return middleware.reduceRight<Transport>((next, layer) => (request) => layer(request, next, context), transport);
}
