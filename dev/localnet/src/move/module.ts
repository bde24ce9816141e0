/** A compiled module, its indices resolved: what the interpreter runs. */
import {
  type FieldJson,
  type InstructionJson,
  type ModuleJson,
  readBytecode,
  type SignatureToken,
} from "./bytecode.ts";
import { type Datatype, type IntegerBits, type MoveType } from "./types.ts";
import { MalformedCodeError } from "./values.ts";

export interface Field {
  readonly name: string;
  readonly type: MoveType;
}

export interface VariantLayout {
  readonly name: string;
  readonly fields: readonly Field[];
}

/** The abilities of a datatype, before its type arguments narrow them. */
export interface Abilities {
  readonly copy: boolean;
  readonly drop: boolean;
  readonly store: boolean;
  readonly key: boolean;
}

export interface DatatypeLayout {
  readonly name: string;
  readonly abilities: Abilities;
  readonly fields: readonly Field[] | null;
  readonly variants: readonly VariantLayout[] | null;
}

export interface FunctionSignature {
  /** `0x` and 64 hex digits, module and name of the function that is meant. */
  readonly address: string;
  readonly module: string;
  readonly name: string;
  readonly parameters: readonly MoveType[];
  readonly returns: readonly MoveType[];
  /** Ability sets that the type arguments must have. */
  readonly typeParameters: readonly number[];
}

export interface MoveFunction extends FunctionSignature {
  readonly index: number;
  readonly visibility: "Private" | "Public" | "Friend";
  readonly isEntry: boolean;
  /** Parameters first. */
  readonly locals: number;
  readonly code: readonly InstructionJson[];
  /** Per jump table, the target of each variant. */
  readonly jumpTables: readonly (readonly number[])[];
}

export interface MoveModule {
  readonly address: string;
  readonly name: string;
  readonly functions: readonly MoveFunction[];
  readonly datatypes: ReadonlyMap<string, DatatypeLayout>;
  readonly handles: readonly FunctionSignature[];
  readonly json: ModuleJson;
  /** Type of a signature token of this module. */
  typeOf(token: SignatureToken): MoveType;
  signature(index: number): readonly MoveType[];
}

export const ABILITY = { copy: 1, drop: 2, store: 4, key: 8 } as const;

const INTEGER_TOKENS: Readonly<Record<string, IntegerBits>> = {
  U8: 8,
  U16: 16,
  U32: 32,
  U64: 64,
  U128: 128,
  U256: 256,
};

/** Takes the element or says that the module is malformed; every index of a module goes through it. */
export function entry<Entry>(list: readonly Entry[], index: number): Entry {
  const found = list[index];
  if (found === undefined) throw new MalformedCodeError("the module names an entry that it does not have");
  return found;
}

/** Reads a compiled module. Throws for bytes that are none. */
export function readModule(bytes: Uint8Array): MoveModule {
  const json = readBytecode(bytes);
  const name = (index: number) => entry(json.identifiers, index);
  const place = (index: number) => {
    const handle = entry(json.module_handles, index);
    return { address: `0x${entry(json.address_identifiers, handle.address)}`, module: name(handle.name) };
  };
  const typeOf = (token: SignatureToken): MoveType =>
    readToken(token, (index) => {
      const handle = entry(json.datatype_handles, index);
      return { kind: "datatype", ...place(handle.module), name: name(handle.name), typeArguments: [] };
    });
  const signature = (index: number) => entry(json.signatures, index).map(typeOf);
  const handles = json.function_handles.map((handle): FunctionSignature => ({
    ...place(handle.module),
    name: name(handle.name),
    parameters: signature(handle.parameters),
    returns: signature(handle.return_),
    typeParameters: handle.type_parameters,
  }));
  const self = place(json.self_module_handle_idx);
  const fields = (list: readonly FieldJson[]) =>
    list.map((field) => ({ name: name(field.name), type: typeOf(field.signature) }));
  const functions = readFunctions(json, handles, signature);
  const datatypes = readDatatypes(json, name, fields);
  return { address: self.address, name: self.module, functions, datatypes, handles, json, typeOf, signature };
}

function readToken(token: SignatureToken, datatype: (index: number) => Datatype): MoveType {
  if (typeof token === "string") {
    const bits = INTEGER_TOKENS[token];
    if (bits !== undefined) return { kind: "integer", bits };
    if (token === "Bool") return { kind: "bool" };
    if (token === "Address") return { kind: "address" };
    if (token === "Signer") return { kind: "signer" };
    throw new MalformedCodeError(`${token} is not a type`);
  }
  const inner = (next: SignatureToken) => readToken(next, datatype);
  if (token.Vector !== undefined) return { kind: "vector", element: inner(token.Vector) };
  if (token.Reference !== undefined) return { kind: "reference", mutable: false, to: inner(token.Reference) };
  if (token.MutableReference !== undefined)
    return { kind: "reference", mutable: true, to: inner(token.MutableReference) };
  if (token.Datatype !== undefined) return datatype(token.Datatype);
  if (token.TypeParameter !== undefined) return { kind: "parameter", index: token.TypeParameter };
  if (token.DatatypeInstantiation !== undefined) {
    const [index, typeArguments] = token.DatatypeInstantiation;
    return { ...datatype(index), typeArguments: typeArguments.map(inner) };
  }
  throw new MalformedCodeError("not a type");
}

function readFunctions(
  json: ModuleJson,
  handles: readonly FunctionSignature[],
  signature: (index: number) => readonly MoveType[],
): MoveFunction[] {
  return json.function_defs.map(({ function: handle, visibility, is_entry, code }, index) => {
    const declared = entry(handles, handle);
    if (code === null) throw new MalformedCodeError(`${declared.name} is native`);
    return {
      ...declared,
      index,
      visibility,
      isEntry: is_entry,
      locals: declared.parameters.length + signature(code.locals).length,
      code: code.code,
      jumpTables: code.jump_tables.map((table) => table.jump_table.Full),
    };
  });
}

function readDatatypes(
  json: ModuleJson,
  name: (index: number) => string,
  fields: (list: readonly FieldJson[]) => Field[],
): Map<string, DatatypeLayout> {
  const of = (index: number) => {
    const handle = entry(json.datatype_handles, index);
    return { name: name(handle.name), abilities: readAbilities(handle.abilities) };
  };
  const layouts: DatatypeLayout[] = [
    ...json.struct_defs.map((definition) => ({
      ...of(definition.struct_handle),
      fields: fields(definition.field_information.Declared),
      variants: null,
    })),
    ...json.enum_defs.map((definition) => ({
      ...of(definition.enum_handle),
      fields: null,
      variants: definition.variants.map((variant) => ({
        name: name(variant.variant_name),
        fields: fields(variant.fields),
      })),
    })),
  ];
  return new Map(layouts.map((layout) => [layout.name, layout]));
}

export function readAbilities(set: number): Abilities {
  const has = (ability: number) => (set & ability) !== 0;
  return { copy: has(ABILITY.copy), drop: has(ABILITY.drop), store: has(ABILITY.store), key: has(ABILITY.key) };
}
