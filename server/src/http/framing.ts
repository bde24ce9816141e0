/** What the parser of `node:http` lets pass and RFC 9112 does not: read otherwise by a proxy, it smuggles requests. */
import type { IncomingMessage } from "node:http";

/** Why a request is not valid HTTP/1.1 or HTTP/1.0; null when it is. */
export function framingProblem({ httpVersion, headers, rawHeaders, url = "" }: IncomingMessage): string | null {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return "The request line needs HTTP/1.1 or HTTP/1.0";
  // RFC 9112 §3.2: HTTP/1.1 has one Host line. Node keeps the first of several.
  const hosts = countHosts(rawHeaders);
  if (hosts === 0 && httpVersion === "1.1") return "The Host header is missing";
  if (hosts > 1) return "The Host header is there more than once";
  const coding = headers["transfer-encoding"];
  // RFC 9112 §6.1: the server undoes no coding but chunked, and HTTP/1.0 has none.
  if (coding !== undefined && (coding.trim().toLowerCase() !== "chunked" || httpVersion === "1.0"))
    return "Transfer-Encoding: only chunked is supported, and only with HTTP/1.1";
  return isTarget(url) ? null : "The request target is not UTF-8 in percent-encoding";
}

function countHosts(lines: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < lines.length; at += 2) {
    const name = lines[at];
    if (name?.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

/** RFC 3986 §2. Without it an undecodable text would stay as it is, `%ff` in a query as a name of three characters. */
function isTarget(target: string): boolean {
  if (!/^[\x21-\x7e]*$/.test(target)) return false;
  return isPercentEncoded(target);
}

/** Whether every `%` of the text begins UTF-8 in percent-encoding. */
export function isPercentEncoded(text: string): boolean {
  if (!text.includes("%")) return true;
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
