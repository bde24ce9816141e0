/** Objects as the chain keeps them: their BCS form is their only form on disk, and what their digest is over. */
import { toBase58 } from "@mysten/bcs";
import { bcs } from "@mysten/sui/bcs";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import { blake2b } from "@noble/hashes/blake2.js";
import type { ChainObject, ObjectOwner } from "../chain-access.ts";
import {
  type Datatype,
  FRAMEWORK,
  isDatatype,
  type MoveType,
  parseType,
  renderType,
  structTagOf,
} from "../move/types.ts";

export type ObjectData =
  /** `hasPublicTransfer` is whether the type has `store`. */
  | {
      readonly kind: "move";
      readonly type: Datatype;
      readonly hasPublicTransfer: boolean;
      readonly contents: Uint8Array;
    }
  | {
      readonly kind: "package";
      readonly modules: ReadonlyMap<string, Uint8Array>;
      /** `module::Type` of every datatype. */
      readonly datatypes: readonly string[];
    };

export interface StoredObject {
  readonly id: string;
  readonly version: bigint;
  readonly owner: ObjectOwner;
  readonly previousTransaction: string;
  readonly storageRebate: bigint;
  readonly data: ObjectData;
  /** Base58. */
  readonly digest: string;
  readonly bcs: Uint8Array;
}

export type NewObject = Omit<StoredObject, "digest" | "bcs">;

export const SUI: Datatype = { kind: "datatype", address: FRAMEWORK, module: "sui", name: "SUI", typeArguments: [] };
export const COIN_OF_SUI = coinOf(SUI);

export function coinOf(type: MoveType): Datatype {
  return { kind: "datatype", address: FRAMEWORK, module: "coin", name: "Coin", typeArguments: [type] };
}

export function isCoin(type: MoveType): type is Datatype {
  return isDatatype(type, FRAMEWORK, "coin", "Coin");
}

/** A coin's contents are its id and its value. */
export function balanceOf(object: StoredObject): bigint {
  if (object.data.kind !== "move" || !isCoin(object.data.type)) return 0n;
  return Buffer.from(object.data.contents).readBigUInt64LE(32);
}

export function coinContents(id: string, value: bigint): Uint8Array {
  const contents = Buffer.alloc(40);
  contents.write(id.slice(2), "hex");
  contents.writeBigUInt64LE(value, 32);
  return new Uint8Array(contents);
}

/** BLAKE2b-256 of a name and what follows it: how Sui hashes what it signs and stores. */
export function hashOf(name: string, bytes: Uint8Array): Uint8Array {
  return blake2b(Buffer.concat([Buffer.from(`${name}::`), bytes]), { dkLen: 32 });
}

/** The id of the n-th thing that a transaction makes. */
export function deriveId(transactionDigest: Uint8Array, count: number): string {
  const suffix = Buffer.alloc(8);
  suffix.writeBigUInt64LE(BigInt(count));
  const hash = blake2b(Buffer.concat([Buffer.from([0xf1]), transactionDigest, suffix]), { dkLen: 32 });
  return `0x${Buffer.from(hash).toString("hex")}`;
}

export function makeObject(object: NewObject): StoredObject {
  const bytes = bcs.Object.serialize({
    data: dataToBcs(object),
    owner: ownerToBcs(object.owner),
    previousTransaction: object.previousTransaction,
    storageRebate: object.storageRebate,
  }).toBytes();
  return { ...object, bcs: bytes, digest: toBase58(hashOf("Object", bytes)) };
}

/** Reads what {@link makeObject} wrote. */
export function readObject(bytes: Uint8Array): StoredObject {
  const { data, owner, previousTransaction, storageRebate } = bcs.Object.parse(bytes);
  const rest = { owner: ownerFromBcs(owner), previousTransaction, storageRebate: BigInt(storageRebate) };
  const stored = { ...rest, bcs: bytes, digest: toBase58(hashOf("Object", bytes)) };
  if (data.$kind === "Package") {
    const { id, version, moduleMap, typeOriginTable } = data.Package;
    const modules = new Map([...moduleMap].map(([name, module]) => [name, Uint8Array.from(module)]));
    const datatypes = typeOriginTable.map((origin) => `${origin.moduleName}::${origin.datatypeName}`);
    return { ...stored, id, version: BigInt(version), data: { kind: "package", modules, datatypes } };
  }
  const { type, hasPublicTransfer, version, contents: list } = data.Move;
  const contents = Uint8Array.from(list);
  const id = `0x${Buffer.from(contents.subarray(0, 32)).toString("hex")}`;
  const moved = { kind: "move", type: typeFromBcs(type), hasPublicTransfer, contents } as const;
  return { ...stored, id, version: BigInt(version), data: moved };
}

function dataToBcs({ id, version, data }: NewObject): typeof bcs.Data.$inferInput {
  if (data.kind === "move") {
    const { type, hasPublicTransfer, contents } = data;
    return { Move: { type: typeToBcs(type), hasPublicTransfer, version, contents } };
  }
  const origins = data.datatypes.map((name) => {
    const [moduleName = "", datatypeName = ""] = name.split("::");
    return { moduleName, datatypeName, package: id };
  });
  const linkage = ["0x1", "0x2"].map((framework) => {
    const upgradedId = normalizeSuiAddress(framework);
    return [upgradedId, { upgradedId, upgradedVersion: 1n }] as const;
  });
  return {
    Package: {
      id,
      version,
      moduleMap: new Map([...data.modules].map(([name, module]) => [name, module])),
      typeOriginTable: origins,
      linkageTable: new Map(linkage),
    },
  };
}

type MoveObjectType = typeof bcs.MoveObjectType.$inferType;

/** Coins have short forms. */
function typeToBcs(type: Datatype): typeof bcs.MoveObjectType.$inferInput {
  const [inner] = type.typeArguments;
  if (!isCoin(type) || inner === undefined) return { Other: structTagOf(type) };
  return renderType(inner) === renderType(SUI) ? { GasCoin: true } : { Coin: renderType(inner) };
}

function typeFromBcs(type: MoveObjectType): Datatype {
  if (type.$kind === "GasCoin") return COIN_OF_SUI;
  if (type.$kind === "Coin") return coinOf(parseType(type.Coin));
  if (type.$kind !== "Other") throw new Error("the local chain has no such objects");
  const text = bcs.TypeTag.parse(bcs.TypeTag.serialize({ struct: type.Other }).toBytes());
  const parsed = parseType(text);
  if (parsed.kind !== "datatype") throw new Error("an object is of no struct");
  return parsed;
}

export function ownerToBcs(owner: ObjectOwner): typeof bcs.Owner.$inferInput {
  if (owner.kind === "address") return { AddressOwner: owner.address };
  if (owner.kind === "object") return { ObjectOwner: owner.parent };
  if (owner.kind === "shared") return { Shared: { initialSharedVersion: owner.initialVersion } };
  return { Immutable: true };
}

function ownerFromBcs(owner: typeof bcs.Owner.$inferType): ObjectOwner {
  if (owner.$kind === "AddressOwner") return { kind: "address", address: owner.AddressOwner };
  if (owner.$kind === "ObjectOwner") return { kind: "object", parent: owner.ObjectOwner };
  if (owner.$kind === "Shared") return { kind: "shared", initialVersion: BigInt(owner.Shared.initialSharedVersion) };
  if (owner.$kind === "Immutable") return { kind: "immutable" };
  throw new Error("the local chain has no party objects");
}

/** Null for a package. */
export function toChainObject(object: StoredObject): ChainObject | null {
  if (object.data.kind === "package") return null;
  const { id, version, digest, owner, previousTransaction, data } = object;
  return { id, version, digest, owner, type: renderType(data.type), contents: data.contents, previousTransaction };
}
