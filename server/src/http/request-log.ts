/** One JSON line per request, made of listed fields only: no URL, no header, no body, no name ever enters it. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "./log.ts";

/**
 * The line is put together by hand: a general logger was measured at as much CPU as the rest of the route. Everything
 * in it is a number, a UUID, or a word of the contract or of the HTTP parser, so nothing needs escaping.
 */
export function logRequest(log: Log, request: FastifyRequest, reply: FastifyReply, elapsed: number): void {
  if (!log.requests.enabled) return;
  const { call } = request;
  const { principal } = call;
  const caller =
    principal === null
      ? `"accountId":null,"keyId":null,"credential":null`
      : `"accountId":"${principal.accountId}","keyId":${quote(principal.keyId)},"credential":"${principal.kind}"`;
  log.requests.write(
    `{"level":30,"time":${Date.now()},"event":"request","requestId":"${request.id}","endpoint":${quote(call.endpointId)},` +
      `"method":"${request.method}","status":${reply.raw.statusCode},"aborted":${!reply.raw.writableFinished},` +
      `"durationMs":${elapsed.toFixed(1)},"bytesIn":${call.bytesIn},"bytesOut":${call.bytesOut},${caller},` +
      `"errorCode":${quote(call.errorCode)}}\n`,
  );
}

function quote(word: string | null): string {
  return word === null ? "null" : `"${word}"`;
}
