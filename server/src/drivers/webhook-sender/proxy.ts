/** The way out through an HTTP proxy: a tunnel for http and https alike (RFC 9110 §9.3.6). */
import { request } from "node:http";
import { isIPv6, type Socket } from "node:net";
import { createSecureContext, type SecureContext } from "node:tls";
import { SendFailure } from "./failures.ts";
import type { Target } from "./target.ts";

export interface Proxy {
  readonly hostname: string;
  readonly port: number;
  /** The proxy itself speaks TLS. */
  readonly secure: boolean;
  readonly secureContext: SecureContext;
  /** `Proxy-Authorization`; null: the proxy asks for none. In no error and no log. */
  readonly authorization: string | null;
}

/** Throws, without repeating the URL, when it is not an http or https address. */
export function readProxy(url: string, secureContext = createSecureContext()): Proxy {
  const read = URL.parse(url);
  if (read === null || !/^https?:$/.test(read.protocol))
    throw new Error("The webhook proxy's URL is not http or https");
  const secure = read.protocol === "https:";
  const port = read.port === "" ? (secure ? 443 : 80) : Number(read.port);
  const [user, password] = [decode(read.username), decode(read.password)];
  // RFC 7617 §2.
  const basic = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const authorization = user === "" && password === "" ? null : basic;
  return { hostname: read.hostname.replace(/^\[|\]$/g, ""), port, secure, secureContext, authorization };
}

/** Makes `socket`, which is connected to the proxy, a connection to the target. Rejects unless the proxy says 2xx. */
export async function openTunnel(socket: Socket, target: Target, proxy: Proxy, signal: AbortSignal): Promise<Socket> {
  const authority = `${isIPv6(target.hostname) ? `[${target.hostname}]` : target.hostname}:${target.port}`;
  const headers: Record<string, string> = { host: authority };
  if (proxy.authorization !== null) headers["proxy-authorization"] = proxy.authorization;
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const asking = request({ method: "CONNECT", path: authority, headers, createConnection: () => socket, signal });
  asking.once("connect", ({ statusCode = 0 }, _socket, head) => {
    // Neither TLS nor HTTP lets a receiver speak first: bytes behind the proxy's answer are nobody's.
    if (statusCode >= 200 && statusCode <= 299 && head.length === 0) resolve(socket);
    else reject(new SendFailure("proxy"));
  });
  // Stays: an error without a listener would end the process.
  asking.on("error", () => reject(new SendFailure("proxy")));
  asking.end();
  return await promise;
}

/** A literal percent sign stays as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
