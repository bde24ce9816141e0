/** Fixed fields, one after the other, integers big endian: the layout of everything signed and bound (file-format §6). */
import { copyBytes, encodeText, encodeU16, encodeU64 } from "./bytes.ts";

const MAX_U64 = (1n << 64n) - 1n;

/** `title` ‖ 00: the beginning of every context and of everything signed, so that nobody can confuse two kinds. */
export function titleBytes(title: string): Uint8Array {
  const encoded = titles.get(title) ?? encodeText(`${title}\0`);
  titles.set(title, encoded);
  return encoded;
}

/** All titles are this package's own. Nobody changes their bytes: they are copied into what begins with them. */
const titles = new Map<string, Uint8Array>();

export function u8(value: number): Uint8Array {
  return Uint8Array.of(inRange(value, 0xffn));
}

export function u16(value: number): Uint8Array {
  return encodeU16(inRange(value, 0xffffn));
}

/** A bigint, or a safe integer. Throws RangeError for a value outside 64 bits without a sign. */
export function u64(value: bigint | number): Uint8Array {
  if (typeof value === "bigint" ? value < 0n || value > MAX_U64 : !Number.isSafeInteger(value) || value < 0)
    throw new RangeError("not an integer of 64 bits");
  return encodeU64(value);
}

function inRange(value: number, highest: bigint): number {
  if (!Number.isSafeInteger(value) || value < 0 || BigInt(value) > highest)
    throw new RangeError(`not an integer from 0 to ${highest.toString()}`);
  return value;
}

/** The field itself, if it has its length: the caller's values are checked before they are signed. */
export function sized(field: Uint8Array, bytes: number, name: string): Uint8Array {
  if (field.length !== bytes) throw new RangeError(`${name} must be ${bytes} bytes, not ${field.length}`);
  return field;
}

export function isZero(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (byte !== 0) return false;
  return true;
}

/**
 * Reads fields in order. They lie in one copy of the bytes: nobody can change a parsed field through the buffer it came
 * in. A copy of each field would cost a memory of its own.
 */
export class FieldReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = copyBytes(bytes);
    this.#view = new DataView(this.#bytes.buffer);
  }

  /** The copy that all fields lie in. */
  get whole(): Uint8Array {
    return this.#bytes;
  }

  get remaining(): number {
    return this.#bytes.length - this.#offset;
  }

  /** Throws RangeError beyond the end: parsers check lengths first. */
  read(length: number): Uint8Array {
    const from = this.#pass(length);
    return this.#bytes.subarray(from, this.#offset);
  }

  readU8(): number {
    const at = this.#pass(1);
    return this.#bytes[at] ?? 0;
  }

  readU16(): number {
    return this.#view.getUint16(this.#pass(2));
  }

  readU64(): bigint {
    return this.#view.getBigUint64(this.#pass(8));
  }

  /** Skips `length` bytes; returns where they begin. */
  #pass(length: number): number {
    if (length > this.remaining) throw new RangeError("the fields end early");
    const from = this.#offset;
    this.#offset += length;
    return from;
  }
}
