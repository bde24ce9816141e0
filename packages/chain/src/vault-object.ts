/** The vault object, as it was read from a chain node at one moment. */
import {
  decodeVaultObject,
  vaultObjectType,
  type VaultObjectFormer,
  type VaultObjectMember,
  type VaultObjectFields,
} from "@coffer/contract";
import type { VaultView } from "@coffer/crypto";
import type { SuiClientTypes } from "@mysten/sui/client";
import { fromHex } from "@mysten/sui/utils";
import { ChainError } from "./errors.ts";
import type { VaultLocation } from "./key-wrap/approval.ts";

/** Addresses are `0x` and 64 lower-case hex digits; a signing key has 32 bytes, or none while its member only reads. */
export interface VaultObject extends Omit<VaultObjectFields, "id"> {
  readonly objectId: string;
  /** Grows with every transaction that touches the object. */
  readonly version: bigint;
  /** The name of a shared object in transactions. */
  readonly initialSharedVersion: bigint;
  /** The node's time when it was read, in milliseconds since the epoch: the object was so at that time or later. */
  readonly asOf: number;
}

/** @throws ChainError `vault_changed` for an object that is not a vault of the package. */
export function parseVaultObject(
  object: SuiClientTypes.Object<{ content: true }>,
  originalPackageId: string,
  asOf: number,
): VaultObject {
  const { id: objectId, ...fields } = decodeContents(object, originalPackageId);
  const initialVersion = object.owner?.$kind === "Shared" ? object.owner.Shared.initialSharedVersion : undefined;
  if (objectId !== object.objectId || initialVersion === undefined) throw noVault();
  return { ...fields, objectId, version: BigInt(object.version), initialSharedVersion: BigInt(initialVersion), asOf };
}

/** The parts of the object for reading and verifying (file-format §6). */
export function toVaultView(vault: VaultObject): VaultView {
  return {
    vault: fromHex(vault.objectId),
    generation: vault.generation,
    floor: vault.floor,
    base: vault.base,
    time: BigInt(vault.asOf),
    plainNames: vault.plainNames,
    owner: toEntry(vault.owner),
    members: vault.members.map((member) => ({ ...toEntry(member), until: member.until === 0n ? null : member.until })),
    former: vault.former.map((former) => ({ ...toEntry(former), until: former.until })),
  };
}

/** The entry of an address, owner included; null for one that is not on the allowlist. */
export function findMember(vault: VaultObject, chainAddress: string): VaultObjectMember | null {
  return [vault.owner, ...vault.members].find((member) => member.chainAddress === chainAddress) ?? null;
}

/** The facts about the vault in questions to key servers: `chainAddress` is the caller's. */
export function locateVault(vault: VaultObject, chainAddress: string): VaultLocation {
  const at = vault.members.findIndex((member) => member.chainAddress === chainAddress);
  return { initialSharedVersion: vault.initialSharedVersion, at: BigInt(Math.max(at, 0)) };
}

function decodeContents(object: SuiClientTypes.Object<{ content: true }>, packageId: string): VaultObjectFields {
  if (object.type !== vaultObjectType(packageId)) throw noVault();
  try {
    return decodeVaultObject(object.content);
  } catch (cause) {
    throw noVault(cause);
  }
}

function toEntry({ chainAddress, signingKey, since, endsAt }: VaultObjectMember | VaultObjectFormer) {
  return { address: fromHex(chainAddress), signingKey, since, endsAt };
}

function noVault(cause?: unknown): ChainError {
  return new ChainError("vault_changed", {
    message:
      "The object on the chain is no vault of the configured package. Check its id and the network configuration.",
    cause,
  });
}
