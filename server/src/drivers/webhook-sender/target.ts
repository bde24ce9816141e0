/** A webhook's address, read the way it will be called. */
import { MAX_WEBHOOK_URL } from "@coffer/contract";
import { isIP } from "node:net";
import type { WebhookFailure } from "../../ports/webhook-sender.ts";
import type { IsAllowed } from "./addresses.ts";

export interface Target {
  /** `https://receiver.example:8443`: connections are kept by it. */
  readonly origin: string;
  /** With the query; a fragment is not sent (RFC 9110 §7.1). */
  readonly path: string;
  readonly secure: boolean;
  /** A name as it is asked for, or an address without brackets. */
  readonly hostname: string;
  readonly port: number;
}

export interface TargetRules {
  readonly allowHttp: boolean;
  readonly isAllowed: IsAllowed;
}

/** Tabs, line breaks and backslashes are skipped or turned by one reader (WHATWG URL) and not by the next (RFC 3986). */
const READ_DIFFERENTLY = /[\s\\\p{Cc}]/u;

/**
 * What `url` names, or why it cannot be called. `invalid url`: it is too long, not https (nor http where that is
 * allowed), holds credentials (RFC 3986 §3.2.1) or port 0. `blocked address`: its host is an address, in whatever
 * notation, or a name of this machine that webhooks may not reach. Any other port is as good as 443.
 */
export function readTarget(url: string, { allowHttp, isAllowed }: TargetRules): Target | WebhookFailure {
  if (url.length > MAX_WEBHOOK_URL || READ_DIFFERENTLY.test(url)) return "invalid url";
  const read = URL.parse(url);
  if (read === null || read.username !== "" || read.password !== "") return "invalid url";
  const secure = read.protocol === "https:";
  if (!secure && !(allowHttp && read.protocol === "http:")) return "invalid url";
  const port = read.port === "" ? (secure ? 443 : 80) : Number(read.port);
  if (port === 0) return "invalid url";
  const hostname = read.hostname.replace(/^\[|\]$/g, "");
  const known = knownAddresses(hostname);
  if (known !== null && !known.some(isAllowed)) return "blocked address";
  return { origin: read.origin, path: read.pathname + read.search, secure, hostname, port };
}

/**
 * The addresses of a host that need no look-up. An address has its own; `localhost` and the names below it have this
 * machine's (RFC 6761 §6.3). The URL parser has brought every notation of IPv4 to four decimal numbers.
 */
export function knownAddresses(hostname: string): readonly string[] | null {
  if (isIP(hostname) !== 0) return [hostname];
  return /(^|\.)localhost\.?$/.test(hostname) ? ["127.0.0.1", "::1"] : null;
}
