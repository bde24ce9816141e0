/** Why there is no TLS to the other side. Codes: nodejs.org/api/tls.html, "X509 certificate error codes" */

const OTHER_NAME = "ERR_TLS_CERT_ALTNAME_INVALID";
const UNTRUSTED =
  /^(?:CERT_|CRL_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_(?:GET|VERIFY|DECODE|DECRYPT)_|INVALID_(?:CA|PURPOSE)$|PATH_LENGTH_EXCEEDED$)/;

/** Of pg, for a PostgreSQL with `ssl = off`. It has no code. */
const WITHOUT_TLS = "The server does not support SSL connections";

/** The other side speaks no TLS, and its address asks for it. */
export function isWithoutTls(error: unknown): boolean {
  return error instanceof Error && error.message === WITHOUT_TLS;
}

/** In words for an operator; null: the failure is about something else. */
export function distrustOf(error: unknown): string | null {
  if (isWithoutTls(error)) return "it takes no connections with TLS, and sslmode in its address wants one";
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return null;
  if (error.code === OTHER_NAME) return `its certificate is for another name than its address has (${error.message})`;
  if (!UNTRUSTED.test(error.code)) return null;
  return `no authority that is trusted here vouches for its certificate, or no longer (${error.code})`;
}
