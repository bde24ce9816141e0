import type { File as ListedFile } from "@coffer/contract";

/**
 * A file's metadata. In a shared vault that this client can open, `name`, `contentType` and `size` describe the
 * content. `storedSize` is what the service stores, in bytes. If the client cannot open it, `name` is "" and `size` is
 * that of the stored bytes. `unreadable` is then the code that says why (`not_a_member`, `damaged`, …). `sha256`
 * covers the stored bytes everywhere.
 */
export type File = ListedFile & { readonly storedSize?: number; readonly unreadable?: string };

/** Changes of a file's place. `folderId: null`: to the top of the vault. `undefined` is refused, as in {@link UploadInput}. */
export interface FileChanges {
  readonly name?: string | undefined;
  readonly folderId?: string | null;
}
