import { isLoopbackHost } from "../../config/loopback.ts";

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

/**
 * Reads `smtps://user:password@host:port` or `smtp://…`. Without TLS there is only a server on this machine. What the
 * address cannot say is refused, rather than taken as an option of some library. No error names any part of it.
 */
export function readSmtpUrl(text: string): SmtpServer {
  const url = URL.parse(text);
  if (url === null || url.hostname === "" || !/^smtps?:$/.test(url.protocol)) throw unreadable();
  if (url.search !== "" || url.hash !== "" || !/^\/?$/.test(url.pathname)) throw unreadable();
  if ((url.username === "") !== (url.password === "")) throw unreadable();
  const secure = url.protocol === "smtps:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const plain = !secure && isLoopbackHost(host);
  return {
    host,
    port: url.port === "" ? (secure ? SUBMISSIONS_PORT : SUBMISSION_PORT) : Number(url.port),
    secure,
    requireTLS: !secure && !plain,
    ignoreTLS: plain,
    auth: url.username === "" ? null : { user: decode(url.username), pass: decode(url.password) },
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw unreadable();
  }
}

function unreadable(): Error {
  return new Error("SERVICE_SMTP_URL: expected smtps://user:password@host:port or smtp://…, percent-encoded");
}
