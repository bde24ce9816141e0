/** The input of an upload. */
import type { ByteBody } from "../byte-body.ts";

/** Default size of a part, and the largest upload in one request: 8 MiB. It bounds the memory. */
export const PART_BYTES = 8 * 1024 * 1024;

interface Content {
  /** The bytes; a string means its UTF-8. Anything else is refused with `invalid_request` before anything is sent. */
  readonly body: ByteBody;
  /** Bytes of a stream: above 8 MiB a resume after a failure needs it. Ignored for a body that has a size of its own. */
  readonly size?: number | undefined;
  readonly contentType?: string | undefined;
}

export interface UploadInput extends Content {
  /**
   * Absent: the folder's vault. Without a folder it is the account's default vault, which is public. For clients with
   * `sharedVaults` it is none at all (`vault_unnamed`). `undefined` is refused: it may come from a forgotten `await`.
   */
  readonly vaultId?: string;
  /** Absent: the top of the vault. */
  readonly folderId?: string;
  readonly name: string;
  /** Fail with `precondition_failed` when the name is taken (`If-None-Match: *`). */
  readonly ifAbsent?: boolean | undefined;
}

export interface ReplaceInput extends Content {
  /**
   * The vault that the file is in. Clients with `sharedVaults` send nothing if the service shows the file in another
   * one (`vault_changed`). They also need it for a file that this machine has not seen (`vault_unnamed`).
   */
  readonly vaultId?: string;
  /** Entity tag of the version to replace: `"sha256-<base64url>"`. */
  readonly ifMatch?: string | undefined;
}

/** Bytes on their way. `bytes` goes back when a part must be sent again. */
export interface Progress {
  readonly bytes: number;
  /** null: unknown before the end. */
  readonly total: number | null;
}

export interface UploadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Names the creation; see {@link CallOptions.idempotencyKey}. */
  readonly idempotencyKey?: string | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Repeats of a request that moved nothing. */
  readonly retries?: number | undefined;
  /** In a shared vault: hides the size of the content, which then takes up to 12 % more; default false. */
  readonly padded?: boolean | undefined;
  /** Size of a part in bytes, 8 MiB by default: the memory an upload takes. */
  readonly partBytes?: number | undefined;
}
