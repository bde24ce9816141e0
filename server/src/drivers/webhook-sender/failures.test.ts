import { errors } from "undici";
import { describe, expect, it } from "vitest";
import { connectFailureOf, exchangeFailureOf, SendFailure } from "./failures.ts";

const withCode = (code: string, message = "words") => Object.assign(new Error(message), { code });

describe("failures", () => {
  it.each([
    ["ECONNREFUSED", "connection refused"],
    ["EHOSTUNREACH", "connection refused"],
    ["ENETUNREACH", "connection refused"],
    ["EADDRNOTAVAIL", "connection refused"],
    ["ECONNRESET", "connection reset"],
    ["ETIMEDOUT", "timeout"],
  ])("of a connection with %s is `%s`", (code, expected) => expect(connectFailureOf(withCode(code))).toBe(expected));

  it.each([
    [new SendFailure("blocked address"), "blocked address"],
    [withCode("ECONNRESET"), "connection reset"],
    [withCode("EPIPE"), "connection reset"],
    [withCode("ETIMEDOUT"), "timeout"],
    // A server that wanted a certificate of ours, which TLS 1.3 says after the handshake.
    [withCode("ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED"), "tls"],
    [withCode("EPROTO"), "tls"],
    [new errors.SocketError("other side closed"), "connection reset"],
    [new errors.SocketError("bad response"), "bad response"],
    [new errors.SocketError("bad upgrade"), "bad response"],
    [new errors.HeadersOverflowError(), "bad response"],
    [new errors.ResponseContentLengthMismatchError(), "bad response"],
    [new errors.HTTPParserError("Response does not match the HTTP/1.1 protocol"), "bad response"],
    [new errors.InvalidArgumentError("invalid request path"), "invalid url"],
    [new Error("of no kind"), "connection reset"],
    ["not even an error", "connection reset"],
  ])("of an exchange with %s is `%s`", (error, expected) => expect(exchangeFailureOf(error)).toBe(expected));

  it("carry no code of their own, for which undici would connect again", () => {
    expect(new SendFailure("dns", { cause: withCode("UND_ERR_SOCKET") })).not.toHaveProperty("code");
  });
});
