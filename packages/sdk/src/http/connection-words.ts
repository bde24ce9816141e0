/** Why no answer came, and what to set, in words: loaded with the first such failure, since most programs never show one. */
import { isError } from "@coffer/contract";
import { errorCode } from "./redaction.ts";
import { redirectedError } from "./errors.ts";
import { nodeVersion, processFacts } from "./runtime.ts";

export interface ConnectionWords {
  readonly message: string;
  readonly nextStep: string;
  /** Whether the same call may succeed later, with nothing set anew. */
  readonly retryable: boolean;
  /** Default: `connection_failed`. */
  readonly code?: "redirected";
}

const TRUST = [
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_UNTRUSTED",
];
/** What OpenSSL says of an answer that is no TLS. */
const NO_TLS = [
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_UNKNOWN_PROTOCOL",
  "ERR_SSL_HTTP_REQUEST",
  "EPROTO",
];
/** A service with TLS ends a connection that speaks plain HTTP, or answers it in TLS. */
const NO_HTTP = ["ECONNRESET", "UND_ERR_SOCKET", "HPE_INVALID_CONSTANT", "HPE_INVALID_VERSION"];
const UNREACHABLE = ["ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "EHOSTUNREACH", "ENETUNREACH"];

/**
 * `error`: what the transport threw. `setting`: the one that holds the address. Names the address, the system's code, and nothing that the
 * other side wrote.
 */
export function connectionWords(error: unknown, address: string, setting = "base URL"): ConnectionWords {
  const code = errorCode(error);
  const words = wordsOf(error, code, new URL(address), setting);
  return code === null ? words : { ...words, message: `${words.message} (${code})` };
}

function wordsOf(
  error: unknown,
  code: string | null,
  { protocol, origin, hostname }: URL,
  setting: string,
): ConnectionWords {
  const isOneOf = (codes: readonly string[]): boolean => code !== null && codes.includes(code);
  if (isOneOf(TRUST))
    return lasting(
      `This machine does not trust the certificate of ${origin}`,
      "Set NODE_EXTRA_CA_CERTS to a PEM file with the certificate of the authority that issued it, and start this program again.",
    );
  if (isOneOf(["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"]))
    return lasting(
      `The certificate of ${origin} is not valid at this time`,
      "Set this machine's clock if it is wrong; else tell the service's operator to renew the certificate.",
    );
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return lasting(
      `The certificate of ${origin} is for another name`,
      `Use the name that the certificate is for in the ${setting}.`,
    );
  if (protocol === "https:" && isOneOf(NO_TLS))
    return lasting(
      `${origin} does not speak TLS, so https is the wrong scheme`,
      `Begin the ${setting} with http:// if it is meant to run without TLS; else use the port that has TLS.`,
    );
  if (protocol === "http:" && isOneOf(NO_HTTP))
    return passing(
      `${origin} ended the connection without an answer`,
      `Begin the ${setting} with https:// if it uses TLS; else check that it runs, and repeat it.`,
    );
  if (isRedirect(error)) {
    const { message, nextStep, retryable } = redirectedError(origin, undefined, setting);
    return { message, nextStep, retryable, code: "redirected" };
  }
  const proxy = proxyStep(new URL(origin));
  if (code === "ECONNREFUSED")
    return passing(
      `Nothing listens at ${origin}`,
      proxy ?? `Check the port of the ${setting}, and that the service runs; then repeat it.`,
    );
  if (isOneOf(["ENOTFOUND", "EAI_AGAIN"]))
    return passing(
      `The name ${hostname} is not known here`,
      proxy ?? `Check the name in the ${setting}, and this machine's network; then repeat it.`,
    );
  if (isOneOf(UNREACHABLE))
    return passing(
      `${origin} cannot be reached from this machine`,
      proxy ?? `Check the ${setting}, and the network and firewalls between; then repeat it.`,
    );
  return passing(
    `No answer from ${origin}`,
    proxy ?? `Check the ${setting} and that the service runs; then repeat it.`,
  );
}

/**
 * Why a page got no answer; null outside of pages, and for errors that no `fetch` throws. A browser hides the reason from the page, so this
 * asks the service once more, without a credential, in the mode that needs no leave of the service, and listens for a violation of the
 * page's policy.
 */
export async function pageWords(error: unknown, baseUrl: string): Promise<ConnectionWords | null> {
  const page = pageOrigin();
  if (page === null || !isIn(error, (each) => each instanceof TypeError)) return null;
  const { origin } = new URL(baseUrl);
  const cors = `that SERVICE_CORS_ORIGINS of the service names ${page}`;
  const policy = `that connect-src of the page's Content-Security-Policy allows ${origin}`;
  const { isBlocked, isReached } = await probe(baseUrl, origin);
  if (isBlocked)
    return lasting(
      `The page's policy does not allow a request to ${origin}`,
      origin === page ? `Check ${policy}.` : `Check ${policy}, and ${cors}.`,
    );
  if (origin === page) return null;
  return isReached
    ? lasting(`The browser does not let ${page} read answers of ${origin}`, `Check ${cors}, and ${policy}.`)
    : passing(`No answer from ${origin}`, `Check that the service runs, ${cors}, and ${policy}.`);
}

/** null: no page, nor a worker of one. */
function pageOrigin(): string | null {
  const { location }: { readonly location?: { readonly origin?: string } } = globalThis;
  return nodeVersion() === null && typeof addEventListener === "function" ? (location?.origin ?? null) : null;
}

async function probe(baseUrl: string, origin: string): Promise<{ isBlocked: boolean; isReached: boolean }> {
  let isBlocked = false;
  const listen = (event: Event & { readonly blockedURI?: string }): void => {
    isBlocked ||= event.blockedURI?.startsWith(origin) === true;
  };
  addEventListener("securitypolicyviolation", listen);
  try {
    const signal = AbortSignal.timeout(5_000);
    await fetch(`${baseUrl}/healthz`, { mode: "no-cors", credentials: "omit", cache: "no-store", signal });
    return { isBlocked, isReached: true };
  } catch {
    // The event is dispatched in a task of its own.
    await new Promise((resolve) => setTimeout(resolve, 50));
    return { isBlocked, isReached: false };
  } finally {
    removeEventListener("securitypolicyviolation", listen);
  }
}

const lasting = (message: string, nextStep: string): ConnectionWords => ({ message, nextStep, retryable: false });
const passing = (message: string, nextStep: string): ConnectionWords => ({ message, nextStep, retryable: true });

/** What `fetch` of Node and of Deno says of a redirect that it was told to refuse. Bun alone has a code for it. */
const REDIRECT = /^unexpected redirect$|redirect mode is set to 'error'$/;

/** No redirect is followed. */
function isRedirect(error: unknown): boolean {
  return isIn(error, (each) => REDIRECT.test(each.message) || ("code" in each && each.code === "UnexpectedRedirect"));
}

/** Whether the error, or one of its causes, is so. */
function isIn(error: unknown, matches: (each: Error) => boolean): boolean {
  for (let each = error, depth = 0; isError(each) && depth < 5; each = each.cause, depth += 1)
    if (matches(each)) return true;
  return false;
}

/**
 * What to set where a proxy is named that Node ignores, or what to check where it goes through one; null: neither. Node reads the variables
 * only if it is told to (`NODE_USE_ENV_PROXY`), as other programs do by themselves.
 */
export function proxyStep({ protocol, hostname }: URL): string | null {
  const { env = {}, execArgv = [] } = processFacts();
  const name = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const variable = [name, name.toLowerCase()].find((each) => (env[each] ?? "") !== "");
  if (variable === undefined || isNamedIn(env["NO_PROXY"] ?? env["no_proxy"] ?? "", hostname)) return null;
  if (/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) return null;
  const flags = [...execArgv, env["NODE_OPTIONS"] ?? ""].join(" ");
  return env["NODE_USE_ENV_PROXY"] === "1" || flags.includes("--use-env-proxy")
    ? `Check the proxy that ${variable} names, and that it reaches ${hostname}; then repeat it.`
    : `Set NODE_USE_ENV_PROXY=1: without it Node ignores the proxy that ${variable} names. Then start this program again.`;
}

function isNamedIn(list: string, hostname: string): boolean {
  return list
    .split(",")
    .map((each) => each.trim().replace(/^\*?\./, ""))
    .some((each) => each === "*" || (each !== "" && (hostname === each || hostname.endsWith(`.${each}`))));
}
