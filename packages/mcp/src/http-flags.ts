/** The flags of `--http`. */
import type { HttpLaunch } from "./launch.ts";

export interface HttpFlags {
  readonly listen: string | undefined;
  readonly publicUrl: string | undefined;
  readonly origins: readonly string[];
  /** Local folders were named too. */
  readonly usesFiles: boolean;
}

const LISTEN = /^(?:(?<host>\[[0-9a-f:]+\]|[\w.-]+):)?(?<port>\d{1,5})$/i;
const MOST_PORT = 65_535;

/** null: no HTTP. A text: what is wrong. */
export function parseHttp({ listen, publicUrl, origins, usesFiles }: HttpFlags): HttpLaunch | string | null {
  if (listen === undefined)
    return publicUrl === undefined && origins.length === 0 ? null : "--public-url and --allow-origin need --http";
  const { host: namedHost, port = "" } = LISTEN.exec(listen)?.groups ?? {};
  if (port === "" || Number(port) > MOST_PORT) return "--http needs a port, or HOST:PORT";
  if (usesFiles)
    return "--http serves many keys, so it takes no --allow, --downloads, --roots and --allow-config-files";
  const host = (namedHost ?? "127.0.0.1").replace(/^\[|\]$/g, "");
  if (publicUrl === undefined && !isLoopback(host))
    return "--http on an address that others reach needs --public-url, the https address that clients use";
  if (publicUrl !== undefined && !isAddress(publicUrl, ["https:", "http:"]))
    return "--public-url must be an absolute address, such as https://files.example.com/mcp";
  const strange = origins.find((origin) => !isAddress(origin, ["https:", "http:"]));
  if (strange !== undefined)
    return `--allow-origin ${JSON.stringify(strange)} is not an origin like https://app.example.com`;
  return { host, port: Number(port), publicUrl: publicUrl ?? null, allowedOrigins: origins };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function isAddress(text: string, schemes: readonly string[]): boolean {
  return URL.canParse(text) && schemes.includes(new URL(text).protocol);
}
