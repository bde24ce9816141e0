/** Where a request comes from, and where its sender reached this service. */
import { isIP } from "node:net";
import type { FastifyRequest } from "fastify";
import { isLoopbackHost } from "../config.ts";
import type { RequestOrigin } from "../handler.ts";

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
    return addressOf(this.#request);
  }
  get userAgent(): string | null {
    return this.#request.headers["user-agent"]?.slice(0, MAX_USER_AGENT) ?? null;
  }
}

/** The client's network address, past trusted proxies only (SERVICE_TRUSTED_PROXIES). Always an address. */
export function addressOf(request: FastifyRequest): string {
  const given = withoutPort(request.ip);
  // A proxy that passes on text that is no address counts for its clients: nobody may choose words for limits and
  // records.
  const address = isIP(given) === 0 ? (request.raw.socket.remoteAddress ?? "") : given;
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

/** Some proxies add the port of the client: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(address: string): string {
  return (
    /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/
      .exec(address)
      ?.slice(1)
      .find((part) => part !== undefined) ?? address
  );
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
