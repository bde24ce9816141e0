/** Where a request comes from, and where its sender reached this service. */
import type { FastifyRequest } from "fastify";
import { isLoopbackHost } from "../config.ts";
import type { RequestOrigin } from "./handlers.ts";

const MAX_USER_AGENT = 200;

/** Worked out when it is asked for: most requests never are. */
class Origin implements RequestOrigin {
  readonly #request: FastifyRequest;
  constructor(request: FastifyRequest) {
    this.#request = request;
  }
  get requestId(): string {
    return this.#request.id;
  }
  get address(): string {
    return this.#request.ip.replace(/^::ffff:/, "");
  }
  get userAgent(): string | null {
    return this.#request.headers["user-agent"]?.slice(0, MAX_USER_AGENT) ?? null;
  }
}

export function originOf(request: FastifyRequest): RequestOrigin {
  return new Origin(request);
}

/**
 * The origin that a chain address's signature must name. A Host header that names another machine proves nothing: a
 * service in the middle could send its own, with the signature it was given. A loopback name cannot be another machine's.
 */
export function serviceOriginOf(publicUrl: string | null, host: string | undefined): string | null {
  if (publicUrl !== null) return new URL(publicUrl).origin;
  const url = URL.parse(`http://${host ?? ""}`);
  return url !== null && isLoopbackHost(url.hostname) ? url.origin : null;
}
