import { HEADERS } from "@coffer/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ServiceError } from "./errors.ts";

/**
 * What every answer carries. Nothing here is a page: no answer may be framed, sniffed, cached or read by another site.
 * By hand because a header library was measured at twice the cost of the whole route.
 */
const SECURITY_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const VERSION = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;

/** The caller's request id when it is a UUID, else null. */
export function requestIdOf(header: string | string[] | undefined): string | null {
  return typeof header === "string" && UUID.test(header) ? header.toLowerCase() : null;
}

export function setStandardHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(SECURITY_HEADERS);
  reply.header(HEADERS.requestId, request.id);
}

/** Echoes `API-Version: YYYY-MM-DD`, or throws 400 for another form (decisions §1). */
export function negotiateVersion(request: FastifyRequest, reply: FastifyReply): void {
  const version = request.headers["api-version"];
  if (version === undefined) return;
  if (typeof version !== "string" || !VERSION.test(version)) {
    throw new ServiceError("validation_failed", "headers.api-version: expected YYYY-MM-DD");
  }
  reply.header(HEADERS.apiVersion, version);
}
