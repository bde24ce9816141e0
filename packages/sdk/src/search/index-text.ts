/**
 * The texts of a local index of names, before they are compressed and encrypted (file-format §14): a head, which names the
 * pages in their order, and the pages, which have the rows in the order of their keys.
 *
 * ```
 * head         {"coffer":"names 3","changes":cursor,"building":{…} or null,"listed":ms}, then a line for each page
 * of a page    ["lower bound of its keys", "id of the page"]
 * page         {"coffer":"names 3","page":id}, then a line for each row
 * folder       ["folder", id, parent id, trashed at, name, tag]
 * file         ["file", id, version id, revision, name, type, size, folder id, made at, changed at, maker, changer, trashed at, tag, sha256]
 * unreadable   ["unreadable", id, "file" or "folder", parent id, trashed at, code]
 * ```
 */
import type { IndexRow } from "./index-rows.ts";

/** How far the first walk through the vault's lists has come. */
export interface BuildProgress {
  readonly kind: "folder" | "file";
  readonly trashed: boolean;
  /** null: at the first page. */
  readonly cursor: string | null;
}

/** How much of the vault an index shows. */
export interface IndexProgress {
  /** The cursor of the change feed up to which the rows are true. */
  readonly changes: string;
  /** null: all was listed. */
  readonly building: BuildProgress | null;
  /** When the last walk through the vault's lists began, by this machine's clock: milliseconds since 1970. */
  readonly listedAt: number;
}

export interface PageEntry {
  /** No key of the page is lower, and those of the page before all are. */
  readonly from: string;
  readonly id: string;
}

export interface HeadText extends IndexProgress {
  readonly pages: readonly PageEntry[];
}

const FORMAT = "names 3";

export async function encodeHead({ changes, building, listedAt, pages }: HeadText): Promise<Uint8Array> {
  return encode(
    { changes, building, listed: listedAt },
    pages.map(({ from, id }) => [from, id]),
  );
}

/** null: another version wrote it. */
export async function decodeHead(bytes: Uint8Array): Promise<HeadText | null> {
  const text = await decode(bytes);
  if (text === null) return null;
  const { building = null, changes, listed } = text.head;
  if (typeof changes !== "string" || typeof listed !== "number") return null;
  const pages = (text.lines as [string, string][]).map(([from, id]): PageEntry => ({ from, id }));
  return { changes, building: building as BuildProgress | null, listedAt: listed, pages };
}

export async function encodePage(id: string, rows: readonly IndexRow[]): Promise<Uint8Array> {
  return encode({ page: id }, rows.map(lineOf));
}

/** null: it is not that page, or another version wrote it. What a holder of the vault's key wrote is taken as it is. */
export async function decodePage(id: string, bytes: Uint8Array): Promise<readonly IndexRow[] | null> {
  const text = await decode(bytes);
  return text === null || text.head["page"] !== id ? null : text.lines.map(rowReader());
}

/** Compressed: ids and dates of many files are much alike. */
async function encode(head: object, lines: readonly unknown[][]): Promise<Uint8Array> {
  const text = [{ coffer: FORMAT, ...head }, ...lines].map((line) => JSON.stringify(line)).join("\n");
  return through(new CompressionStream("gzip"), new Blob([text]));
}

async function decode(bytes: Uint8Array): Promise<{ head: Record<string, unknown>; lines: unknown[][] } | null> {
  try {
    const opened = await through(new DecompressionStream("gzip"), new Blob([Uint8Array.from(bytes)]));
    const [first = "", ...lines] = new TextDecoder("utf-8", { fatal: true }).decode(opened).split("\n");
    const head = JSON.parse(first) as Record<string, unknown>;
    return head["coffer"] === FORMAT ? { head, lines: lines.map((line) => JSON.parse(line) as unknown[]) } : null;
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

function lineOf(row: IndexRow): unknown[] {
  if (row.kind === "unreadable") {
    const { item, parentId, trashedAt, code } = row.unreadable;
    return [row.kind, row.id, item, parentId, trashedAt, code];
  }
  if (row.kind === "folder") {
    const { parentId, trashedAt, name, tag } = row.folder;
    return [row.kind, row.id, parentId, trashedAt, name, tag];
  }
  const { id, versionId, revision, name, contentType, size, folderId } = row.file;
  const { createdAt, updatedAt, createdBy, updatedBy, trashedAt, tag, sha256 } = row.file;
  const facts = [id, versionId, revision, name, contentType, size, folderId];
  return [row.kind, ...facts, createdAt, updatedAt, createdBy, updatedBy, trashedAt, tag, sha256];
}

type Text = string | null;

/** Reads the rows of one page. Folders, media types, times and addresses are much the same: each is in memory once. */
function rowReader(): (line: readonly unknown[]) => IndexRow {
  const texts = new Map<Text, Text>([[null, null]]);
  const once = <Value extends Text>(value: Value): Value => {
    const known = texts.get(value);
    if (known !== undefined) return known as Value;
    texts.set(value, value);
    return value;
  };
  return ([kind, first, ...rest]) => {
    const id = first as string;
    if (kind === "unreadable") {
      const [item, parentId, trashedAt, code] = rest as ["file" | "folder", Text, Text, string];
      return { kind, id, unreadable: { item, parentId: once(parentId), trashedAt, code: once(code) } };
    }
    if (kind === "folder") {
      const [parentId, trashedAt, name, tag] = rest as [Text, Text, string, string];
      return { kind, id, folder: { name, tag, parentId: once(parentId), trashedAt } };
    }
    const [versionId, revision, name, contentType, size, ...more] = rest as [string, number, string, string, number];
    const [folderId, createdAt, updatedAt, createdBy, updatedBy, trashedAt, tag, sha256] = more as unknown as [
      ...[Text, string, string, Text, Text, Text, string, string],
    ];
    const facts = { id, versionId, revision, name, contentType: once(contentType), size, folderId: once(folderId) };
    const times = { createdAt: once(createdAt), updatedAt: once(updatedAt), trashedAt: once(trashedAt) };
    const authors = { createdBy: once(createdBy), updatedBy: once(updatedBy) };
    return { kind: "file", id, file: { ...facts, ...times, ...authors, tag, sha256 } };
  };
}
