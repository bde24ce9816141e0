/** Move values as JSON, the way Sui's gRPC renders objects and events: large integers as text, bytes in base64. */
import type { GrpcTypes } from "@mysten/sui/grpc";
import { decodeValue } from "../move/bcs-values.ts";
import type { Layouts } from "../move/layouts.ts";
import type { Field } from "../move/module.ts";
import { type Datatype, FRAMEWORK, isDatatype, type MoveType, STANDARD } from "../move/types.ts";
import { asAddress, asInteger, asStruct, asVariant, asVector, type MoveValue } from "../move/values.ts";

export type JsonValue = NonNullable<GrpcTypes.Object["json"]>;

/** The enum of the one null value is not exported; zero is its number. */
const NULL = JSON.parse('{ "kind": { "oneofKind": "nullValue", "nullValue": 0 } }') as JsonValue;

/** Undefined for a type that has no layout here. */
export function jsonOf(contents: Uint8Array, type: Datatype, layouts: Layouts): JsonValue | undefined {
  try {
    return toJson(decodeValue(contents, type, layouts), type, layouts);
  } catch {
    return undefined;
  }
}

function toJson(value: MoveValue, type: MoveType, layouts: Layouts): JsonValue {
  switch (type.kind) {
    case "bool":
      return { kind: { oneofKind: "boolValue", boolValue: value === true } };
    case "integer": {
      const { value: number } = asInteger(value);
      if (type.bits <= 32) return { kind: { oneofKind: "numberValue", numberValue: Number(number) } };
      return text(String(number));
    }
    case "address":
      return text(asAddress(value));
    case "vector":
      return vectorJson(asVector(value).items, type.element, layouts);
    case "datatype":
      return datatypeJson(value, type, layouts);
    default:
      throw new Error("a reference has no JSON form");
  }
}

function vectorJson(items: readonly MoveValue[], element: MoveType, layouts: Layouts): JsonValue {
  if (element.kind === "integer" && element.bits === 8) {
    return text(Buffer.from(items.map((item) => Number(asInteger(item).value))).toString("base64"));
  }
  const values = items.map((item) => toJson(item, element, layouts));
  return { kind: { oneofKind: "listValue", listValue: { values } } };
}

function datatypeJson(value: MoveValue, type: Datatype, layouts: Layouts): JsonValue {
  const layout = layouts.layoutOf(type);
  if (layout.fields === null) {
    const { tag, fields } = asVariant(value);
    const variant = layout.variants?.[tag];
    return fieldsJson(fields, variant?.fields ?? [], layouts, { "@variant": text(variant?.name ?? "") });
  }
  const { fields } = asStruct(value);
  const [first] = fields;
  if (first !== undefined && isTransparent(type)) return toJson(first, layout.fields[0]?.type ?? type, layouts);
  if (first !== undefined && isDatatype(type, STANDARD, "option", "Option")) {
    const [some] = asVector(first).items;
    const [inner] = type.typeArguments;
    return some === undefined || inner === undefined ? NULL : toJson(some, inner, layouts);
  }
  return fieldsJson(fields, layout.fields, layouts, {});
}

/** Ids are rendered as what they hold. */
function isTransparent(type: Datatype): boolean {
  return isDatatype(type, FRAMEWORK, "object", "UID") || isDatatype(type, FRAMEWORK, "object", "ID");
}

function fieldsJson(
  values: readonly MoveValue[],
  fields: readonly Field[],
  layouts: Layouts,
  others: Record<string, JsonValue>,
): JsonValue {
  const entries = fields.map((field, at) => [field.name, toJson(values[at] ?? false, field.type, layouts)] as const);
  return { kind: { oneofKind: "structValue", structValue: { fields: { ...others, ...Object.fromEntries(entries) } } } };
}

function text(stringValue: string): JsonValue {
  return { kind: { oneofKind: "stringValue", stringValue } };
}
