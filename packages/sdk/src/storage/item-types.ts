/** Files and folders as this client shows them. The fields and their texts are the contract's, where this client does not change or add any. */
import type * as contract from "@coffer/contract";

/** The caller that made or changed something. */
export interface Author extends Omit<contract.Author, "kind"> {
  /** Kind of the credential: `api-key`, `session` or `development`. `member`: the signer, in a shared vault. */
  readonly kind: contract.OpenEnum<"api-key" | "session" | "development">;
  /** true: this client has verified the signature of `chainAddress`. Absent: the service says so. */
  readonly verified?: true;
}

/** What this client says of an item that it cannot open. */
interface Unreadable {
  /** Why this client cannot open it, as a code such as `not_a_member` or `damaged`. Absent: it is readable. */
  readonly unreadable?: string;
}

/** Sizes of a content that this client may be able to open. */
interface ContentSize {
  /** Bytes of the content. If this client cannot open it: stored bytes, after encryption. */
  readonly size: number;
  /** Stored bytes of a content in a shared vault that this client can open. Absent: `size` is that number. */
  readonly storedSize?: number;
}

/** A file or folder as this client shows it. */
interface Item extends Unreadable {
  /** The caller that made it. In a shared vault: the signer of its first entry, as long as no other has followed. null: not noted, or nothing proves it. */
  readonly createdBy: Author | null;
  /** The caller that last changed it. In a shared vault: the signer of its current content, name or place. null: not noted, or nothing proves it. */
  readonly updatedBy: Author | null;
  /** What `ifMatch` of a change names. In a shared vault this client computes it of the signed statements that it shows. Absent: it cannot open them. */
  readonly tag?: string;
}

/**
 * A file's metadata. In a shared vault that this client can open, `name`, `contentType` and `size` are those of the content. If it
 * cannot, `name` is "", `size` is that of the stored bytes, and `unreadable` says why.
 */
export interface File extends Item, ContentSize, Omit<contract.File, "shared" | keyof Item | keyof ContentSize> {}

/** A folder. In a shared vault that this client cannot open, `name` is "" and `unreadable` says why. */
export interface Folder extends Item, Omit<contract.Folder, "shared" | keyof Item> {}

/** A content that a file has, or had and keeps. In a shared vault `unreadable` says why this client cannot verify it. */
export interface FileVersion
  extends Unreadable, ContentSize, Omit<contract.FileVersion, "shared" | "author" | keyof ContentSize> {
  /** The caller that made it, as in `createdBy` of a file. null: not noted. */
  readonly author: Author | null;
}

/** What the entries of files and folders have in common. */
interface Entry extends Unreadable {
  /** Name at that time. "": this client cannot read or verify it. */
  readonly name: string;
  /** The caller that made it, as in `createdBy` of a file. null: not noted. */
  readonly author: Author | null;
}

/**
 * A name and place that a file has, or had and keeps. In a shared vault, an entry that this client cannot verify has the name "", and
 * `unreadable` says why.
 */
export interface FileEntry extends Entry, Omit<contract.FileEntry, "shared" | keyof Entry> {}

/** The same of a folder. */
export interface FolderEntry extends Entry, Omit<contract.FolderEntry, "shared" | keyof Entry> {}
