/** Says that a proxy is there which the settings do not name: to the limits all its callers are one address. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "./log.ts";

const FORWARDING = ["x-forwarded-for", "forwarded", "x-real-ip"];
/** Milliseconds. */
const QUIET = 3_600_000;

/** At most one line an hour: anybody can send such headers. */
export function warnOfUnnamedProxies(app: FastifyInstance, log: Log, clock: Pick<Clock, "elapsed">): void {
  let quietUntil = -Infinity;
  app.addHook("onRequest", (request, _reply, done) => {
    const header = FORWARDING.find((name) => request.headers[name] !== undefined);
    if (header !== undefined && !isBelieved(request) && clock.elapsed() >= quietUntil) {
      quietUntil = clock.elapsed() + QUIET;
      const peer = request.raw.socket.remoteAddress ?? "";
      log.events.warn(
        { event: "unnamed-proxy", peer, header },
        `${header} from ${peer} does not count: SERVICE_TRUSTED_PROXIES does not name that address, or it sends no X-Forwarded-For. If it is your proxy, name it, or all its callers share the limits of one address`,
      );
    }
    done();
  });
}

/** The addresses begin with the peer's own, and go on with what it says if it is trusted. */
function isBelieved({ ips = [] }: FastifyRequest): boolean {
  return ips.length > 1;
}
