/** Folders and files as a tree. */
import type { File, Folder } from "@coffer/sdk";
import { untrusted, type Untrusted } from "@coffer/tasks";

export interface TreeItem {
  readonly kind: "folder" | "file";
  readonly id: string;
  readonly name: string;
  /** A file has one. */
  readonly size?: number;
  /** A folder has them, unless it lies at the deepest level that was asked for. */
  readonly items?: readonly TreeItem[];
}

type ItemsByParent = ReadonlyMap<string | null, TreeItem[]>;

/** Folders first, both by name. */
export function treeOf(
  folders: readonly Folder[],
  files: readonly File[],
  depth: number,
): { readonly items: readonly TreeItem[] } {
  const itemsByParent = new Map<string | null, TreeItem[]>();
  const put = (parentId: string | null, item: TreeItem): void => {
    const items = itemsByParent.get(parentId);
    if (items === undefined) itemsByParent.set(parentId, [item]);
    else items.push(item);
  };
  for (const { id, name, parentId } of folders) put(parentId, { kind: "folder", id, name });
  for (const { id, name, size, folderId } of files) put(folderId, { kind: "file", id, name, size });
  return { items: below(itemsByParent, null, depth) };
}

function below(places: ItemsByParent, parentId: string | null, depth: number): TreeItem[] {
  const items = (places.get(parentId) ?? []).toSorted(
    (one, other) => other.kind.localeCompare(one.kind) || (one.name < other.name ? -1 : 1),
  );
  return items.map((item) =>
    item.kind === "file" || depth <= 1 ? item : { ...item, items: below(places, item.id, depth - 1) },
  );
}

export function treeLines(items: readonly TreeItem[], indent = ""): Untrusted[] {
  return items.flatMap(({ kind, name, items: inner = [] }, at) => {
    const isLast = at === items.length - 1;
    const line = untrusted(
      `${indent}${isLast ? "└── " : "├── "}${name === "" ? "(closed)" : name}${kind === "folder" ? "/" : ""}`,
    );
    return [line, ...treeLines(inner, `${indent}${isLast ? "    " : "│   "}`)];
  });
}
