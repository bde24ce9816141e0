/** The transport of programs on Node. */
import { kyTransport, type Transport } from "../http/transports.ts";
import { parseContentOrigins } from "./files/content-origins.ts";
import { redirectedTo } from "./files/redirected-content.ts";

const CONTENT = /\/api\/files\/[^/]+\/content$/;

/** Options of {@link nodeTransport}. */
export interface NodeTransportOptions {
  /**
   * Origins of stores, such as `https://s3.example.com`. The service may send downloads of public vaults to these, and to nothing else. They are
   * https, or http on this machine. The store gets no credential. What it does not give comes from the service. Default: none.
   */
  readonly contentOrigins?: readonly string[] | undefined;
}

/**
 * A transport that lets the service send downloads to the stores that you name. Contents of files come over `node:http` then: what replaces the
 * dispatcher of `fetch` does not see them, and the proxy that `NODE_USE_ENV_PROXY` asks for does. Everything else, and all of it without
 * `contentOrigins`, goes as with `kyTransport()`.
 *
 * @throws SdkError `configuration` for a content origin that cannot be used.
 * @example
 * ```ts
 * const client = createClient({ baseUrl, credentials, transport: nodeTransport({ contentOrigins: ["https://s3.example.com"] }) });
 * ```
 */
export function nodeTransport(options: NodeTransportOptions = {}): Transport {
  const service = kyTransport();
  const origins = parseContentOrigins(options.contentOrigins ?? []);
  if (origins.length === 0) return service;
  const contents = redirectedTo(origins, service);
  return (request) =>
    (request.method === "GET" && CONTENT.test(new URL(request.url).pathname) ? contents : service)(request);
}
