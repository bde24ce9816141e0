/**
 * Pages of other origins: which may call and read answers, and the headers for their browsers (fetch.spec.whatwg.org,
 * "CORS protocol").
 */
import type { IncomingHttpHeaders } from "node:http";

export interface CrossOrigin {
  /** For every answer to the request. Empty where no page of another origin may call. */
  headersFor(headers: IncomingHttpHeaders): Readonly<Record<string, string>>;
  /** A browser that asks on a page's behalf whether it may send a request; the answer comes before any endpoint. */
  isPreflight(method: string, headers: IncomingHttpHeaders): boolean;
}

/** The same object for every request: code that writes answers asks whether there is anything to add. */
export const NO_CROSS_ORIGIN_HEADERS: Readonly<Record<string, string>> = {};

/** Seconds that a browser need not ask again; Chromium takes no more. */
const REMEMBERED = 7200;

/** What a browser may send and show. `*` never covers Authorization; with cookies it would cover nothing, and there are none. */
export const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  "Access-Control-Allow-Headers": "Authorization, *",
  "Access-Control-Allow-Methods": "*",
  "Access-Control-Max-Age": String(REMEMBERED),
};

/**
 * `origins` as browsers send them. No answer ever allows credentials. The service takes none that a browser would add
 * by itself, so a page can use only its own key or token.
 */
export function openCrossOrigin(origins: readonly string[]): CrossOrigin {
  const granted = new Map(
    origins.map((origin) => [
      origin,
      { "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": "*", Vary: "Origin" },
    ]),
  );
  // Also to others: a cached answer for one origin must not go to another.
  const refused = origins.length === 0 ? NO_CROSS_ORIGIN_HEADERS : { Vary: "Origin" };
  return {
    headersFor: ({ origin }) => granted.get(origin ?? "") ?? refused,
    isPreflight: (method, { origin, ...headers }) =>
      method === "OPTIONS" && granted.has(origin ?? "") && headers["access-control-request-method"] !== undefined,
  };
}
