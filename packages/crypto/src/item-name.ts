/**
 * The possible names of a file or folder. The service's rule, checked by the client where the service sees no names
 * (file-format §9).
 */

const MAX_NAME_BYTES = 255;

/** A control character, a path separator, or a lone surrogate (which UTF-8 cannot carry). */
const FORBIDDEN = /[\u0000-\u001f\u007f/\\]|[\ud800-\udfff]/u;

/** Why a text cannot be a name; null when it can. */
export function nameProblem(name: string): string | null {
  if (name.length === 0) return "must not be empty";
  if (name === "." || name === "..") return "must not be . or ..";
  if (FORBIDDEN.test(name)) return "must not contain control characters, / or \\";
  if (name !== name.trim()) return "must not begin or end with white space";
  if (new TextEncoder().encode(name).length > MAX_NAME_BYTES) return `must be at most ${MAX_NAME_BYTES} bytes of UTF-8`;
  return null;
}
