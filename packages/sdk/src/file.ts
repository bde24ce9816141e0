import type { File as ListedFile } from "@coffer/contract";

/**
 * A file's metadata. In a shared vault that this client can open, `name`, `contentType` and `size` are those of the content, and
 * `storedSize` is what the service stores, in bytes; where it cannot, `name` is "", `size` that of the stored bytes, and `unreadable` the
 * code that says why (`not_a_member`, `damaged`, …). `sha256` is of the stored bytes everywhere.
 */
export type File = ListedFile & { readonly storedSize?: number; readonly unreadable?: string };

/** Changes of a file's place. `folderId: null`: to the top of the vault; `undefined` is refused, as in {@link UploadInput}. */
export interface FileChanges {
  readonly name?: string | undefined;
  readonly folderId?: string | null;
}
