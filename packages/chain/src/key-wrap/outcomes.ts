/** Each key server's answer to one question. SealClient reports one error for all of them, often the least helpful one. */
import { isError } from "@coffer/contract";

/** A key server's refusals, as far as they matter here (MystenLabs/seal `crates/key-server/src/errors.rs`). */
const REFUSALS = [
  "NoAccess",
  "InvalidParameter",
  "InvalidCertificate",
  "InvalidSignature",
  "InvalidSessionSignature",
  "InvalidPTB",
  "InvalidPackage",
  "UnsupportedPackageId",
  "InvalidMVRName",
  "InvalidServiceId",
  "MissingRequiredHeader",
  "InvalidSDKVersion",
  "InvalidSDKType",
  "DeprecatedSDKVersion",
  "Failure",
] as const;

export type Refusal = (typeof REFUSALS)[number];

export type Outcome =
  | { readonly kind: "answered" }
  | { readonly kind: "refused"; readonly error: Refusal }
  /** A failure that no key server sends. */
  | { readonly kind: "http"; readonly status: number }
  /** A success that no key server sends: no keys in it, or no version beside it. */
  | { readonly kind: "foreign" }
  /** A version that SealClient takes no keys from. */
  | { readonly kind: "outdated" }
  /** It names another address. This client does not follow it: certificate and API key are for this one alone. */
  | { readonly kind: "redirected" }
  | { readonly kind: "timeout" }
  | { readonly kind: "unreachable" }
  /** Not awaited: others had decided already. */
  | { readonly kind: "cancelled" };

/** A key takes some 500 bytes of an answer, and 60 ms to check, whether it was asked for or not. */
const KEY_BYTES = 1024;
/** Errors and the bytes around the keys. */
const OTHER_BYTES = 8 * 1024;

/** A `fetch` that notes the result of each request, by the server's address. It reads no more than an answer can have. */
export class OutcomeRecorder {
  readonly #byUrl = new Map<string, Outcome>();
  readonly #fetch: typeof fetch;
  readonly #mostBytes: number;

  /** @param keys how many are requested at once. */
  constructor(fetch: typeof globalThis.fetch, keys: number) {
    this.#fetch = fetch;
    this.#mostBytes = OTHER_BYTES + keys * KEY_BYTES;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    try {
      // Certificate and API key are for this address alone.
      const response = await this.#fetch(input, { ...init, redirect: "manual" });
      if (isRedirect(response)) return await this.#refuseRedirect(url, response);
      const body = await readBounded(response, this.#mostBytes, init?.signal ?? null);
      this.#byUrl.set(serverOf(url), outcomeOf(response, body));
      const { status, statusText, headers } = response;
      return new Response(body.length === 0 ? null : body, { status, statusText, headers });
    } catch (error) {
      this.#byUrl.set(serverOf(url), outcomeOfFailure(init?.signal ?? null));
      throw error;
    }
  };

  async #refuseRedirect(url: string, response: Response): Promise<Response> {
    this.#byUrl.set(serverOf(url), { kind: "redirected" });
    await response.body?.cancel();
    // SealClient's words for a failure that it does not recognise.
    return new Response(null, { status: 502, statusText: "Redirected" });
  }

  /** Null for a server that was not asked. */
  of(serverUrl: string): Outcome | null {
    return this.#byUrl.get(serverUrl) ?? null;
  }

  clear(): void {
    this.#byUrl.clear();
  }
}

function serverOf(url: string): string {
  return url.replace(/\/v1\/[a-z_]+(\?.*)?$/, "");
}

/** Also if the transport ignores the signal: a body that begins and never ends. */
async function readBounded(
  response: Response,
  most: number,
  signal: AbortSignal | null,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const stop = (): void => void reader.cancel().catch(() => undefined);
  signal?.addEventListener("abort", stop);
  try {
    return await readPieces(reader, most, () => signal?.throwIfAborted());
  } finally {
    signal?.removeEventListener("abort", stop);
    stop();
  }
}

async function readPieces(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  most: number,
  proceed: () => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  proceed();
  for (let next = await reader.read(); ; next = await reader.read()) {
    proceed();
    if (next.done) break;
    size += next.value.length;
    if (size > most) throw new TypeError("an answer that is longer than a key server's can be");
    pieces.push(next.value);
  }
  const body = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    body.set(piece, at);
    at += piece.length;
  }
  return body;
}

/** Browsers show no more of one than that it is one (Fetch, "opaque-redirect filtered response"). */
export function isRedirect({ type, status }: Response): boolean {
  return type === "opaqueredirect" || (status >= 300 && status < 400);
}

/** SealClient takes no keys from older ones. */
const OLDEST_VERSION = [0, 4, 1] as const;

/** Whether the server calls itself a key server, and has a version whose keys SealClient accepts. */
export function versionOf(headers: Headers): "usable" | "outdated" | "foreign" {
  const parts = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?![\d.])/.exec(headers.get("X-KeyServer-Version") ?? "");
  if (parts === null) return "foreign";
  for (const [at, oldest] of OLDEST_VERSION.entries()) {
    const part = Number(parts[at + 1]);
    if (part !== oldest) return part > oldest ? "usable" : "outdated";
  }
  return "usable";
}

function outcomeOf(response: Response, body: Uint8Array): Outcome {
  const text = new TextDecoder().decode(body);
  if (response.ok) {
    const version = versionOf(response.headers);
    if (version !== "usable") return { kind: version };
    return { kind: holdsKeys(text) ? "answered" : "foreign" };
  }
  const error = parseErrorName(text);
  const refusal = REFUSALS.find((name) => name === error);
  return refusal === undefined ? { kind: "http", status: response.status } : { kind: "refused", error: refusal };
}

function holdsKeys(text: string): boolean {
  const body = parseObject(text);
  return body !== null && "decryption_keys" in body && Array.isArray(body.decryption_keys);
}

function parseErrorName(text: string): unknown {
  const body = parseObject(text);
  return body !== null && "error" in body ? body.error : null;
}

function parseObject(text: string): object | null {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" ? body : null;
  } catch {
    return null;
  }
}

function outcomeOfFailure(signal: AbortSignal | null): Outcome {
  if (signal?.aborted !== true) return { kind: "unreachable" };
  const { reason } = signal as { reason: unknown };
  return isError(reason) && reason.name === "TimeoutError" ? { kind: "timeout" } : { kind: "cancelled" };
}
