/**
 * Keyset paging on (created_at, id), newest first (decisions §1). A cursor is opaque to callers. It is the position
 * after which the next page begins, bound to its list, with a checksum. The checksum catches what was altered or mixed
 * up on the way, and is not secret. A cursor only says where to begin among rows that the caller may see anyway.
 */
import { createHash } from "node:crypto";
import { DEFAULT_PAGE } from "@coffer/contract";
import { ServiceError } from "../service-error.ts";

export interface Position {
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
  readonly id: string;
}

export interface PageRequest {
  /** Names the list: a cursor of another list is refused. */
  readonly list: string;
  /** How many items the answer may hold; a store asks for one more to learn whether a next page exists. */
  readonly limit: number;
  readonly after: Position | null;
}

export interface Page<Row> {
  readonly rows: Row[];
  readonly nextCursor: string | null;
}

interface PageQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** Throws `validation_failed` for a cursor that this list did not make. */
export function parsePage(list: string, query: PageQuery): PageRequest {
  const after = query.cursor === undefined ? null : decodeCursor(list, query.cursor);
  return { list, limit: query.limit ?? DEFAULT_PAGE, after };
}

/** Cuts `limit + 1` rows in order down to a page. */
export function toPage<Row extends { readonly id: string; readonly created_at: number }>(
  found: Row[],
  { list, limit }: PageRequest,
): Page<Row> {
  const rows = found.length > limit ? found.slice(0, limit) : found;
  const last = rows.at(-1);
  if (found.length <= limit || last === undefined) return { rows, nextCursor: null };
  return { rows, nextCursor: encodeCursor(list, { createdAt: last.created_at, id: last.id }) };
}

/** Newest first: the order of every list, for rows that were read from several places. */
export function newestFirst(a: { created_at: number; id: string }, b: { created_at: number; id: string }): number {
  return b.created_at - a.created_at || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}

const TIME_BYTES = 6;
const ID_BYTES = 16;
const CHECKSUM_BYTES = 6;
const CURSOR_BYTES = TIME_BYTES + ID_BYTES + CHECKSUM_BYTES;

/** The opaque text of a position in a list. */
export function encodeCursor(list: string, position: Position): string {
  const bytes = Buffer.alloc(CURSOR_BYTES);
  bytes.writeUIntBE(position.createdAt, 0, TIME_BYTES);
  bytes.write(position.id.replaceAll("-", ""), TIME_BYTES, ID_BYTES, "hex");
  checksum(list, bytes).copy(bytes, TIME_BYTES + ID_BYTES);
  return bytes.toString("base64url");
}

/** Throws `validation_failed` for a cursor that the list did not make. */
export function decodeCursor(list: string, cursor: string): Position {
  const bytes = Buffer.from(cursor, "base64url");
  // Node's decoder skips unknown characters, so only a text that encodes back to itself is the one that we sent.
  const intact = bytes.length === CURSOR_BYTES && bytes.toString("base64url") === cursor;
  if (!intact || !checksum(list, bytes).equals(bytes.subarray(TIME_BYTES + ID_BYTES))) {
    throw new ServiceError("validation_failed", "query.cursor: not a cursor of this list");
  }
  const hex = bytes.toString("hex", TIME_BYTES, TIME_BYTES + ID_BYTES);
  const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  return { createdAt: bytes.readUIntBE(0, TIME_BYTES), id };
}

function checksum(list: string, bytes: Buffer): Buffer {
  return createHash("sha256")
    .update(list)
    .update(bytes.subarray(0, TIME_BYTES + ID_BYTES))
    .digest()
    .subarray(0, CHECKSUM_BYTES);
}
