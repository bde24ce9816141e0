/**
 * The steps of reading, in their order (file-format §5, §10). `source` is the one step of writing that fails by
 * itself: the content has changed. `export` covers the files of a vault outside the service (file-format §12).
 */
export const CRYPTO_STEPS = [
  "pins",
  "statement",
  "header",
  "ids",
  "start",
  "record",
  "ladder",
  "wrap",
  "commitment",
  "length",
  "chunks",
  "padding",
  "digest",
  "entry",
  "metadata",
  "source",
  "export",
] as const;

export type CryptoStep = (typeof CRYPTO_STEPS)[number];

/**
 * Why bytes were refused:
 * - `unsupported_version` and `unsupported_suite`: a later version of this format wrote them;
 * - `not_encrypted`: these are not the bytes of an encrypted file;
 * - `damaged`: altered, cut, reordered, or never well-formed;
 * - `wrong_key`: the key, or the context of the bytes, is another one;
 * - `rolled_back`: older than what was seen already;
 * - `vault_changed`: the vault is not the pinned one;
 * - `source_changed`: the content changed between two readings while it was encrypted.
 */
export type CryptoErrorCode =
  | "unsupported_version"
  | "unsupported_suite"
  | "not_encrypted"
  | "damaged"
  | "wrong_key"
  | "rolled_back"
  | "vault_changed"
  | "source_changed";

/** Bytes that cannot be accepted. The message holds no key and no content. Do not use anything that came after the failure. */
export class CryptoError extends Error {
  override readonly name = "CryptoError";
  readonly code: CryptoErrorCode;
  /** The step that failed. */
  readonly step: CryptoStep;

  constructor(code: CryptoErrorCode, step: CryptoStep, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.step = step;
  }
}

/** A key was used after its owner had disposed it, or was disposed while it was used. Nothing of that use can be had. */
export class KeyDisposedError extends Error {
  override readonly name = "KeyDisposedError";

  constructor() {
    super("the key was disposed: open it again");
  }
}

/** Short for the most frequent refusal. */
export function damaged(step: CryptoStep, message: string): CryptoError {
  return new CryptoError("damaged", step, message);
}
