/** How datatypes are laid out: those of the modules that run here, and those of the framework that objects are made of. */
import { ABILITY, type Abilities, type DatatypeLayout, type Field, type MoveModule, readAbilities } from "./module.ts";
import {
  type Datatype,
  FRAMEWORK,
  type MoveType,
  parseType,
  renderType,
  STANDARD,
  substitute,
  UnknownTypeError,
} from "./types.ts";

/** Finds modules by package and name; null when there is none. */
export type FindModule = (address: string, name: string) => MoveModule | null;

export interface Layouts {
  /** With type arguments in place. Throws for a datatype that this chain does not have. */
  layoutOf(type: Datatype): DatatypeLayout;
  abilitiesOf(type: MoveType): Abilities;
}

const { copy, drop, store, key } = ABILITY;
const T0: MoveType = { kind: "parameter", index: 0 };
const T1: MoveType = { kind: "parameter", index: 1 };
const UID = `${FRAMEWORK}::object::UID`;
const ID = `${FRAMEWORK}::object::ID`;
const balanceOfT: MoveType = {
  kind: "datatype",
  address: FRAMEWORK,
  module: "balance",
  name: "Balance",
  typeArguments: [T0],
};

/** Public definitions of the Sui framework and the Move standard library: abilities, then fields in order. */
const FRAMEWORK_LAYOUTS: Readonly<Record<string, readonly [number, Readonly<Record<string, string | MoveType>>]>> = {
  [`${STANDARD}::option::Option`]: [copy | drop | store, { vec: { kind: "vector", element: T0 } }],
  [`${STANDARD}::string::String`]: [copy | drop | store, { bytes: "vector<u8>" }],
  [`${STANDARD}::ascii::String`]: [copy | drop | store, { bytes: "vector<u8>" }],
  [ID]: [copy | drop | store, { bytes: "address" }],
  [UID]: [store, { id: ID }],
  [`${FRAMEWORK}::sui::SUI`]: [drop, { dummy_field: "bool" }],
  [`${FRAMEWORK}::balance::Balance`]: [store, { value: "u64" }],
  [`${FRAMEWORK}::coin::Coin`]: [key | store, { id: UID, balance: balanceOfT }],
  [`${FRAMEWORK}::clock::Clock`]: [key, { id: UID, timestamp_ms: "u64" }],
  [`${FRAMEWORK}::package::UpgradeCap`]: [key | store, { id: UID, package: ID, version: "u64", policy: "u8" }],
  [`${FRAMEWORK}::dynamic_field::Field`]: [key, { id: UID, name: T0, value: T1 }],
};

const NO_REFERENCE: Abilities = { copy: true, drop: true, store: true, key: false };
const OF_REFERENCE: Abilities = { copy: true, drop: true, store: false, key: false };

export function layoutsOf(findModule: FindModule): Layouts {
  const declared = (type: Datatype): DatatypeLayout => {
    const found = findModule(type.address, type.module)?.datatypes.get(type.name) ?? frameworkLayout(type);
    if (found === null) throw new UnknownTypeError(`this chain does not know the type ${renderType(type)}`);
    return found;
  };
  const abilitiesOf = (type: MoveType): Abilities => {
    if (type.kind === "reference") return OF_REFERENCE;
    if (type.kind === "signer") return { copy: false, drop: true, store: false, key: false };
    if (type.kind === "vector") return { ...abilitiesOf(type.element), key: false };
    if (type.kind !== "datatype") return NO_REFERENCE;
    const own = declared(type).abilities;
    if (own.key) return own;
    const inner = type.typeArguments.map(abilitiesOf);
    const all = (ability: keyof Abilities) => own[ability] && inner.every((abilities) => abilities[ability]);
    return { copy: all("copy"), drop: all("drop"), store: all("store"), key: own.key };
  };
  const inPlace = (fields: readonly Field[], type: Datatype) =>
    fields.map((field) => ({ name: field.name, type: substitute(field.type, type.typeArguments) }));
  // An object holds thousands of values of one type.
  const known = new Map<string, DatatypeLayout>();
  const layoutOf = (type: Datatype) => {
    const text = renderType(type);
    const found = known.get(text);
    if (found !== undefined) return found;
    const layout = declared(type);
    const variants = layout.variants?.map((variant) => ({ ...variant, fields: inPlace(variant.fields, type) }));
    const placed = { ...layout, fields: layout.fields && inPlace(layout.fields, type), variants: variants ?? null };
    // Types come from transactions as well: no memory is kept for as many as somebody makes up.
    if (known.size < 1000) known.set(text, placed);
    return placed;
  };
  return { abilitiesOf, layoutOf };
}

function frameworkLayout(type: Datatype): DatatypeLayout | null {
  const [abilities, fields] = FRAMEWORK_LAYOUTS[`${type.address}::${type.module}::${type.name}`] ?? [];
  if (abilities === undefined || fields === undefined) return null;
  return {
    name: type.name,
    abilities: readAbilities(abilities),
    variants: null,
    fields: Object.entries(fields).map(([name, of]) => ({ name, type: typeof of === "string" ? parseType(of) : of })),
  };
}
