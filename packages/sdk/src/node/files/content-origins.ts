/** The origins at which contents may be asked for. */
import { configurationError } from "../../http/errors.ts";

/** What the header with all of them may have. */
const LONGEST = 2048;
/** No label is empty, and none is a pattern: that would match nothing, and whoever wrote it meant it to match. */
const HOST = /^[^.*]+(\.[^.*]+)*\.?$/;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Throws `configuration` for what is no origin of https, or of http on this machine. The text may hold a secret, so no message repeats it. */
export function parseContentOrigins(texts: readonly string[]): string[] {
  if (!Array.isArray(texts)) throw configurationError("contentOrigins: expected a list of origins");
  const origins = texts.map((text, at) => {
    const origin = originIn(text);
    if (origin !== null) return origin;
    const place = `contentOrigins, item ${String(at + 1)}`;
    throw configurationError(`${place}: expected an origin such as https://s3.example.com, or http on this machine`);
  });
  if (origins.join(" ").length > LONGEST) throw configurationError("contentOrigins: the list is too long");
  return [...new Set(origins)];
}

function originIn(text: unknown): string | null {
  const url = typeof text === "string" ? URL.parse(text) : null;
  if (url === null || String(text).toLowerCase().replace(/\/$/, "") !== url.origin) return null;
  if (!HOST.test(url.hostname)) return null;
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname)) ? url.origin : null;
}
