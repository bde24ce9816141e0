/** One item of a list that is not as it should be: it hides no others, and never passes for one of them. */
import type { Folder } from "@coffer/contract";
import type { WireFile } from "./file.ts";

/** The result repeats none of the service's words in place of a name. `unreadable`: the code that says why. */
export function unnamed<Item extends WireFile | Folder>(item: Item, unreadable: string): Item {
  return {
    ...item,
    name: "",
    createdBy: null,
    updatedBy: null,
    ...("contentType" in item ? { contentType: UNKNOWN_TYPE } : {}),
    unreadable,
  };
}

const UNKNOWN_TYPE = "application/octet-stream";

export function isUnnamed(item: WireFile | Folder): boolean {
  return "unreadable" in item;
}
