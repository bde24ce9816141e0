/** One JSON line per request, made of listed fields only: no URL, no header, no body, no name ever enters it. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { redact } from "./redaction.ts";

export function logRequest(log: Logger, request: FastifyRequest, reply: FastifyReply, now: number): void {
  const { call } = request;
  const status = reply.raw.statusCode;
  log.info({
    event: "request",
    requestId: request.id,
    endpoint: call.endpointId,
    method: request.method,
    status,
    aborted: !reply.raw.writableFinished,
    durationMs: Math.round((now - call.startedAt) * 10) / 10,
    bytesIn: call.bytesIn,
    bytesOut: call.bytesOut,
    accountId: call.principal?.accountId ?? null,
    keyId: call.principal?.keyId ?? null,
    credential: call.principal?.kind ?? null,
    errorCode: call.errorCode,
  });
}

/** A defect or a fault: what happened, with everything that looks like a credential taken out. */
export function logFault(log: Logger, error: unknown, fields: Readonly<Record<string, string | null>>): void {
  log.error({ event: "fault", ...fields, error: renderError(error, 3) });
}

interface RenderedError {
  readonly type: string;
  readonly message: string;
  readonly stack: string;
  readonly cause?: RenderedError;
}

function renderError(error: unknown, depth: number): RenderedError {
  if (!(error instanceof Error)) return { type: typeof error, message: redact(String(error)), stack: "" };
  const rendered = { type: error.name, message: redact(error.message), stack: redact(error.stack ?? "") };
  if (error.cause === undefined || depth === 0) return rendered;
  return { ...rendered, cause: renderError(error.cause, depth - 1) };
}
