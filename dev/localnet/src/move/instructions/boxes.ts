/** Structs, enums and vectors. */
import { MovePrimitiveError } from "../errors.ts";
import { entry } from "../module.ts";
import {
  asInteger,
  asStruct,
  asVariant,
  asVector,
  integer,
  type MoveValue,
  referent,
  type Variant,
  type Vector,
} from "../values.ts";
import { indexOf, pairOf } from "./operands.ts";
import type { Frame, Step } from "../frame.ts";

/** How many fields a struct definition has. */
function fieldCount(frame: Frame, definition: number): number {
  return entry(frame.module.json.struct_defs, definition).field_information.Declared.length;
}

function pack(frame: Frame, definition: number): void {
  frame.stack.push({ kind: "struct", fields: frame.popMany(fieldCount(frame, definition)) });
}

const unpack: Step = (frame) => void frame.stack.push(...asStruct(frame.pop()).fields);

function borrowField(frame: Frame, handle: number): void {
  const { field } = entry(frame.module.json.field_handles, handle);
  frame.stack.push({ kind: "reference", box: asStruct(referent(frame.pop())).fields, at: field });
}

const borrowPlainField: Step = (frame, operand) => borrowField(frame, indexOf(operand));
const borrowGenericField: Step = (frame, operand) =>
  borrowField(frame, entry(frame.module.json.field_instantiations, indexOf(operand)).handle);

function packVariant(frame: Frame, definition: number, tag: number): void {
  const { fields } = entry(entry(frame.module.json.enum_defs, definition).variants, tag);
  frame.stack.push({ kind: "variant", tag, fields: frame.popMany(fields.length) });
}

/** Which variant a handle means; a generic one names an instantiation of the enum. */
function variantOf(frame: Frame, index: number, isGeneric: boolean) {
  const { json } = frame.module;
  if (!isGeneric) return entry(json.variant_handles, index);
  const { enum_def, variant } = entry(json.variant_instantiation_handles, index);
  return { enum_def: entry(json.enum_def_instantiations, enum_def).def, variant };
}

const packsVariant =
  (isGeneric: boolean): Step =>
  (frame, operand) => {
    const { enum_def, variant } = variantOf(frame, indexOf(operand), isGeneric);
    packVariant(frame, enum_def, variant);
  };

const unpacksVariant =
  (isGeneric: boolean, byReference: boolean): Step =>
  (frame, operand) => {
    const { variant } = variantOf(frame, indexOf(operand), isGeneric);
    const popped = frame.pop();
    const value = matching(asVariant(byReference ? referent(popped) : popped), variant);
    value.fields.forEach((field, at) => {
      frame.stack.push(byReference ? { kind: "reference", box: value.fields, at } : field);
    });
  };

function matching(value: Variant, tag: number): Variant {
  if (value.tag !== tag) throw new MovePrimitiveError("the value is of another variant");
  return value;
}

const borrowElement: Step = (frame) => {
  const index = asInteger(frame.pop()).value;
  const { items } = asVector(referent(frame.pop()));
  frame.stack.push({ kind: "reference", box: items, at: within(items, index) });
};

function within(items: readonly MoveValue[], index: bigint): number {
  if (index >= BigInt(items.length)) throw new MovePrimitiveError("the index is outside of the vector");
  return Number(index);
}

function swap(frame: Frame): void {
  const b = asInteger(frame.pop()).value;
  const a = asInteger(frame.pop()).value;
  const { items } = asVector(referent(frame.pop()));
  const [first, second] = [within(items, a), within(items, b)];
  [items[first], items[second]] = [entry(items, second), entry(items, first)];
}

function popBack({ items }: Vector): MoveValue {
  const last = items.pop();
  if (last === undefined) throw new MovePrimitiveError("the vector is empty");
  return last;
}

export const BOX_INSTRUCTIONS: Readonly<Record<string, Step>> = {
  Pack: (frame, operand) => pack(frame, indexOf(operand)),
  PackGeneric: (frame, operand) =>
    pack(frame, entry(frame.module.json.struct_def_instantiations, indexOf(operand)).def),
  Unpack: unpack,
  UnpackGeneric: unpack,
  ImmBorrowField: borrowPlainField,
  MutBorrowField: borrowPlainField,
  ImmBorrowFieldGeneric: borrowGenericField,
  MutBorrowFieldGeneric: borrowGenericField,
  PackVariant: packsVariant(false),
  PackVariantGeneric: packsVariant(true),
  UnpackVariant: unpacksVariant(false, false),
  UnpackVariantImmRef: unpacksVariant(false, true),
  UnpackVariantMutRef: unpacksVariant(false, true),
  UnpackVariantGeneric: unpacksVariant(true, false),
  UnpackVariantGenericImmRef: unpacksVariant(true, true),
  UnpackVariantGenericMutRef: unpacksVariant(true, true),
  VecPack: (frame, operand) => frame.stack.push({ kind: "vector", items: frame.popMany(pairOf(operand).count) }),
  VecUnpack: (frame, operand) => {
    const { items } = asVector(frame.pop());
    if (items.length !== pairOf(operand).count) throw new MovePrimitiveError("the vector is of another length");
    frame.stack.push(...items);
  },
  VecLen: (frame) => frame.stack.push(integer(64, BigInt(asVector(referent(frame.pop())).items.length))),
  VecImmBorrow: borrowElement,
  VecMutBorrow: borrowElement,
  VecPushBack: (frame) => {
    const value = frame.pop();
    asVector(referent(frame.pop())).items.push(value);
  },
  VecPopBack: (frame) => frame.stack.push(popBack(asVector(referent(frame.pop())))),
  VecSwap: swap,
};
