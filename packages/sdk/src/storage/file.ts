import type { File as ListedFile } from "@coffer/contract";

/** A file with what the wire carries of it, too: callers get the `File` of connection/result-types.ts. */
export type File = ListedFile & {
  readonly storedSize?: number;
  readonly unreadable?: string;
  readonly tag?: string;
};

/** Changes of a file's place. `folderId: null`: to the top of the vault. `undefined` is refused, as in {@link UploadInput}. */
export interface FileChanges {
  /** New name: at most 255 bytes of UTF-8. Default: unchanged. */
  readonly name?: string | undefined;
  /** UUID of the folder to move to. null: the top of the vault. Default: unchanged. */
  readonly folderId?: string | null;
}
