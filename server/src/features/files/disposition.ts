/** Content-Disposition of a download (RFC 6266, RFC 8187): always an attachment, whatever the name holds. */

/** Characters that may be unescaped in an extended value (RFC 8187 §3.2.1 attr-char); encodeURIComponent lets more through. */
const NOT_ATTR_CHAR = /[!'()*]/g;

/**
 * `filename` carries an ASCII fallback for old clients, `filename*` the exact name. In the fallback quotes, backslashes,
 * percent signs (which some clients decode, RFC 6266 appendix D) and all beyond printable ASCII become `_`.
 */
export function renderDisposition(name: string): string {
  const fallback = name.replace(/[^\x20-\x7e]|["\\%]/gu, "_");
  const exact = encodeURIComponent(name).replace(
    NOT_ATTR_CHAR,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return fallback === name
    ? `attachment; filename="${name}"`
    : `attachment; filename="${fallback}"; filename*=UTF-8''${exact}`;
}
