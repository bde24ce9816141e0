/**
 * The text of a local index of names, before it is compressed and encrypted (file-format §14).
 *
 * ```
 * line 1   {"coffer":"names 1","changes":cursor,"building":{…} or null,"unreadable":[id…]}
 * folder   ["d", id, parent id, trashed at]
 * file     ["f", id, version id, revision, name, type, size, folder id, made at, changed at, maker, changer, trashed at]
 * ```
 */
import { NameTable, type FolderRow, type NameRow } from "./name-table.ts";

/** How far the first walk through the vault's lists has come. */
export interface BuildProgress {
  readonly kind: "folder" | "file";
  readonly trashed: boolean;
  /** null: at the first page. */
  readonly cursor: string | null;
}

export interface IndexState {
  readonly table: NameTable;
  /** The cursor of the change feed up to which the table is true. */
  readonly changes: string;
  /** null: all was listed. */
  readonly building: BuildProgress | null;
}

const FORMAT = "names 1";

type FileLine = ["f", ...unknown[]];

/** Compressed: ids and dates of many files are much alike. */
export async function encodeIndex({ table, changes, building }: IndexState): Promise<Uint8Array> {
  const head = JSON.stringify({ coffer: FORMAT, changes, building, unreadable: [...table.unreadable] });
  const folders = [...table.folders].map(([id, { parentId, trashedAt }]) =>
    JSON.stringify(["d", id, parentId, trashedAt]),
  );
  const files = table.rows().map((row) => JSON.stringify(lineOf(row)));
  return through(new CompressionStream("gzip"), new Blob([[head, ...folders, ...files].join("\n")]));
}

/** null: another version wrote it. What a holder of the vault's key wrote is taken as it is. */
export async function decodeIndex(bytes: Uint8Array): Promise<IndexState | null> {
  try {
    const opened = await through(new DecompressionStream("gzip"), new Blob([Uint8Array.from(bytes)]));
    const [head = "", ...lines] = new TextDecoder("utf-8", { fatal: true }).decode(opened).split("\n");
    const { coffer, changes, building, unreadable } = JSON.parse(head) as Record<string, unknown>;
    if (coffer !== FORMAT || typeof changes !== "string") return null;
    const table = new NameTable();
    for (const line of lines) readLine(table, JSON.parse(line) as unknown[]);
    for (const id of unreadable as string[]) table.unreadable.add(id);
    return { table, changes, building: building as BuildProgress | null };
  } catch {
    return null;
  }
}

async function through(transform: CompressionStream | DecompressionStream, from: Blob): Promise<Uint8Array> {
  const reader = from.stream().pipeThrough(transform).getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

function lineOf(row: NameRow): FileLine {
  const { id, versionId, revision, name, contentType, size, folderId } = row;
  const { createdAt, updatedAt, createdBy, updatedBy, trashedAt } = row;
  const facts = [id, versionId, revision, name, contentType, size, folderId];
  return ["f", ...facts, createdAt, updatedAt, createdBy, updatedBy, trashedAt];
}

function readLine(table: NameTable, [kind, id, ...rest]: readonly unknown[]): void {
  if (kind === "d") {
    const [parentId, trashedAt] = rest as [FolderRow["parentId"], FolderRow["trashedAt"]];
    table.folders.set(id as string, { parentId, trashedAt });
    return;
  }
  const [
    versionId,
    revision,
    name,
    contentType,
    size,
    folderId,
    createdAt,
    updatedAt,
    createdBy,
    updatedBy,
    trashedAt,
  ] = rest as [string, number, string, string, number, string | null, string, string, ...(string | null)[]];
  table.put({
    id: id as string,
    versionId,
    revision,
    name,
    contentType,
    size,
    folderId,
    createdAt,
    updatedAt,
    createdBy: createdBy ?? null,
    updatedBy: updatedBy ?? null,
    trashedAt: trashedAt ?? null,
  });
}
