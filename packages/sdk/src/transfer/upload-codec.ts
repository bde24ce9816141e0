/** What stands between the content of an upload and the bytes that are stored: nothing in a public vault, a cipher in a shared one. */
import type { SharedFile } from "@coffer/contract";
import type { WireFile } from "../storage/file.ts";
import type { File as NamedFile } from "../storage/item-types.ts";
import type { SdkError } from "../http/errors.ts";
import type { Source } from "./source.ts";

/** Result of an upload. `sha256` and `bytes` were counted here. In a public vault they equal the server's. */
export interface UploadResult {
  /** The file as it is now. */
  readonly file: NamedFile;
  /** Bytes of the content. */
  readonly bytes: number;
  /** SHA-256 of the content: 64 lower-case hex digits. */
  readonly sha256: string;
}

/** What became of one upload of several. One of both is null. */
export interface UploadOutcome {
  /** The stored file with its receipt. null: the upload failed. */
  readonly result: UploadResult | null;
  /** Why it failed. null: it did not. */
  readonly error: SdkError | null;
}

/** The bytes become a new file. */
export interface NewFileTarget {
  readonly kind: "file";
  /** null: in a shared vault, where the name is in its entry. */
  readonly name: string | null;
  readonly vaultId?: string | undefined;
  readonly folderId?: string | undefined;
  readonly contentType?: string | undefined;
  readonly ifAbsent?: boolean | undefined;
  readonly shared?: SharedFile | undefined;
}

/** What a shared vault's file brings besides its bytes. `restores`: the kept version whose content it is. */
export interface SharedStatements extends SharedFile {
  readonly restores?: string | undefined;
}

/** What a commit says of a held content: the state that its version follows, and in the clear the name that it brings. */
export interface HeldChange {
  readonly ifMatch: string;
  readonly name?: string | undefined;
}

/** What the bytes become: a new file or a version of one. */
export type UploadTarget =
  | NewFileTarget
  | {
      readonly kind: "version";
      readonly fileId: string;
      /** The vault that the caller names for the file. */
      readonly vaultId?: string | undefined;
      readonly contentType?: string | undefined;
      readonly ifMatch?: string | undefined;
      /** false: the content before is given up. */
      readonly keep?: boolean | undefined;
      /** The bytes wait for a commit, which makes the version of them. Absent: they become it when they are all there. */
      readonly held?: HeldChange | undefined;
      readonly shared?: SharedStatements | undefined;
    };

/**
 * The stored form of an upload. The sender reads it forward and holds a part until the service has it. Whether bytes
 * that were read before can be had again is the codec's decision: a second read gives the same bytes, or throws
 * `source_changed` or `not_resumable`.
 */
export type EncodedBytes = Pick<Source, "size" | "readsAhead" | "read">;

/** One attempt, ready to be sent. */
export interface EncodedUpload {
  readonly target: UploadTarget;
  readonly bytes: EncodedBytes;
  /** Bytes of the content. null: only its end shows it, and it is stored as it is. */
  readonly contentSize: number | null;
  /** Names the creation. Default: random. What is encrypted has none of the caller's: no two attempts send the same. */
  readonly idempotencyKey?: string | undefined;
  /** The file as an earlier process has stored it: nothing is sent. null: it is to be sent. */
  readonly stored: WireFile | null;
}

/** What the service stored, and what was sent, counted here: bytes, and their SHA-256 in hex. */
export interface SentFile {
  readonly file: WireFile;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Encodes one upload, and alone decides what may be sent again (file-format §5): the same bytes, or a new version. Its
 * methods are called in turn, `encode` first in each attempt. They reject with errors of this SDK.
 */
export interface UploadCodec {
  /**
   * Makes an attempt ready. The first one goes on with what the journal has from an earlier process, if that may be
   * sent again; else it begins a version, which is in the journal when this resolves.
   */
  encode(): Promise<EncodedUpload>;
  /**
   * The file as the attempt has stored it, for a failure after which that is possible. false: it has not. null: nobody
   * can tell, and nothing is sent again.
   */
  findStored(): Promise<WireFile | false | null>;
  /** Whether another attempt, with another version, can cure the failure. What it needs for that is done when this resolves. */
  recover(error: unknown): Promise<boolean>;
  /** Describes the file as the caller sees it, once the sender has compared its bytes with those that it sent. */
  receipt(file: WireFile): Promise<UploadResult>;
}
