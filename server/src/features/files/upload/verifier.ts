/** What an upload wants to make of its bytes, and what the kind of vault that they go to asks of it. */
import type { Deps } from "../../../deps.ts";
import type { Principal, RequestContext } from "../../../handler.ts";
import type { Queries } from "../../../ports/database.ts";
import type { FileRow } from "../../../ports/tables.ts";
import type { Changing } from "../../items/changing.ts";
import type { WantedPlace } from "../../items/placing.ts";
import type { ExpectedWrite } from "../../reach/permits.ts";
import type { SignedUpload } from "./signed-upload.ts";

export type UploadDeps = Pick<Deps, "database" | "blobs" | "clock" | "random" | "settings" | "chain">;

interface SentContent {
  /** null: the sender did not say. */
  readonly contentType: string | null;
  /** The statements that came with it; null: none did. */
  readonly signed: SignedUpload | null;
}

/** Content that becomes a file. */
export interface NewFile extends WantedPlace, SentContent {
  readonly kind: "file";
  /** undefined: not known yet, or, where names are encrypted, in the signed entry alone. */
  readonly name: string | undefined;
  readonly ifNoneMatch: boolean;
}

/** Content that becomes a file's next version. */
export interface NewVersion extends SentContent {
  readonly kind: "version";
  readonly fileId: string;
  readonly ifMatch: string | undefined;
  /** The name that it brings along, in the clear. Absent: none. */
  readonly name?: string | undefined;
  /** The place that it brings along; null: the top of the vault. Absent: none. */
  readonly folderId?: string | null | undefined;
  /** False: the content before is given up at once. */
  readonly keep: boolean;
}

export type ContentChange = NewFile | NewVersion;

/** What signed statements must follow. */
export interface Basis {
  /** null: the top of the vault. */
  readonly folderId: string | null;
  /** The file as it is; null: it is new. */
  readonly old: FileRow | null;
}

/** What the kind of vault decides about the row of a new file. */
export type FileColumns = Pick<FileRow, "id" | "version_id" | "name" | "content_type" | "encrypted" | "shared_json">;

/** The same of a file that gets a new version. */
export interface VersionColumns {
  readonly columns: Partial<Pick<FileRow, "version_id" | "shared_json">> & Pick<FileRow, "content_type" | "name">;
  readonly how: "replace" | "restore";
  /** Why the entry before is kept, where the version brings another one. */
  readonly entry: "content" | "rename" | "move" | null;
  /** Whose versions count together, see `keepVersion`. null: the caller's. */
  readonly authorKey: string | null;
}

/**
 * What one kind of vault asks of content that is sent to it: at first, so that what is refused is refused before its bytes are read, and
 * again in the act, whose word is the last.
 */
export interface Verifier {
  /** The permit that the act will ask for; null: none. */
  readonly write: ExpectedWrite | null;
  /** The content has at least so many. */
  readonly leastBytes: number;
  /** Throws `statement_invalid` for content of a length that it cannot have. */
  requireLength(bytes: number): void;
  /** Passes the bytes on. Rejects with `not_encrypted` or `statement_invalid`, at the end or before. */
  hold(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  /** Ends the request once the caller may not write any more, for as long as its bytes come. */
  watch(deps: UploadDeps, context: RequestContext<Principal>): void;
  /** What the column holds for a new file of that name; null: it has none yet. */
  nameColumn(name: string | undefined): string | null;
  contentType(sent: string): string;
  /** The file that this very upload has made already. */
  findMadeFile(queries: Queries, principal: Principal): Promise<FileRow | null>;
  /**
   * Before the bytes are read: refuses what the act would refuse. `basis` null: only whether the caller may write here now is asked, the
   * rest is left to the act. `ahead`: settles when the signatures have been looked at in the thread pool.
   */
  refuseEarly(deps: UploadDeps, principal: Principal, basis: Basis | null): Promise<{ readonly ahead: Promise<void> }>;
  /** In the act. Throws what the statements, the signer and the folder's key are refused with. `folderId`: where the file is to lie. */
  fileColumns(changing: Changing, file: NewFile, folderId: string | null): Promise<FileColumns>;
  versionColumns(
    changing: Changing,
    version: NewVersion,
    file: { readonly old: FileRow; readonly folderId: string | null },
  ): Promise<VersionColumns>;
}
