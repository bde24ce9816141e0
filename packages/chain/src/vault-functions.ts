/** The calls of the Move module, as values: the content of a transaction, before anything is built. */
import { bcs } from "@mysten/sui/bcs";
import { Transaction } from "@mysten/sui/transactions";
import { fromHex } from "@mysten/sui/utils";
import { CLOCK } from "./clock.ts";
import { ChainError } from "./errors.ts";
import { FUNCTIONS, type FunctionName, MODULE } from "./package/index.ts";
import type { VaultObject } from "./vault-object.ts";

/** One call of one entry function. */
export interface VaultCall {
  readonly function: FunctionName;
  /** Whether the function takes the chain's clock, behind the values. */
  readonly clock: boolean;
  /** Comes first in every function but `create`. */
  readonly vault: VaultObject | null;
  /** The BCS bytes of each further argument. */
  readonly values: readonly Uint8Array[];
}

const SIGNING_KEY_BYTES = 32;

export const vaultCalls = {
  create: (signingKey: Uint8Array, plainNames: boolean) =>
    call(FUNCTIONS.create, null, [keyBytes(signingKey), bcs.bool().serialize(plainNames).toBytes()]),
  add: (vault: VaultObject, chainAddress: string, signingKey: Uint8Array, endsAt: bigint, last: string) =>
    timed(FUNCTIONS.add, vault, [
      ...[addressBytes(chainAddress), keyBytes(signingKey), u64Bytes(endsAt)],
      digestBytes(last),
    ]),
  extend: (vault: VaultObject, chainAddress: string, endsAt: bigint, last: string) =>
    timed(FUNCTIONS.extend, vault, [addressBytes(chainAddress), u64Bytes(endsAt), digestBytes(last)]),
  shorten: (vault: VaultObject, chainAddress: string, endsAt: bigint) =>
    timed(FUNCTIONS.shorten, vault, [addressBytes(chainAddress), u64Bytes(endsAt)]),
  remove: (vault: VaultObject, chainAddress: string) => timed(FUNCTIONS.remove, vault, [addressBytes(chainAddress)]),
  leave: (vault: VaultObject) => timed(FUNCTIONS.leave, vault, []),
  setSigningKey: (vault: VaultObject, signingKey: Uint8Array, replaces: Uint8Array) =>
    timed(FUNCTIONS.setSigningKey, vault, [keyBytes(signingKey), keyBytes(replaces)]),
  renew: (vault: VaultObject) => timed(FUNCTIONS.renew, vault, []),
  sweep: (vault: VaultObject) => call(FUNCTIONS.sweep, vault, []),
  offerOwnership: (vault: VaultObject, chainAddress: string, last: string) =>
    call(FUNCTIONS.offerOwnership, vault, [addressBytes(chainAddress), digestBytes(last)]),
  withdrawOffer: (vault: VaultObject) => call(FUNCTIONS.withdrawOffer, vault, []),
  acceptOwnership: (vault: VaultObject, signingKey: Uint8Array, replaces: Uint8Array) =>
    timed(FUNCTIONS.acceptOwnership, vault, [keyBytes(signingKey), keyBytes(replaces)]),
  raiseFloor: (vault: VaultObject, floor: bigint) => call(FUNCTIONS.raiseFloor, vault, [u64Bytes(floor)]),
};

/** The transaction of a call. Its inputs are complete, so that no node has a say in them. */
export function toTransaction({ function: name, vault, values, clock }: VaultCall, packageId: string): Transaction {
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
    arguments: [
      ...shared,
      ...values.map((value) => transaction.pure(value)),
      ...(clock ? [transaction.sharedObjectRef(CLOCK)] : []),
    ],
  });
  return transaction;
}

/** `0x` and 64 lower-case hex digits. It accepts no other spelling of an address, so that equal addresses are equal texts. */
export function isChainAddress(text: string): boolean {
  return /^0x[0-9a-f]{64}$/.test(text);
}

function call(name: FunctionName, vault: VaultObject | null, values: readonly Uint8Array[]): VaultCall {
  return { function: name, vault, values, clock: false };
}

function timed(name: FunctionName, vault: VaultObject, values: readonly Uint8Array[]): VaultCall {
  return { ...call(name, vault, values), clock: true };
}

function u64Bytes(value: bigint): Uint8Array {
  return bcs.u64().serialize(value).toBytes();
}

function addressBytes(chainAddress: string): Uint8Array {
  if (!isChainAddress(chainAddress)) throw new TypeError("A chain address is 0x and 64 lower-case hex digits");
  return bcs.Address.serialize(chainAddress).toBytes();
}

function digestBytes(digest: string): Uint8Array {
  return bcs.byteVector().serialize(fromHex(digest)).toBytes();
}

function keyBytes(signingKey: Uint8Array): Uint8Array {
  if (signingKey.length !== 0 && signingKey.length !== SIGNING_KEY_BYTES) throw new ChainError("signing_key_invalid");
  return bcs.byteVector().serialize(signingKey).toBytes();
}
