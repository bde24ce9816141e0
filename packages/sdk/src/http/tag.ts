import { plainTag } from "@coffer/contract";
import type { File, Folder } from "@coffer/contract";

/** An item of a public vault with its tag, for `ifMatch`. In a shared vault only who verifies its statements makes one. */
export function tagged<Item extends File | Folder>(item: Item): Item {
  return item.shared === null ? { ...item, tag: plainTag(item) } : item;
}
