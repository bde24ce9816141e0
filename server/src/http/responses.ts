/** Answers on their way out: text straight to the connection, failures in their one form. */
import { HEADERS, TUS_VERSION } from "@coffer/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import { headersOf } from "../limits/limits.ts";
import { NO_CROSS_ORIGIN_HEADERS } from "./cross-origin.ts";
import { describeFailure, JSON_TYPE, renderFailureBody } from "./failures.ts";
import { requestHeadersOf, SECURITY_HEADERS } from "./headers.ts";
import { endTogether } from "./leaving.ts";
import { JSON_HEADERS, type RenderedAnswer } from "./output.ts";
import { discardUnreadBody } from "./unread-bodies.ts";

/** What an answer sets wins over what every answer carries. */
export function allHeadersOf(
  request: FastifyRequest,
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  const all: Record<string, string> = {};
  const place = new Map<string, string>();
  const { quota, moreHeaders } = request.call;
  const own = requestHeadersOf(request.id, request.headers["api-version"]);
  const limit = quota === null ? NO_HEADERS : headersOf(quota);
  for (const part of [SECURITY_HEADERS, moreHeaders, own, limit, headers]) {
    for (const [name, value] of Object.entries(part)) {
      const known = place.get(name.toLowerCase()) ?? name;
      place.set(name.toLowerCase(), known);
      all[known] = value;
    }
  }
  return all;
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

const FIXED_JSON_HEADERS = Object.entries({ ...SECURITY_HEADERS, ...JSON_HEADERS }).flat();

/** JSON text or no body. The common case is one flat list of headers, written at once. */
export function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, body }: RenderedAnswer,
): void {
  const { raw } = reply;
  discardUnreadBody(request.raw);
  reply.hijack();
  if (typeof body !== "string") {
    raw.writeHead(status, { ...framingOf(request.method, status), ...allHeadersOf(request, headers) }).end();
    return;
  }
  const length = Buffer.byteLength(body);
  const { quota, moreHeaders } = request.call;
  request.call.bytesOut += length;
  const isPlain = request.headers["api-version"] === undefined && moreHeaders === NO_CROSS_ORIGIN_HEADERS;
  if (headers === JSON_HEADERS && isPlain) {
    const own = [HEADERS.requestId, request.id, "Content-Length", String(length)];
    if (quota !== null) own.push("RateLimit-Policy", quota.policy, "RateLimit", quota.state);
    raw.writeHead(status, FIXED_JSON_HEADERS.concat(own));
  } else {
    raw.writeHead(status, { ...allHeadersOf(request, headers), "Content-Length": String(length) });
  }
  // Text of one byte per character is ASCII, which latin1 writes without looking at it again.
  endTogether(raw, body, length === body.length ? "latin1" : "utf8");
}

/** Announces that nothing follows; otherwise a client would expect chunks (RFC 9110 §8.6). */
function framingOf(method: string, status: number): Record<string, string> {
  return method === "HEAD" || status === 204 || status === 304 ? {} : { "Content-Length": "0" };
}

/** tus 1.0.0 wants its version on every answer of its resources, those given before a handler ran too. */
function protocolOf(endpointId: string | null): Record<string, string> {
  return endpointId?.startsWith("uploads.") === true ? { "Tus-Resumable": TUS_VERSION } : {};
}

/** Every failure of every kind, in the one form of specification §7. */
export function answerFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const failure = describeFailure(error);
  request.call.errorCode = failure.code;
  if (failure.unexpected) request.server.recordFault(error, request);
  if (reply.raw.headersSent || reply.raw.destroyed) {
    // The answer had begun: it must not look whole.
    reply.hijack();
    reply.raw.destroy();
    return;
  }
  const headers = {
    ...protocolOf(request.call.endpointId),
    ...failure.headers,
    "Content-Type": JSON_TYPE,
    [HEADERS.errorCode]: failure.code,
  };
  sendText(request, reply, { status: failure.status, headers, body: renderFailureBody(failure) });
}
