/** What each instruction pushes and pops, for {@link GasMeter}. */
import { entry } from "./module.ts";
import type { Operand } from "./bytecode.ts";
import type { Frame } from "./frame.ts";
import type { Charge } from "./gas-meter.ts";
import { indexOf, pairOf } from "./instructions/operands.ts";
import { asStruct, asVariant, MalformedCodeError, type MoveValue, referent } from "./values.ts";

type Cost = Charge | ((frame: Frame, operand: Operand) => Charge);

const REFERENCE_BYTES = 8;
const STRUCT_BYTES = 2;
const VECTOR_BYTES = 8;
const ADDRESS_BYTES = 32;
/** Gas for a value of its own; in a vector an integer or boolean takes what its type takes. */
const PRIMITIVE_BYTES = 8;

const fixed = (pushes: number, pops: number, bytes: number): Charge => ({ pushes, pops, bytes });
const NOTHING = fixed(0, 0, 0);
/** The tables count one byte for any value whose width they do not look at. */
const LOAD = fixed(1, 0, 1);
const CONVERSION = fixed(1, 1, 1);
const OPERATION = fixed(1, 2, 1);
const BORROW_PLACE = fixed(1, 0, REFERENCE_BYTES);
const BORROW_WITHIN = fixed(1, 1, REFERENCE_BYTES);
const BORROW_ELEMENT = fixed(1, 2, REFERENCE_BYTES);

const pack = (fields: number): Charge => fixed(1, fields, STRUCT_BYTES);
const unpack = (fields: number): Charge => fixed(fields, 1, 0);
const top = (frame: Frame, below = 0): MoveValue => entry(frame.stack, frame.stack.length - 1 - below);
const packedFields = (frame: Frame, definition: number): Charge =>
  pack(entry(frame.module.json.struct_defs, definition).field_information.Declared.length);
/** Which variant a generic or a plain handle means has no price of its own: its fields have. */
const packVariant: Cost = (frame, operand) => {
  const { enum_def, variant } = entry(frame.module.json.variant_handles, indexOf(operand));
  return pack(entry(entry(frame.module.json.enum_defs, enum_def).variants, variant).fields.length);
};
const unpackVariant: Cost = (frame) => unpack(asVariant(top(frame)).fields.length);
const unpackReferred: Cost = (frame) => unpack(asVariant(referent(top(frame))).fields.length);
const unpackStruct: Cost = (frame) => unpack(asStruct(top(frame)).fields.length);
const compare: Cost = (frame) => fixed(1, 2, 1 + bytesOf(top(frame), true) + bytesOf(top(frame, 1), true));
/** What a call pops; its results are pushed by the instructions that made them. */
const call = (parameters: number): Charge => fixed(0, parameters, 0);

const COSTS: Readonly<Record<string, Cost>> = {
  ...all(["Nop", "Ret", "Branch"], NOTHING),
  ...all(["BrTrue", "BrFalse", "Pop", "StLoc", "Abort", "VariantSwitch"], fixed(0, 1, 0)),
  ...all(["LdU8", "LdU16", "LdU32", "LdU64", "LdU128", "LdU256", "LdTrue", "LdFalse"], LOAD),
  ...all(["CastU8", "CastU16", "CastU32", "CastU64", "CastU128", "CastU256", "Not", "VecLen"], CONVERSION),
  ...all(["Add", "Sub", "Mul", "Div", "Mod", "BitOr", "BitAnd", "Xor", "Shl", "Shr"], OPERATION),
  ...all(["Or", "And", "Lt", "Gt", "Le", "Ge"], OPERATION),
  ...all(["Eq", "Neq"], compare),
  ...all(["ImmBorrowLoc", "MutBorrowLoc", "MoveLoc"], BORROW_PLACE),
  ...all(["FreezeRef", "ImmBorrowField", "MutBorrowField"], BORROW_WITHIN),
  ...all(["ImmBorrowFieldGeneric", "MutBorrowFieldGeneric"], BORROW_WITHIN),
  ...all(["VecImmBorrow", "VecMutBorrow"], BORROW_ELEMENT),
  ...all(["Unpack", "UnpackGeneric"], unpackStruct),
  ...all(["UnpackVariant", "UnpackVariantGeneric"], unpackVariant),
  ...all(["UnpackVariantImmRef", "UnpackVariantMutRef"], unpackReferred),
  ...all(["UnpackVariantGenericImmRef", "UnpackVariantGenericMutRef"], unpackReferred),
  ...all(["PackVariant", "PackVariantGeneric"], packVariant),
  LdConst: (frame, operand) => fixed(1, 0, entry(frame.module.json.constant_pool, indexOf(operand)).data.length),
  CopyLoc: (frame, operand) => fixed(1, 0, bytesOf(frame.local(indexOf(operand)), false)),
  ReadRef: (frame) => fixed(1, 1, bytesOf(referent(top(frame)), true)),
  WriteRef: (frame) => fixed(1, 2, bytesOf(top(frame, 1), false)),
  Pack: (frame, operand) => packedFields(frame, indexOf(operand)),
  PackGeneric: (frame, operand) =>
    packedFields(frame, entry(frame.module.json.struct_def_instantiations, indexOf(operand)).def),
  Call: (frame, operand) => call(entry(frame.module.handles, indexOf(operand)).parameters.length),
  CallGeneric: (frame, operand) => {
    const { handle } = entry(frame.module.json.function_instantiations, indexOf(operand));
    return call(entry(frame.module.handles, handle).parameters.length);
  },
  VecPack: (_frame, operand) => fixed(1, pairOf(operand).count, VECTOR_BYTES),
  VecUnpack: (_frame, operand) => unpack(pairOf(operand).count),
  VecPushBack: fixed(0, 2, 0),
  VecPopBack: fixed(1, 1, 0),
  VecSwap: fixed(1, 1, 0),
};

/** Cost of the frame's next instruction. */
export function costOf(frame: Frame, opcode: string, operand: Operand): Charge {
  const cost = COSTS[opcode];
  if (cost === undefined) throw new MalformedCodeError(`the opcode ${opcode} has no price here`);
  return typeof cost === "function" ? cost(frame, operand) : cost;
}

/** The abstract size of a value, behind references as well where `follow` is set. */
export function bytesOf(value: MoveValue, follow: boolean): number {
  if (typeof value === "boolean") return PRIMITIVE_BYTES;
  if (typeof value === "string") return ADDRESS_BYTES;
  switch (value.kind) {
    case "integer":
      return Math.max(PRIMITIVE_BYTES, value.bits / 8);
    case "reference":
      return REFERENCE_BYTES + (follow ? bytesOf(referent(value), follow) : 0);
    case "vector":
      return value.items.reduce((sum, item) => sum + elementBytes(item, follow), STRUCT_BYTES);
    default:
      return value.fields.reduce((sum, field) => sum + bytesOf(field, follow), STRUCT_BYTES);
  }
}

function elementBytes(item: MoveValue, follow: boolean): number {
  if (typeof item === "boolean") return 1;
  return typeof item === "object" && item.kind === "integer" ? item.bits / 8 : bytesOf(item, follow);
}

function all(opcodes: readonly string[], cost: Cost): Record<string, Cost> {
  return Object.fromEntries(opcodes.map((opcode) => [opcode, cost]));
}
