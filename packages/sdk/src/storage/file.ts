import type { File as ListedFile } from "@coffer/contract";

/** A file with what the wire carries of it, too: callers get the `File` of item-types.ts. */
export type WireFile = ListedFile & {
  readonly storedSize?: number;
  readonly unreadable?: string;
  readonly tag?: string;
};
