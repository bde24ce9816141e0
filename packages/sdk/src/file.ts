import type { File as ListedFile } from "@coffer/contract";

/**
 * A file's metadata. In a shared vault that this client can open, `name`, `contentType` and `size` are those of the content, and
 * `storedSize` is what the service stores, in bytes; where it cannot, `name` is "", `size` that of the stored bytes, and `unreadable` the
 * code that says why (`not_a_member`, `damaged`, …). `sha256` is of the stored bytes everywhere.
 */
export type File = ListedFile & { readonly storedSize?: number; readonly unreadable?: string };
