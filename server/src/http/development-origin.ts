import type { IncomingHttpHeaders } from "node:http";
import { isLoopbackHost } from "../config.ts";
import { ServiceError } from "../service-error.ts";

/** What a browser says of a request that a page of this site, or the person at the keyboard, has made. */
const OWN_SITE: ReadonlySet<string> = new Set(["same-origin", "same-site", "none"]);

/**
 * Development access asks for no secret, so any web page open on this machine could act as the first user. It could
 * use a cross-site request, or a name that resolves to loopback (DNS rebinding). Hence a loopback Host and no
 * cross-site Origin or Sec-Fetch-Site (decisions §7). Throws `development_origin`.
 */
export function authorizeDevelopmentRequest(headers: IncomingHttpHeaders): void {
  const host = hostnameOf(`http://${headers.host ?? ""}`);
  const fetchSite = headers["sec-fetch-site"];
  const { origin } = headers;
  const isOwn =
    host !== null &&
    isLoopbackHost(host) &&
    (typeof fetchSite !== "string" || OWN_SITE.has(fetchSite)) &&
    (origin === undefined || hostnameOf(origin) === host);
  if (!isOwn) throw new ServiceError("development_origin");
}

function hostnameOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname : null;
}
