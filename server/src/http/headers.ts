/** The headers that every answer carries. */
import { type Deprecation, HEADERS } from "@coffer/contract";
import { ServiceError } from "../service-error.ts";

/**
 * Nothing here is a page: no answer may be framed, sniffed, cached or read by another site. By hand because a header
 * library was measured at twice the cost of the whole route.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const VERSION = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;

/** The caller's request id when it is a UUID, else null. */
export function requestIdOf(header: string | string[] | undefined): string | null {
  return typeof header === "string" && UUID.test(header) ? header.toLowerCase() : null;
}

/** Throws 400 for an `API-Version` that is not a date (decisions §1). */
export function requireVersionForm(version: string | string[] | undefined): void {
  if (version === undefined || versionToEcho(version) !== null) return;
  throw new ServiceError("validation_failed", "headers.api-version: expected YYYY-MM-DD");
}

/** The version to send back; null when none was asked for in a valid form. */
export function versionToEcho(version: string | string[] | undefined): string | null {
  return typeof version === "string" && VERSION.test(version) ? version : null;
}

/** What RFC 9745 and RFC 8594 make of an operation that will go. */
export function deprecationHeadersOf({ since, sunset, page }: Deprecation): Record<string, string> {
  return {
    Deprecation: `@${String(Date.parse(since) / 1_000)}`,
    Sunset: new Date(sunset).toUTCString(),
    ...(page === undefined ? {} : { Link: `<${page}>; rel="deprecation"; type="text/html"` }),
  };
}

/** The same for every request: its id and, when asked for, the version. */
export function requestHeadersOf(id: string, version: string | string[] | undefined): Record<string, string> {
  const echo = versionToEcho(version);
  return echo === null ? { [HEADERS.requestId]: id } : { [HEADERS.requestId]: id, [HEADERS.apiVersion]: echo };
}
