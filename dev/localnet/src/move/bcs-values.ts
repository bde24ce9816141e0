/** Move values as BCS, by their types' layouts. */
import { BcsWriter } from "@mysten/bcs";
import type { Field } from "./module.ts";
import type { Layouts } from "./layouts.ts";
import { type Datatype, type MoveType, renderType } from "./types.ts";
import {
  asAddress,
  asInteger,
  asStruct,
  asVariant,
  asVector,
  bytesValue,
  integer,
  MalformedCodeError,
  type MoveValue,
  type Vector,
} from "./values.ts";

/** Largest value that is written, 16 MiB: objects hold 250 KB. */
const MAX_BYTES = 16 * 1024 * 1024;

export function encodeValue(value: MoveValue, type: MoveType, layouts: Layouts): Uint8Array {
  const writer = new BcsWriter({ initialSize: 1024, maxSize: MAX_BYTES });
  write(writer, value, type, layouts);
  return writer.toBytes();
}

/** Reads the one value that the bytes are. Throws for bytes that are not its canonical form. */
export function decodeValue(bytes: Uint8Array, type: MoveType, layouts: Layouts): MoveValue {
  const reader = new Source(bytes);
  const value = reader.read(type, layouts);
  // Covers bytes that are left over, lengths that are not in their shortest form, and booleans other than 0 and 1.
  if (Buffer.compare(encodeValue(value, type, layouts), bytes) !== 0) {
    throw new Error(`the bytes are not the canonical form of ${renderType(type)}`);
  }
  return value;
}

function write(writer: BcsWriter, value: MoveValue, type: MoveType, layouts: Layouts): void {
  switch (type.kind) {
    case "bool":
      writer.write8(value === true ? 1 : 0);
      return;
    case "integer":
      writeInteger(writer, asInteger(value).value, type.bits / 8);
      return;
    case "address":
    case "signer":
      for (const byte of Buffer.from(asAddress(value).slice(2), "hex")) writer.write8(byte);
      return;
    case "vector": {
      const { items } = asVector(value);
      writer.writeULEB(items.length);
      for (const item of items) write(writer, item, type.element, layouts);
      return;
    }
    case "datatype":
      writeDatatype(writer, value, type, layouts);
      return;
    default:
      throw new MalformedCodeError(`${renderType(type)} has no BCS form`);
  }
}

function writeInteger(writer: BcsWriter, value: bigint, bytes: number): void {
  for (let at = 0n; at < BigInt(bytes); at += 1n) writer.write8(Number((value >> (8n * at)) & 0xffn));
}

function writeDatatype(writer: BcsWriter, value: MoveValue, type: Datatype, layouts: Layouts): void {
  const layout = layouts.layoutOf(type);
  if (layout.fields !== null) {
    writeFields(writer, asStruct(value).fields, layout.fields, layouts);
    return;
  }
  const { tag, fields } = asVariant(value);
  writer.writeULEB(tag);
  writeFields(writer, fields, layout.variants?.[tag]?.fields ?? [], layouts);
}

function writeFields(writer: BcsWriter, values: readonly MoveValue[], fields: readonly Field[], layouts: Layouts) {
  fields.forEach((field, at) => {
    const value = values[at];
    if (value === undefined) throw new MalformedCodeError(`the field ${field.name} is missing`);
    write(writer, value, field.type, layouts);
  });
}

class Source {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  read(type: MoveType, layouts: Layouts): MoveValue {
    switch (type.kind) {
      case "bool":
        return this.#take(1)[0] !== 0;
      case "integer":
        return integer(type.bits, this.#integer(type.bits / 8));
      case "address":
        return `0x${Buffer.from(this.#take(32)).toString("hex")}`;
      case "vector":
        return this.#vector(type.element, layouts);
      case "datatype":
        return this.#datatype(type, layouts);
      default:
        throw new Error(`${renderType(type)} has no BCS form`);
    }
  }

  #integer(bytes: number): bigint {
    const parts = this.#take(bytes);
    return parts.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
  }

  #vector(element: MoveType, layouts: Layouts): Vector {
    const length = this.#length();
    // Every element takes a byte at least: nothing is allocated for a length that the bytes cannot hold.
    if (length > this.#bytes.length - this.#at) throw new Error("a vector is longer than its bytes");
    if (element.kind === "integer" && element.bits === 8) return bytesValue(this.#take(length));
    return { kind: "vector", items: Array.from({ length }, () => this.read(element, layouts)) };
  }

  #datatype(type: Datatype, layouts: Layouts): MoveValue {
    const layout = layouts.layoutOf(type);
    const all = (fields: readonly Field[]) => fields.map((field) => this.read(field.type, layouts));
    if (layout.fields !== null) return { kind: "struct", fields: all(layout.fields) };
    const tag = this.#length();
    const variant = layout.variants?.[tag];
    if (variant === undefined) throw new Error(`${renderType(type)} has no variant ${tag}`);
    return { kind: "variant", tag, fields: all(variant.fields) };
  }

  #take(count: number): Uint8Array {
    if (count > this.#bytes.length - this.#at) throw new Error("the bytes end too early");
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  /** ULEB128 of at most 32 bits. */
  #length(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#take(1)[0] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new Error("a length has more than 32 bits");
  }
}
