import { isLoopbackHost } from "./loopback.ts";

/** Where to hand mails to, and how. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** From the first byte on (`smtps:`, RFC 8314 §3.3). */
  readonly secure: boolean;
  /** STARTTLS or nothing (RFC 3207); a server that does not offer it gets neither password nor mail. */
  readonly requireTLS: boolean;
  /** Only for a server on this machine, named with `smtp:`. */
  readonly ignoreTLS: boolean;
  readonly auth: { readonly user: string; readonly pass: string } | null;
}

/** RFC 8314 §7.3 and RFC 6409 §3.1. */
const SUBMISSIONS_PORT = 465;
const SUBMISSION_PORT = 587;

/** What an address that cannot be read should be. */
export const SMTP_URL_EXPECTED = "smtps://user:password@host:port or smtp://…, percent-encoded and nothing else";

/**
 * Reads `smtps://user:password@host:port` or `smtp://…`. Without TLS there is only a server on this machine. It
 * refuses anything that the address cannot express, so that no text becomes an option of some library. Null for that:
 * it may hold a password and is not to be quoted.
 */
export function readSmtpUrl(text: string): SmtpServer | null {
  const url = URL.parse(text);
  if (url === null || url.hostname === "" || !/^smtps?:$/.test(url.protocol)) return null;
  if (url.search !== "" || url.hash !== "" || !/^\/?$/.test(url.pathname)) return null;
  if ((url.username === "") !== (url.password === "")) return null;
  const [user, pass] = [decode(url.username), decode(url.password)];
  if (user === null || pass === null) return null;
  const secure = url.protocol === "smtps:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const plain = !secure && isLoopbackHost(host);
  return {
    host,
    port: url.port === "" ? (secure ? SUBMISSIONS_PORT : SUBMISSION_PORT) : Number(url.port),
    secure,
    requireTLS: !secure && !plain,
    ignoreTLS: plain,
    auth: user === "" ? null : { user, pass },
  };
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
