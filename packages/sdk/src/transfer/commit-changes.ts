/** What a commit changes: as callers say it, and as each kind of vault makes it ready. */
import type { api } from "@coffer/contract";
import type { ByteBody } from "../http/accepted-bytes.ts";
import type { Body } from "../http/endpoint-types.ts";
import { SdkError } from "../http/errors.ts";
import type { WireFile } from "../storage/file.ts";
import type { File as NamedFile } from "../storage/item-types.ts";
import type { Source } from "./source.ts";
import type { EncodedUpload } from "./upload-codec.ts";
import type { UploadOptions } from "./upload-options.ts";

/** One change of a commit. A new content may bring a name and a folder along; `trash` comes alone. */
export interface FileCommitChange {
  /** UUID of the file. Each file stands in one change of a commit. */
  readonly id: string;
  /**
   * The `tag` that the file must still have; else the commit fails with `precondition_failed`. In a shared vault what is signed follows no
   * other state, whatever the service does. `*`: whatever is newest.
   */
  readonly ifMatch: string;
  /** The bytes of a new version; a string means its UTF-8. Default: the content stays. */
  readonly body?: ByteBody | undefined;
  /** Bytes of a stream: needed above 8 MiB. Ignored for a body that has a size of its own. Default: unknown. */
  readonly size?: number | undefined;
  /** Media type of the new version, such as `text/plain`. Default: that of the one before. */
  readonly contentType?: string | undefined;
  /** New name: at most 255 bytes of UTF-8. Default: unchanged. */
  readonly name?: string | undefined;
  /** UUID of the folder to move to. null: the top of the vault. Default: unchanged. `undefined` is refused. */
  readonly folderId?: string | null;
  /** Moves the file to the trash for 30 days. Default: it stays. */
  readonly trash?: true | undefined;
}

/** A file as a commit has left it. `bytes` and `sha256` were counted here. */
export interface CommittedFile {
  /** The file as it is now, with its new `tag`. */
  readonly file: NamedFile;
  /** Bytes of the new content. null: the change brought none. */
  readonly bytes: number | null;
  /** SHA-256 of the new content: 64 lower-case hex digits. null: the change brought none. */
  readonly sha256: string | null;
}

/** For a commit. Progress, part size and padding are those of its new contents. */
export interface FileCommitOptions extends UploadOptions {}

/** A change with its content, opened. */
export interface OpenChange extends Omit<FileCommitChange, "body" | "size"> {
  readonly source: Source | null;
}

/** What the commit's request says of one change, but for the upload that holds its content. */
export type SentChange = Omit<Body<typeof api.files.commit>["changes"][number], "uploadId">;

/** A change, ready for one round. */
export interface PreparedChange {
  readonly change: SentChange;
  /** null: it brings no content. */
  readonly upload: EncodedUpload | null;
}

/** One change over all rounds, in the kind of vault that it goes to. Its methods are called in turn, `prepare` first in each round. */
export interface CommitItem {
  readonly id: string;
  prepare(): Promise<PreparedChange>;
  /** The file as the round has made it; false: it has not. null: nobody can tell. */
  findStored(): Promise<WireFile | false | null>;
  /** Holds the service's answer to what was sent, and describes it as the caller sees it. */
  receipt(file: WireFile): Promise<CommittedFile>;
}

/** What the kind of vault decides about a commit. */
export interface CommitKind {
  readonly items: readonly CommitItem[];
  /** Names the request. Default: random. What is signed has none of the caller's: no two rounds send the same. */
  readonly idempotencyKey: string | undefined;
  /** Begins a round: what would refuse it for sure is cured before a byte is sent. */
  start(): Promise<void>;
  /** Whether another round can cure the failure. What it needs for that is done when this resolves. */
  recover(error: SdkError): Promise<boolean>;
  /** The tag that the file has now, as far as this client believes it; null: it believes none. */
  currentTag(error: SdkError): Promise<string | null>;
}

/** A failure says which file it is about. */
export async function aboutItem<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof SdkError && error.itemId === null ? Object.assign(error, { itemId: id }) : error;
  }
}

/** The loser learns the present state, as far as this client believes it. */
export async function withCurrentTag(kind: Pick<CommitKind, "currentTag">, error: unknown): Promise<unknown> {
  if (!(error instanceof SdkError) || error.code !== "precondition_failed") return error;
  return Object.assign(error, { currentTag: await kind.currentTag(error).catch(() => null) });
}
