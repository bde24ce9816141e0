/**
 * The file of one table: a header, then frames, which are only ever appended. A frame is the changes of one write, so that
 * they count together or not at all.
 *
 * ```
 * file     "coffer-table 1 " || 16 hex digits, new in each file || "\n" || frames
 * frame    length of the rows(4) || CRC-32 of the rows(4) || CRC-32 of these 8 bytes(4) || rows
 * row      length of the key(2) || length of the value(4), ffffffff for a deleted row || key in UTF-8 || value
 * ```
 *
 * Numbers are big-endian. A crash may leave the beginning of a frame at the end of the file, or zeros: nobody waited for
 * that write, and it does not count. Whatever else is not a frame is damage.
 */
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { requireKey, type RowChange } from "../../store/profile-store.ts";

export const HEADER_BYTES = 32;
export const FRAME_HEAD_BYTES = 12;
const ROW_HEAD_BYTES = 6;
const DELETED = 0xffffffff;
const HEADER = /^coffer-table 1 ([0-9a-f]{16})\n$/;
const LATER = /^coffer-table (?!1 )\d+ /;
/** A disk writes a sector whole or not at all. */
const SECTOR = 512;
/** Fewer zeros than that at the end of a frame may be its content. */
const FEW_ZEROS = 16;

export interface FrameRow {
  readonly key: string;
  /** null: deleted. Of the frame's own bytes: copy what is to stay. */
  readonly value: Uint8Array | null;
  /** Where the value begins in the file. */
  readonly at: number;
}

/** What is at a place in the file: a frame with its end, the end of what counts, or what cannot be read. */
export type FrameRead =
  | { readonly kind: "frame"; readonly end: number; readonly rows: Generator<FrameRow, void, undefined> }
  | { readonly kind: "end" }
  | { readonly kind: "damaged" };

export type HeaderRead =
  | { readonly kind: "header"; readonly nonce: string }
  | { readonly kind: "later version" }
  | { readonly kind: "damaged" };

export function newHeader(): Buffer {
  return Buffer.from(`coffer-table 1 ${randomBytes(8).toString("hex")}\n`, "latin1");
}

export function readHeader(descriptor: number): HeaderRead {
  const text = readAt(descriptor, 0, HEADER_BYTES).toString("latin1");
  const nonce = HEADER.exec(text)?.[1];
  if (nonce !== undefined) return { kind: "header", nonce };
  return { kind: LATER.test(text) ? "later version" : "damaged" };
}

export function encodeFrame(changes: readonly RowChange[]): Buffer {
  const rows = changes.map(({ key, value }) => ({ key: requireKey(key), value }));
  const length = rows.reduce((sum, { key, value }) => sum + ROW_HEAD_BYTES + key.length + (value?.length ?? 0), 0);
  const frame = Buffer.alloc(FRAME_HEAD_BYTES + length);
  let at = FRAME_HEAD_BYTES;
  for (const { key, value } of rows) {
    at = frame.writeUInt16BE(key.length, at);
    at = frame.writeUInt32BE(value?.length ?? DELETED, at);
    frame.set(key, at);
    at += key.length;
    if (value === null) continue;
    frame.set(value, at);
    at += value.length;
  }
  frame.writeUInt32BE(length, 0);
  frame.writeUInt32BE(crc32(frame.subarray(FRAME_HEAD_BYTES)), 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  return frame;
}

/** The bytes that a row takes in the file. */
export function rowBytes(key: string, valueLength: number): number {
  return ROW_HEAD_BYTES + Buffer.byteLength(key) + valueLength;
}

/** `size`: of the file, as it was when the caller looked. */
export function readFrame(descriptor: number, at: number, size: number): FrameRead {
  const left = size - at;
  if (left < FRAME_HEAD_BYTES) return { kind: "end" };
  const head = readAt(descriptor, at, FRAME_HEAD_BYTES);
  if (!isHead(head)) return { kind: isZero(head) && !hasHead(readAt(descriptor, at, left)) ? "end" : "damaged" };
  const length = head.readUInt32BE(0);
  const start = at + FRAME_HEAD_BYTES;
  if (start + length > size) return { kind: "end" };
  const payload = readAt(descriptor, start, length);
  if (crc32(payload) !== head.readUInt32BE(4)) {
    // Frames that nobody waited for may be lost together.
    const isTorn = lacksSector(payload, start) && isZero(readAt(descriptor, start + length, size - start - length));
    return { kind: isTorn ? "end" : "damaged" };
  }
  return { kind: "frame", end: start + length, rows: rowsIn(payload, start) };
}

function isHead(head: Buffer): boolean {
  return crc32(head.subarray(0, 8)) === head.readUInt32BE(8);
}

/** Whether a frame begins anywhere: then what is before it was written, and is gone. */
function hasHead(bytes: Buffer): boolean {
  for (let at = 0; at + FRAME_HEAD_BYTES <= bytes.length; at += 1) {
    const fits = at + FRAME_HEAD_BYTES + bytes.readUInt32BE(at) <= bytes.length;
    // Twelve zeros are no head: the sum of zeros is not zero.
    if (fits && isHead(bytes.subarray(at, at + FRAME_HEAD_BYTES))) return true;
  }
  return false;
}

function* rowsIn(payload: Buffer, start: number): Generator<FrameRow, void, undefined> {
  for (let at = 0; at < payload.length;) {
    const keyLength = payload.readUInt16BE(at);
    const valueLength = payload.readUInt32BE(at + 2);
    const keyEnd = at + ROW_HEAD_BYTES + keyLength;
    const key = payload.toString("utf8", at + ROW_HEAD_BYTES, keyEnd);
    const isDeleted = valueLength === DELETED;
    at = isDeleted ? keyEnd : keyEnd + valueLength;
    yield { key, value: isDeleted ? null : payload.subarray(keyEnd, at), at: start + keyEnd };
  }
}

/** Whether a sector of the frame never reached the disk, so that zeros are read for it. */
function lacksSector(payload: Buffer, start: number): boolean {
  for (let at = 0; at < payload.length;) {
    const next = Math.min(payload.length, at + SECTOR - ((start + at) % SECTOR));
    if (next - at >= FEW_ZEROS && isZero(payload.subarray(at, next))) return true;
    at = next;
  }
  return false;
}

function isZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0);
}

/** Fewer bytes where the file ends. */
export function readAt(descriptor: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const read = readSync(descriptor, bytes, filled, length - filled, at + filled);
    if (read === 0) break;
    filled += read;
  }
  return bytes.subarray(0, filled);
}
