/** The calls of the Move module, as values: what a transaction will hold, before anything is built. */
import { bcs } from "@mysten/sui/bcs";
import { Transaction } from "@mysten/sui/transactions";
import { ChainError } from "./errors.ts";
import { FUNCTIONS, type FunctionName, MODULE } from "./package/index.ts";
import type { VaultObject } from "./vault-object.ts";

/** One call of one entry function. */
export interface VaultCall {
  readonly function: FunctionName;
  /** Comes first in every function but `create`. */
  readonly vault: VaultObject | null;
  /** The BCS bytes of each further argument. */
  readonly values: readonly Uint8Array[];
}

const SIGNING_KEY_BYTES = 32;

export const vaultCalls = {
  create: (signingKey: Uint8Array, plainNames: boolean) =>
    call(FUNCTIONS.create, null, [keyBytes(signingKey), bcs.bool().serialize(plainNames).toBytes()]),
  add: (vault: VaultObject, chainAddress: string, signingKey: Uint8Array) =>
    call(FUNCTIONS.add, vault, [addressBytes(chainAddress), keyBytes(signingKey)]),
  remove: (vault: VaultObject, chainAddress: string) => call(FUNCTIONS.remove, vault, [addressBytes(chainAddress)]),
  leave: (vault: VaultObject) => call(FUNCTIONS.leave, vault, []),
  setSigningKey: (vault: VaultObject, signingKey: Uint8Array) =>
    call(FUNCTIONS.setSigningKey, vault, [keyBytes(signingKey)]),
  offerOwnership: (vault: VaultObject, chainAddress: string) =>
    call(FUNCTIONS.offerOwnership, vault, [addressBytes(chainAddress)]),
  acceptOwnership: (vault: VaultObject, signingKey: Uint8Array) =>
    call(FUNCTIONS.acceptOwnership, vault, [keyBytes(signingKey)]),
  raiseFloor: (vault: VaultObject, floor: bigint) =>
    call(FUNCTIONS.raiseFloor, vault, [bcs.u64().serialize(floor).toBytes()]),
};

/** The transaction of a call. Its inputs are complete, so that no node has a say in them. */
export function toTransaction({ function: name, vault, values }: VaultCall, packageId: string): Transaction {
  const transaction = new Transaction();
  const shared =
    vault === null
      ? []
      : [
          transaction.sharedObjectRef({
            objectId: vault.objectId,
            initialSharedVersion: String(vault.initialSharedVersion),
            mutable: true,
          }),
        ];
  transaction.moveCall({
    target: `${packageId}::${MODULE}::${name}`,
    arguments: [...shared, ...values.map((value) => transaction.pure(value))],
  });
  return transaction;
}

/** `0x` and 64 lower-case hex digits: no other spelling of an address is taken, so that equal addresses are equal texts. */
export function isChainAddress(text: string): boolean {
  return /^0x[0-9a-f]{64}$/.test(text);
}

function call(name: FunctionName, vault: VaultObject | null, values: readonly Uint8Array[]): VaultCall {
  return { function: name, vault, values };
}

function addressBytes(chainAddress: string): Uint8Array {
  if (!isChainAddress(chainAddress)) throw new TypeError("A chain address is 0x and 64 lower-case hex digits");
  return bcs.Address.serialize(chainAddress).toBytes();
}

function keyBytes(signingKey: Uint8Array): Uint8Array {
  if (signingKey.length !== 0 && signingKey.length !== SIGNING_KEY_BYTES) throw new ChainError("signing_key_invalid");
  return bcs.byteVector().serialize(signingKey).toBytes();
}
