/** What a receiver's answer says, made safe to keep and to show. */
/** Bytes of an answer's body that are read. */
export const MAX_BODY = 16 * 1024;

const DAY = 24 * 60 * 60 * 1000;
/** Statuses whose `Retry-After` counts: the receiver or something before it is overloaded (RFC 9110 §10.2.3, RFC 6585 §4). */
const OVERLOADED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** The only one of the three forms in RFC 9110 §5.6.7 that may be sent. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
/** Everything that moves a terminal's cursor, and what reorders the text around it (Unicode TR 36 §3.2). */
const CONTROLS = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu;

/** Milliseconds that the receiver asks to wait, from `now`: 0 to 24 hours; null when it does not ask. */
export function retryAfterOf(status: number, header: string | string[] | undefined, now: number): number | null {
  if (!OVERLOADED.has(status) || typeof header !== "string") return null;
  const text = header.trim();
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : HTTP_DATE.test(text) ? Date.parse(text) - now : Number.NaN;
  return Number.isNaN(wait) ? null : Math.min(Math.max(wait, 0), DAY);
}

/**
 * The body as text of at most 16,384 UTF-16 units: UTF-8, and U+FFFD for other bytes. It has no control characters but
 * line feed and tab, so that a log, a terminal and a page can show it as it is. `whole`: nothing was cut off behind
 * it.
 */
export function textOf(body: Uint8Array, whole: boolean): string {
  if (body.length === 0) return "";
  // A character whose other half was cut off is not the receiver's mistake.
  return new TextDecoder().decode(body, { stream: !whole }).replaceAll(CONTROLS, "");
}
