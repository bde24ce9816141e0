/** What some endpoints check before they look at caller or body. */
import { hash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { isLoopbackHost, type Settings } from "../config.ts";
import { ServiceError } from "../service-error.ts";
import { refuseForeignOrigin } from "./development-origin.ts";
import type { Guard } from "./implement.ts";

/** Guards by endpoint id. */
export function createGuards(settings: Pick<Settings, "mode" | "metricsToken">): Readonly<Record<string, Guard>> {
  return {
    /** Outside development the endpoint does not exist, whatever the body holds (decisions §7). */
    "development.signup": ({ headers }) => {
      if (settings.mode !== "development") throw new ServiceError("not_found");
      refuseForeignOrigin(headers);
    },
    /** To everyone else it does not exist either. */
    "system.metrics": (request) => {
      if (!mayReadMetrics(request, settings.metricsToken)) throw new ServiceError("not_found");
    },
  };
}

function mayReadMetrics(request: FastifyRequest, token: string | null): boolean {
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
  if (token !== null && bearer !== undefined && isSame(bearer, token)) return true;
  return isLoopbackHost((request.raw.socket.remoteAddress ?? "").replace(/^::ffff:/, "")) && !isForwarded(request);
}

const FORWARDING = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"];

/** A proxy on this machine makes every caller look like loopback, trusted or not. */
function isForwarded({ headers }: FastifyRequest): boolean {
  return FORWARDING.some((name) => headers[name] !== undefined);
}

/** Compares digests, so that neither content nor length shows in the time it takes. */
function isSame(left: string, right: string): boolean {
  return timingSafeEqual(hash("sha256", left, "buffer"), hash("sha256", right, "buffer"));
}
