/** Move types as the interpreter holds them, and their text form. */
import { TypeTagSerializer } from "@mysten/sui/bcs";
import type { bcs } from "@mysten/sui/bcs";
import { normalizeSuiAddress } from "@mysten/sui/utils";

export type IntegerBits = 8 | 16 | 32 | 64 | 128 | 256;

export interface Datatype {
  readonly kind: "datatype";
  /** `0x` and 64 hex digits. */
  readonly address: string;
  readonly module: string;
  readonly name: string;
  readonly typeArguments: readonly MoveType[];
}

export type MoveType =
  | { readonly kind: "bool" | "address" | "signer" }
  | { readonly kind: "integer"; readonly bits: IntegerBits }
  | { readonly kind: "vector"; readonly element: MoveType }
  | Datatype
  | { readonly kind: "reference"; readonly mutable: boolean; readonly to: MoveType }
  | { readonly kind: "parameter"; readonly index: number };

type TypeTag = ReturnType<typeof TypeTagSerializer.parseFromStr>;

const INTEGERS: Readonly<Record<string, IntegerBits>> = { u8: 8, u16: 16, u32: 32, u64: 64, u128: 128, u256: 256 };
/** As deep as a type may nest; deeper ones only come from those who want to overflow the stack. */
const MAX_DEPTH = 16;

/** A type that is none, or that this chain has no layout for. */
export class UnknownTypeError extends Error {
  override readonly name = "UnknownTypeError";
}

/** Parses the text form, such as `vector<u8>` or `0x2::coin::Coin<0x2::sui::SUI>`. Throws {@link UnknownTypeError} for anything else. */
export function parseType(text: string): MoveType {
  if (text.length > 1000) throw new UnknownTypeError("the type's name is too long");
  try {
    return fromTag(TypeTagSerializer.parseFromStr(text, true), 0);
  } catch (cause) {
    throw new UnknownTypeError("the type's name cannot be read", { cause });
  }
}

function fromTag(tag: TypeTag, depth: number): MoveType {
  if (depth > MAX_DEPTH) throw new Error("the type is nested too deep");
  if ("vector" in tag) return { kind: "vector", element: fromTag(tag.vector, depth + 1) };
  if ("struct" in tag) {
    const { address, module, name, typeParams } = tag.struct;
    const typeArguments = typeParams.map((inner) => fromTag(inner, depth + 1));
    return { kind: "datatype", address: normalizeSuiAddress(address), module, name, typeArguments };
  }
  const [name = ""] = Object.keys(tag).filter((key) => key !== "$kind");
  const bits = INTEGERS[name];
  if (bits !== undefined) return { kind: "integer", bits };
  if (name === "bool" || name === "address" || name === "signer") return { kind: name };
  throw new Error(`${name} is not a type`);
}

/** The canonical text form: addresses with all 64 digits. Equal types have equal texts. */
export function renderType(type: MoveType): string {
  switch (type.kind) {
    case "integer":
      return `u${type.bits}`;
    case "vector":
      return `vector<${renderType(type.element)}>`;
    case "datatype": {
      const inner = type.typeArguments.length === 0 ? "" : `<${type.typeArguments.map(renderType).join(",")}>`;
      return `${type.address}::${type.module}::${type.name}${inner}`;
    }
    case "reference":
      return `${type.mutable ? "&mut " : "&"}${renderType(type.to)}`;
    case "parameter":
      return `T${type.index}`;
    default:
      return type.kind;
  }
}

/** The struct tag of a datatype, for BCS. */
export function structTagOf(type: Datatype): typeof bcs.StructTag.$inferInput {
  const tag = TypeTagSerializer.parseFromStr(renderType(type), true);
  if (!("struct" in tag)) throw new Error("not a struct");
  return tag.struct;
}

/** Puts type arguments in the place of type parameters. */
export function substitute(type: MoveType, typeArguments: readonly MoveType[]): MoveType {
  switch (type.kind) {
    case "parameter": {
      const argument = typeArguments[type.index];
      if (argument === undefined) throw new Error("a type argument is missing");
      return argument;
    }
    case "vector":
      return { kind: "vector", element: substitute(type.element, typeArguments) };
    case "reference":
      return { ...type, to: substitute(type.to, typeArguments) };
    case "datatype":
      if (type.typeArguments.length === 0) return type;
      return { ...type, typeArguments: type.typeArguments.map((inner) => substitute(inner, typeArguments)) };
    default:
      return type;
  }
}

export function isDatatype(type: MoveType, address: string, module: string, name: string): type is Datatype {
  return type.kind === "datatype" && type.address === address && type.module === module && type.name === name;
}

export const STANDARD = normalizeSuiAddress("0x1");
export const FRAMEWORK = normalizeSuiAddress("0x2");
