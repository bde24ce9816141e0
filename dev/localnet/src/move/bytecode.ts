/** The JSON that `@mysten/move-bytecode-template` makes of a compiled module (Move bytecode version 7). */
import { deserialize, serialize } from "@mysten/move-bytecode-template";

export type SignatureToken =
  | string
  | {
      readonly Vector?: SignatureToken;
      readonly Reference?: SignatureToken;
      readonly MutableReference?: SignatureToken;
      readonly Datatype?: number;
      readonly DatatypeInstantiation?: readonly [number, readonly SignatureToken[]];
      readonly TypeParameter?: number;
    };

export interface FieldJson {
  readonly name: number;
  readonly signature: SignatureToken;
}

/** An opcode alone, or with its operand. */
export type InstructionJson = string | Readonly<Record<string, Operand>>;
export type Operand = number | bigint | readonly (number | bigint)[];

export interface FunctionJson {
  readonly function: number;
  readonly visibility: "Private" | "Public" | "Friend";
  readonly is_entry: boolean;
  readonly code: {
    readonly locals: number;
    readonly code: readonly InstructionJson[];
    readonly jump_tables: readonly { readonly jump_table: { readonly Full: readonly number[] } }[];
  } | null;
}

interface Instantiation {
  readonly type_parameters: number;
}

export interface ModuleJson {
  readonly self_module_handle_idx: number;
  readonly module_handles: readonly { readonly address: number; readonly name: number }[];
  readonly datatype_handles: readonly {
    readonly module: number;
    readonly name: number;
    readonly abilities: number;
    readonly type_parameters: readonly { readonly constraints: number; readonly is_phantom: boolean }[];
  }[];
  readonly function_handles: readonly {
    readonly module: number;
    readonly name: number;
    readonly parameters: number;
    readonly return_: number;
    readonly type_parameters: readonly number[];
  }[];
  readonly field_handles: readonly { readonly owner: number; readonly field: number }[];
  readonly struct_def_instantiations: readonly (Instantiation & { readonly def: number })[];
  readonly function_instantiations: readonly (Instantiation & { readonly handle: number })[];
  readonly field_instantiations: readonly (Instantiation & { readonly handle: number })[];
  readonly signatures: readonly (readonly SignatureToken[])[];
  readonly identifiers: readonly string[];
  address_identifiers: string[];
  readonly constant_pool: readonly { readonly type_: SignatureToken; readonly data: readonly number[] }[];
  readonly struct_defs: readonly {
    readonly struct_handle: number;
    readonly field_information: { readonly Declared: readonly FieldJson[] };
  }[];
  readonly function_defs: readonly FunctionJson[];
  readonly enum_defs: readonly {
    readonly enum_handle: number;
    readonly variants: readonly { readonly variant_name: number; readonly fields: readonly FieldJson[] }[];
  }[];
  readonly enum_def_instantiations: readonly (Instantiation & { readonly def: number })[];
  readonly variant_handles: readonly { readonly enum_def: number; readonly variant: number }[];
  readonly variant_instantiation_handles: readonly { readonly enum_def: number; readonly variant: number }[];
}

/** Reads the binary format. Throws for bytes that are no module. The shape is that of the pinned version of the package. */
export function readBytecode(bytes: Uint8Array): ModuleJson {
  return deserialize(bytes) as ModuleJson;
}

/** The module as a chain stores it: its own address, zero until then, is that of its package. */
export function placeModule(bytes: Uint8Array, packageId: string): Uint8Array {
  const json = readBytecode(bytes);
  const self = json.module_handles[json.self_module_handle_idx]?.address ?? 0;
  json.address_identifiers = json.address_identifiers.map((address, at) =>
    at === self ? packageId.slice(2) : address,
  );
  return serialize(json);
}
