import type { IncomingHttpHeaders } from "node:http";
import { isLoopbackHost } from "../config.ts";
import { ServiceError } from "../service-error.ts";

/** What a browser says of a request that a page of this site, or the person at the keyboard, has made. */
const OWN_SITE: ReadonlySet<string> = new Set(["same-origin", "same-site", "none"]);

/**
 * Development access asks for no secret, so any web page open on this machine could act as the first user. It could
 * use a cross-site request, another port of this machine, or a name that resolves to loopback (DNS rebinding). Hence a
 * loopback Host, no cross-site Sec-Fetch-Site, and no Origin but the service's own (decisions §7). Origins named for
 * CORS change nothing in this. Throws `development_origin`.
 */
export function authorizeDevelopmentRequest(headers: IncomingHttpHeaders): void {
  const own = URL.parse(`http://${headers.host ?? ""}`);
  const fetchSite = headers["sec-fetch-site"];
  const isOwn =
    own !== null && isLoopbackHost(own.hostname) && (typeof fetchSite !== "string" || OWN_SITE.has(fetchSite));
  if (!isOwn) throw new ServiceError("development_origin");
  refuseForeignOrigin(headers);
}

/** For whatever asks for no secret: the page that sends it is the service's own, by scheme, host and port. Throws `development_origin`. */
export function refuseForeignOrigin({ host, origin }: IncomingHttpHeaders): void {
  // A service in development speaks plain HTTP.
  if (origin !== undefined && origin !== URL.parse(`http://${host ?? ""}`)?.origin)
    throw new ServiceError("development_origin");
}
