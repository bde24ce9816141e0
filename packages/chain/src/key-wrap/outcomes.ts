/** What each key server answered to one question. SealClient reports one error for all of them, often the least telling one. */

/** How a key server refuses, as far as it matters here (MystenLabs/seal `crates/key-server/src/errors.rs`). */
const REFUSALS = [
  "NoAccess",
  "InvalidParameter",
  "InvalidCertificate",
  "InvalidSignature",
  "InvalidSessionSignature",
  "InvalidPTB",
  "InvalidPackage",
  "UnsupportedPackageId",
  "DeprecatedSDKVersion",
  "Failure",
] as const;

export type Outcome =
  | { readonly kind: "answered" }
  | { readonly kind: "refused"; readonly error: (typeof REFUSALS)[number] }
  /** An answer that is none of a key server's. */
  | { readonly kind: "http"; readonly status: number }
  | { readonly kind: "timeout" }
  | { readonly kind: "unreachable" }
  /** Not waited for: others had decided already. */
  | { readonly kind: "cancelled" };

/** A key takes some 500 bytes of an answer, and 60 ms to check, whether it was asked for or not. */
const KEY_BYTES = 1024;
/** Errors and what stands around the keys. */
const OTHER_BYTES = 8 * 1024;

/** A `fetch` that notes what came of each request, by the server's address, and reads no more than an answer can have. */
export class OutcomeRecorder {
  readonly #byUrl = new Map<string, Outcome>();
  readonly #fetch: typeof fetch;
  readonly #mostBytes: number;

  /** @param keys how many are asked for at once. */
  constructor(fetch: typeof globalThis.fetch, keys: number) {
    this.#fetch = fetch;
    this.#mostBytes = OTHER_BYTES + keys * KEY_BYTES;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    try {
      // Certificate and API key are for this address alone.
      const response = await this.#fetch(input, { ...init, redirect: "error" });
      const body = await readBounded(response, this.#mostBytes);
      this.#byUrl.set(serverOf(url), outcomeOf(response, body));
      const { status, statusText, headers } = response;
      return new Response(body.length === 0 ? null : body, { status, statusText, headers });
    } catch (error) {
      this.#byUrl.set(serverOf(url), outcomeOfFailure(init?.signal ?? null));
      throw error;
    }
  };

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

async function readBounded(response: Response, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > most) throw new TypeError("an answer that is longer than a key server's can be");
    pieces.push(piece);
  }
  const body = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    body.set(piece, at);
    at += piece.length;
  }
  return body;
}

function outcomeOf(response: Response, body: Uint8Array): Outcome {
  if (response.ok) return { kind: "answered" };
  const error = parseErrorName(new TextDecoder().decode(body));
  const known = REFUSALS.find((name) => name === error);
  return known === undefined ? { kind: "http", status: response.status } : { kind: "refused", error: known };
}

function parseErrorName(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null && "error" in body ? body.error : null;
  } catch {
    return null;
  }
}

function outcomeOfFailure(signal: AbortSignal | null): Outcome {
  if (signal?.aborted !== true) return { kind: "unreachable" };
  const { reason } = signal as { reason: unknown };
  return reason instanceof Error && reason.name === "TimeoutError" ? { kind: "timeout" } : { kind: "cancelled" };
}
