/** Contents of files over `node:http`. */
import { kyTransport, type Transport } from "../transports.ts";
import { giveBack } from "./answer-body.ts";
import { parseContentOrigins } from "./content-origins.ts";
import { exchange, received } from "./content-request.ts";
import { redirectedTo } from "./redirected-content.ts";

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
 * A transport for programs that move large files. Contents of files come over `node:http`, in large pieces and with less work than over
 * `fetch`; everything else goes as with `kyTransport()`. What replaces the dispatcher of `fetch` does not see contents; the proxy that
 * `NODE_USE_ENV_PROXY` asks for does.
 *
 * @throws SdkError `configuration` for a content origin that cannot be used.
 * @example
 * ```ts
 * const client = createClient({ baseUrl, credentials, transport: nodeTransport() });
 * ```
 */
export function nodeTransport(options: NodeTransportOptions = {}): Transport {
  const others = kyTransport();
  const origins = parseContentOrigins(options.contentOrigins ?? []);
  const contents = origins.length === 0 ? receive : redirectedTo(origins, receive);
  const send = (request: Request): Promise<Response> =>
    (request.method === "GET" && CONTENT.test(new URL(request.url).pathname) ? contents : others)(request);
  return Object.assign(send, { free: giveBack });
}

async function receive({ headers, signal, url }: Request): Promise<Response> {
  return received(await exchange({ url, signal, headers: Object.fromEntries(headers) }));
}
