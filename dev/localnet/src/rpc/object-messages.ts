/** Objects and packages as `sui.rpc.v2` messages. */
import { GrpcTypes } from "@mysten/sui/grpc";
import type { ObjectOwner } from "../chain-access.ts";
import type { LedgerView } from "../chain/ledger.ts";
import { balanceOf, isCoin, type StoredObject } from "../chain/objects.ts";
import type { FunctionSignature, MoveFunction } from "../move/module.ts";
import { type MoveType, renderType } from "../move/types.ts";
import { jsonOf } from "./json-values.ts";

const { Owner_OwnerKind, OpenSignatureBody_Type, OpenSignature_Reference, FunctionDescriptor_Visibility, Ability } =
  GrpcTypes;

export function ownerMessage(owner: ObjectOwner): GrpcTypes.Owner {
  if (owner.kind === "address") return { kind: Owner_OwnerKind.ADDRESS, address: owner.address };
  if (owner.kind === "object") return { kind: Owner_OwnerKind.OBJECT, address: owner.parent };
  if (owner.kind === "shared") return { kind: Owner_OwnerKind.SHARED, version: owner.initialVersion };
  return { kind: Owner_OwnerKind.IMMUTABLE };
}

export function typeName({ data }: StoredObject): string {
  return data.kind === "package" ? "package" : renderType(data.type);
}

export function objectMessage(object: StoredObject, view: LedgerView): GrpcTypes.Object {
  const { id, version, digest, owner, data, previousTransaction, storageRebate, bcs } = object;
  const message: GrpcTypes.Object = {
    bcs: { name: "Object", value: bcs },
    objectId: id,
    version,
    digest,
    owner: ownerMessage(owner),
    objectType: typeName(object),
    previousTransaction,
    storageRebate,
  };
  if (data.kind === "package") return { ...message, package: packageMessage(object, view) };
  message.hasPublicTransfer = data.hasPublicTransfer;
  message.contents = { name: typeName(object), value: data.contents };
  if (isCoin(data.type)) message.balance = balanceOf(object);
  const json = jsonOf(data.contents, data.type, view.layouts);
  return json === undefined ? message : { ...message, json };
}

export function packageMessage({ id, version, data }: StoredObject, { findModule }: LedgerView): GrpcTypes.Package {
  const modules = data.kind === "package" ? [...data.modules] : [];
  const datatypes = data.kind === "package" ? data.datatypes : [];
  return {
    storageId: id,
    originalId: id,
    version,
    modules: modules.map(([name, contents]) => ({
      name,
      contents,
      datatypes: [],
      functions: (findModule(id, name)?.functions ?? []).map(functionMessage),
    })),
    typeOrigins: datatypes.map((datatype) => {
      const [moduleName = "", datatypeName = ""] = datatype.split("::");
      return { moduleName, datatypeName, packageId: id };
    }),
    linkage: [],
  };
}

export function functionMessage(called: MoveFunction): GrpcTypes.FunctionDescriptor {
  return {
    name: called.name,
    visibility: FunctionDescriptor_Visibility[VISIBILITIES[called.visibility]],
    isEntry: called.isEntry,
    typeParameters: called.typeParameters.map((constraints) => ({ constraints: abilitiesIn(constraints) })),
    parameters: signatureMessages(called, "parameters"),
    returns: signatureMessages(called, "returns"),
  };
}

const VISIBILITIES = { Private: "PRIVATE", Public: "PUBLIC", Friend: "FRIEND" } as const;

function abilitiesIn(set: number): GrpcTypes.Ability[] {
  const all = [Ability.COPY, Ability.DROP, Ability.STORE, Ability.KEY];
  return all.filter((_ability, at) => (set & (1 << at)) !== 0);
}

function signatureMessages(signature: FunctionSignature, which: "parameters" | "returns"): GrpcTypes.OpenSignature[] {
  return signature[which].map((type) => {
    if (type.kind !== "reference") return { body: bodyMessage(type) };
    const reference = type.mutable ? OpenSignature_Reference.MUTABLE : OpenSignature_Reference.IMMUTABLE;
    return { reference, body: bodyMessage(type.to) };
  });
}

function bodyMessage(type: MoveType): GrpcTypes.OpenSignatureBody {
  const body = { typeParameterInstantiation: [] };
  switch (type.kind) {
    case "address":
      return { ...body, type: OpenSignatureBody_Type.ADDRESS };
    case "bool":
      return { ...body, type: OpenSignatureBody_Type.BOOL };
    case "integer":
      return { ...body, type: OpenSignatureBody_Type[`U${type.bits}`] };
    case "vector":
      return { type: OpenSignatureBody_Type.VECTOR, typeParameterInstantiation: [bodyMessage(type.element)] };
    case "parameter":
      return { ...body, type: OpenSignatureBody_Type.TYPE_PARAMETER, typeParameter: type.index };
    case "datatype":
      return {
        type: OpenSignatureBody_Type.DATATYPE,
        typeName: renderType({ ...type, typeArguments: [] }),
        typeParameterInstantiation: type.typeArguments.map(bodyMessage),
      };
    default:
      return { ...body, type: OpenSignatureBody_Type.TYPE_UNKNOWN };
  }
}
