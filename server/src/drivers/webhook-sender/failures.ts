/** What goes wrong on the way to a receiver, in the words of the port. */
import type { WebhookFailure } from "../../ports/webhook-sender.ts";

/** Has no `code`: undici reconnects for some codes instead of giving up. Names no address and no proxy's password. */
export class SendFailure extends Error {
  readonly failure: WebhookFailure;

  constructor(failure: WebhookFailure, options?: ErrorOptions) {
    super(failure, options);
    this.name = "SendFailure";
    this.failure = failure;
  }
}

/** Failures of a TCP connection that did not open. With several addresses Node reports the first's (AggregateError). */
export function connectFailureOf(error: unknown): WebhookFailure {
  switch (codeOf(error)) {
    case "ETIMEDOUT":
      return "timeout";
    case "ECONNRESET":
    case "EPIPE":
      return "connection reset";
    default:
      // Also unreachable networks and hosts: nobody took the connection.
      return "connection refused";
  }
}

/** Failures of a request that was under way: undici's codes, OpenSSL's, and the system's. */
export function exchangeFailureOf(error: unknown): WebhookFailure {
  if (error instanceof SendFailure) return error.failure;
  const code = codeOf(error);
  if (code === "UND_ERR_SOCKET") return BAD_SOCKET_TALK.has(messageOf(error)) ? "bad response" : "connection reset";
  if (code === "UND_ERR_INVALID_ARG") return "invalid url";
  if (code === "ETIMEDOUT") return "timeout";
  // TLS 1.3 lets a server refuse after the handshake, for example when it wants a certificate of ours.
  if (/^(ERR_SSL_|ERR_TLS_|EPROTO$)/.test(code)) return "tls";
  // The parser's error has no code in this version of undici, only a name.
  const isBadTalk = code.startsWith("UND_ERR_") || (error instanceof Error && error.name === "HTTPParserError");
  return isBadTalk ? "bad response" : "connection reset";
}

/** undici's messages where it closed the connection because of what the receiver said (client-h1.js). */
const BAD_SOCKET_TALK = new Set(["bad response", "bad upgrade"]);

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : "";
  return typeof code === "string" ? code : "";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "";
}
