/**
 * Contents that come from the store itself (decision 0129). The address in a redirect is a credential, so nothing here shows it. The service
 * chooses it, so it may lead to a named origin and to nothing else.
 */
import type { IncomingMessage } from "node:http";
import { CONTENT_ORIGINS_HEADER } from "@coffer/contract";
import { SdkError } from "../../http/errors.ts";
import type { Transport } from "../../http/transports.ts";
import { type Exchange, sendContentRequest, headersOf, toResponse, responseOf } from "./content-request.ts";

/** A store that says nothing for so long is taken to be away. Milliseconds. */
const STORE_WITHIN = 5_000;
/** How long the service sends the bytes itself after the store has failed. Milliseconds. */
const BACK_OFF_MS = 60_000;
/** Temporary keys make addresses of a few thousand characters. */
const LONGEST_ADDRESS = 8192;
const LONGEST_SHOWN = 256;

/** Asks the service first, then perhaps the store. Where the store fails before its bytes come, `receive` asks the service for them. */
export function redirectedTo(origins: readonly string[], receive: Transport): Transport {
  let backOffUntil = Number.NEGATIVE_INFINITY;
  return async (request) => {
    if (performance.now() < backOffUntil) return receive(request);
    const { headers, signal, url } = request;
    const requestHeaders = { ...Object.fromEntries(headers), [CONTENT_ORIGINS_HEADER]: origins.join(" ") };
    const first = await sendContentRequest({ url, signal, headers: requestHeaders });
    if (first.answer.statusCode !== 307) return toResponse(first);
    endOf(first);
    const facts = headersOf(first.answer);
    const address = addressIn(facts, origins);
    const span = headers.has("range") ? spanIn(facts) : null;
    try {
      return composed(facts, await askStore(address, span, signal), span);
    } catch (error) {
      if (signal.aborted) throw error;
      backOffUntil = performance.now() + BACK_OFF_MS;
      return receive(request);
    }
  };
}

/** An honest redirect has no body, and its connection is used again. */
function endOf({ answer, sending }: Exchange): void {
  if (answer.headers["content-length"] === "0") answer.resume();
  else sending.destroy();
}

/** Throws for any place but an origin of the list: then the service is hostile, or set up wrongly. */
function addressIn(facts: Headers, origins: readonly string[]): URL {
  const text = facts.get("location") ?? "";
  const address = text.length > LONGEST_ADDRESS ? null : URL.parse(text);
  // The origin of a blob: is that of the address inside it.
  if (address === null || !/^https?:$/.test(address.protocol)) throw refused("to no address that can be followed");
  if (!origins.includes(address.origin))
    throw refused(`to ${address.origin.slice(0, LONGEST_SHOWN)}, which is not in contentOrigins`);
  if (address.username !== "" || address.password !== "") throw refused("to an address with a user's name");
  return address;
}

function refused(where: string): SdkError {
  return new SdkError(`The service sends this download ${where}; nothing was asked there`, {
    code: "configuration",
    retryable: false,
    nextStep: "Ask the operator of the service. Name only origins of stores in contentOrigins.",
  });
}

/** The range that the service has made of the request's, as the store has to answer it. */
interface Span {
  readonly range: string;
  readonly length: number;
  readonly contentRange: string;
}

/** null: the whole content, also where If-Range did not hold. */
function spanIn(facts: Headers): Span | null {
  const contentRange = facts.get("content-range") ?? "";
  const [, first = "", last = ""] = /^bytes (\d{1,16})-(\d{1,16})\/\d{1,16}$/.exec(contentRange) ?? [];
  return first === ""
    ? null
    : { range: `bytes=${first}-${last}`, length: Number(last) - Number(first) + 1, contentRange };
}

/** Rejects with anything that is not an answer with the bytes. The store gets nothing of the first request but the range. */
async function askStore(address: URL, span: Span | null, signal: AbortSignal): Promise<Exchange> {
  const range = span === null ? {} : { range: span.range };
  const headers = { accept: "*/*", "accept-encoding": "identity", ...range };
  const exchange = await sendContentRequest({ url: address, signal, headers, within: STORE_WITHIN });
  if (hasContent(exchange.answer, span)) return exchange;
  exchange.sending.destroy();
  throw new Error("the store answers something else");
}

function hasContent({ statusCode, headers }: IncomingMessage, span: Span | null): boolean {
  const length = headers["content-length"] ?? "";
  const isPlain =
    headers["transfer-encoding"] === undefined && (headers["content-encoding"] ?? "identity") === "identity";
  if (!isPlain || !/^\d{1,16}$/.test(length)) return false;
  if (span === null) return statusCode === 200;
  return statusCode === 206 && headers["content-range"] === span.contentRange && Number(length) === span.length;
}

/** The store's bytes with what the service says of them: also its digest, which they are held to as ever. */
function composed(facts: Headers, from: Exchange, span: Span | null): Response {
  const headers = new Headers(facts);
  for (const name of ["location", "content-range", "transfer-encoding"]) headers.delete(name);
  headers.set("content-length", from.answer.headers["content-length"] ?? "");
  if (span !== null) headers.set("content-range", span.contentRange);
  return responseOf(from, headers);
}
