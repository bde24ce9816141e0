/** The acts of owner and members on a vault: one function for each entry function of the Move module. */
import { END_STEP_MS, NO_END } from "@coffer/crypto";
import type { VaultObjectMember } from "@coffer/contract";
import type { Chain } from "./chain.ts";
import { isCreatedBy } from "./object-origin.ts";
import { ChainError } from "./errors.ts";
import { execute, type Executed, type ExecutionOptions, findExecuted } from "./execution.ts";
import type { TransactionSigner } from "./signer.ts";
import { type OwnerActOptions, runAct, type VaultAct } from "./vault-act.ts";
import { vaultCalls, toTransaction } from "./vault-functions.ts";
import { findMember, type VaultObject } from "./vault-object.ts";

const NO_KEY = new Uint8Array();

/**
 * Shares a new vault that belongs to the signer. Not repeatable: two calls make two vaults. Store the transaction of
 * `beforeSend`, and go on with `resumeCreation` after a crash.
 */
export async function createVault(
  chain: Chain,
  signer: TransactionSigner,
  vault: { readonly signingKey?: Uint8Array; readonly plainNames?: boolean },
  options: ExecutionOptions = {},
): Promise<VaultAct> {
  const call = vaultCalls.create(vault.signingKey ?? NO_KEY, vault.plainNames ?? false);
  await chain.verifyNetwork();
  const executed = await execute(chain, signer, () => toTransaction(call, chain.network.latestPackageId), options);
  const { digest, warnings } = executed;
  return { outcome: "done", digest, vault: await readCreated(chain, executed), warnings };
}

/**
 * The vault that a transaction created. null when the transaction failed, or the node has not seen it executed after
 * two seconds.
 * @throws ChainError `chain_unavailable`, and the errors of reading the vault.
 */
export async function findCreatedVault(chain: Chain, digest: string): Promise<VaultObject | null> {
  await chain.verifyNetwork();
  const executed = await findExecuted(chain, digest);
  return executed?.status.success === true ? readCreated(chain, executed) : null;
}

/**
 * Adds a member, or gives `already` for one that is on the allowlist and has not ended, whatever its signing key and
 * its end. `endsAt`: when the membership ends, in milliseconds since 1970; absent: never.
 * @throws ChainError `is_owner`, `end_invalid`, `act_outdated`, …
 */
export async function addMember(
  chain: Chain,
  signer: TransactionSigner,
  act: {
    readonly objectId: string;
    readonly chainAddress: string;
    readonly signingKey?: Uint8Array;
    readonly endsAt?: bigint;
  },
  options?: OwnerActOptions,
): Promise<VaultAct> {
  const endsAt = act.endsAt ?? NO_END;
  return runAct(chain, signer, act.objectId, options, {
    isDone: (vault) =>
      vault.members.some((member) => member.chainAddress === act.chainAddress && !hasEnded(member, vault)),
    check: (vault) => {
      requireOwner(vault, signer);
      if (vault.owner.chainAddress === act.chainAddress) throw new ChainError("is_owner");
      requireEnd(endsAt, vault);
    },
    give: (vault, last) => vaultCalls.add(vault, act.chainAddress, act.signingKey ?? NO_KEY, endsAt, last),
    already: "already_member",
  });
}

/**
 * Sets when a membership ends, in milliseconds since 1970; null for never. An earlier end takes a right away and raises
 * the generation; a later one gives one.
 * @throws ChainError `not_a_member`, `membership_ended` for one that must be added again, `end_invalid`, `act_outdated`, …
 */
export async function setUntil(
  chain: Chain,
  signer: TransactionSigner,
  act: { readonly objectId: string; readonly chainAddress: string; readonly endsAt: bigint | null },
  options?: OwnerActOptions,
): Promise<VaultAct> {
  const endsAt = act.endsAt ?? NO_END;
  const find = (vault: VaultObject): VaultObjectMember | undefined =>
    vault.members.find((member) => member.chainAddress === act.chainAddress);
  return runAct(chain, signer, act.objectId, options, {
    isDone: (vault) => find(vault)?.endsAt === endsAt && find(vault)?.until === 0n,
    check: (vault) => {
      requireOwner(vault, signer);
      if (vault.owner.chainAddress === act.chainAddress) throw new ChainError("is_owner");
      const member = find(vault);
      if (member === undefined) throw new ChainError("not_a_member");
      if (hasEnded(member, vault)) throw new ChainError("membership_ended");
      requireEnd(endsAt, vault);
    },
    give: (vault, last) =>
      endsAt > (find(vault)?.endsAt ?? 0n) ? vaultCalls.extend(vault, act.chainAddress, endsAt, last) : null,
    call: (vault) => vaultCalls.shorten(vault, act.chainAddress, endsAt),
  });
}

/**
 * Begins a rotation: raises the generation, and no key from then on leads to an earlier one. `already` if the vault's
 * base is above `base`, the one that the caller has seen.
 */
export async function renew(
  chain: Chain,
  signer: TransactionSigner,
  act: { readonly objectId: string; readonly base: bigint },
  options?: ExecutionOptions,
): Promise<VaultAct> {
  return runAct(chain, signer, act.objectId, options, {
    isDone: (vault) => vault.base > act.base,
    check: (vault) => requireOwner(vault, signer),
    call: (vault) => vaultCalls.renew(vault),
  });
}

/** Takes marked memberships that have ended off the list: at most 50. `already` when there are none. */
export async function sweep(
  chain: Chain,
  signer: TransactionSigner,
  act: { readonly objectId: string },
  options?: ExecutionOptions,
): Promise<VaultAct> {
  const countMarked = (vault: VaultObject): number => vault.members.filter(({ until }) => until > 0n).length;
  let before = 0;
  return runAct(chain, signer, act.objectId, options, {
    isDone: (vault) => countMarked(vault) === 0 || countMarked(vault) < before,
    check: (vault) => {
      if (findMember(vault, signer.chainAddress) === null) throw new ChainError("not_a_member");
      before = countMarked(vault);
    },
    call: (vault) => vaultCalls.sweep(vault),
  });
}

/**
 * Removes a member, which raises the generation. The address loses an offer of the ownership as well. With neither, you
 * get `already`.
 */
export async function removeMember(
  chain: Chain,
  signer: TransactionSigner,
  act: { readonly objectId: string; readonly chainAddress: string },
  options?: OwnerActOptions,
): Promise<VaultAct> {
  return runAct(chain, signer, act.objectId, options, {
    isDone: (vault) => findMember(vault, act.chainAddress) === null && vault.offered !== act.chainAddress,
    check: (vault) => {
      requireOwner(vault, signer);
      if (vault.owner.chainAddress === act.chainAddress) throw new ChainError("is_owner");
    },
    call: (vault) => vaultCalls.remove(vault, act.chainAddress),
  });
}

/** Takes the signer off the allowlist, or gives `already`. Raises the generation. @throws ChainError `is_owner`, … */
export async function leave(
  chain: Chain,
  signer: TransactionSigner,
  act: { readonly objectId: string },
  options?: ExecutionOptions,
): Promise<VaultAct> {
  return runAct(chain, signer, act.objectId, options, {
    isDone: (vault) => findMember(vault, signer.chainAddress) === null,
    check: (vault) => {
      if (vault.owner.chainAddress === signer.chainAddress) throw new ChainError("is_owner");
    },
    call: (vault) => vaultCalls.leave(vault),
    already: "not_a_member",
  });
}

/**
 * Sets the signer's own signing key. A first key takes no right away; replacing one raises the generation.
 * @throws ChainError `not_a_member`, …
 */
export async function setSigningKey(
  chain: Chain,
  signer: TransactionSigner,
  act: { readonly objectId: string; readonly signingKey: Uint8Array },
  options?: ExecutionOptions,
): Promise<VaultAct> {
  return runAct(chain, signer, act.objectId, options, {
    isDone: (vault) => isKeyOf(vault, signer.chainAddress, act.signingKey),
    check: (vault) => {
      const member = findMember(vault, signer.chainAddress);
      if (member === null) throw new ChainError("not_a_member");
      if (hasEnded(member, vault)) throw new ChainError("membership_ended");
    },
    call: (vault) => vaultCalls.setSigningKey(vault, act.signingKey, keyOf(vault, signer.chainAddress)),
  });
}

/**
 * Offers the ownership to an address, in place of any other offer; `null` withdraws the present offer.
 * @throws ChainError `is_owner`, `act_outdated`, …
 */
export async function offerOwnership(
  chain: Chain,
  signer: TransactionSigner,
  act: { readonly objectId: string; readonly chainAddress: string | null },
  options?: OwnerActOptions,
): Promise<VaultAct> {
  const { chainAddress } = act;
  return runAct(chain, signer, act.objectId, options, {
    isDone: (vault) => vault.offered === chainAddress,
    check: (vault) => {
      requireOwner(vault, signer);
      if (chainAddress === signer.chainAddress) throw new ChainError("is_owner");
    },
    give: (vault, last) => (chainAddress === null ? null : vaultCalls.offerOwnership(vault, chainAddress, last)),
    call: (vault) => vaultCalls.withdrawOffer(vault),
  });
}

/** Makes the signer the owner, if it was offered to it. The old owner has no access afterwards. Raises the generation. */
export async function acceptOwnership(
  chain: Chain,
  signer: TransactionSigner,
  act: { readonly objectId: string; readonly signingKey?: Uint8Array },
  options?: ExecutionOptions,
): Promise<VaultAct> {
  return runAct(chain, signer, act.objectId, options, {
    isDone: (vault) => vault.owner.chainAddress === signer.chainAddress,
    check: (vault) => {
      if (vault.offered !== signer.chainAddress) throw new ChainError("not_offered");
    },
    call: (vault) => vaultCalls.acceptOwnership(vault, act.signingKey ?? NO_KEY, keyOf(vault, signer.chainAddress)),
    already: "not_offered",
  });
}

/** Declares everything void that was signed below a generation. The floor is never lowered: a higher floor gives `already`. */
export async function raiseFloor(
  chain: Chain,
  signer: TransactionSigner,
  act: { readonly objectId: string; readonly floor: bigint },
  options?: ExecutionOptions,
): Promise<VaultAct> {
  return runAct(chain, signer, act.objectId, options, {
    isDone: (vault) => vault.floor >= act.floor,
    check: (vault) => {
      requireOwner(vault, signer);
      if (act.floor > vault.generation) throw new ChainError("floor_invalid");
    },
    call: (vault) => vaultCalls.raiseFloor(vault, act.floor),
    already: "floor_invalid",
  });
}

/** By the mark, or by the chain's time when the vault was read. */
function hasEnded({ endsAt, until }: VaultObjectMember, { asOf }: VaultObject): boolean {
  return until > 0n || endsAt <= BigInt(asOf);
}

function requireOwner({ owner }: VaultObject, signer: TransactionSigner): void {
  if (owner.chainAddress !== signer.chainAddress) throw new ChainError("not_owner");
}

/** Names the two ends nearest to a time that cannot be an end. Rounding it would give or take access that nobody asked for. */
function requireEnd(endsAt: bigint, { asOf }: VaultObject): void {
  if (endsAt === NO_END) return;
  const name = (time: bigint): string => new Date(Number(time)).toISOString();
  const before = endsAt - (endsAt % END_STEP_MS);
  if (endsAt !== before)
    throw new ChainError("end_invalid", {
      message: `A membership ends on a whole quarter of an hour: ${name(before)} or ${name(before + END_STEP_MS)}, for example.`,
    });
  if (endsAt <= BigInt(asOf))
    throw new ChainError("end_invalid", { message: `${name(endsAt)} has passed. Name an end that is still to come.` });
}

/** @internal The vault that a transaction made. */
export async function readCreated(chain: Chain, executed: Executed): Promise<VaultObject> {
  const created = executed.effects.changedObjects.filter(
    ({ idOperation, outputOwner }) => idOperation === "Created" && outputOwner?.$kind === "Shared",
  );
  const [vault, ...more] = created;
  if (vault === undefined || more.length > 0) throw new ChainError("vault_not_found");
  // Everything else about a vault is checked against its id. With a stranger's vault in its place, keys would be
  // sealed for the stranger.
  if (!isCreatedBy(executed.digest, vault.objectId))
    throw new ChainError("vault_changed", {
      message:
        "The chain node names a vault that this transaction did not make. Nothing was written; name another node.",
    });
  return chain.readVault(vault.objectId, { minVersion: BigInt(vault.outputVersion ?? 0) });
}

function isKeyOf(vault: VaultObject, chainAddress: string, signingKey: Uint8Array): boolean {
  if (findMember(vault, chainAddress) === null) return false;
  const current = keyOf(vault, chainAddress);
  return current.length === signingKey.length && current.every((byte, at) => byte === signingKey[at]);
}

/** Empty for an address that has none. */
function keyOf(vault: VaultObject, chainAddress: string): Uint8Array {
  return findMember(vault, chainAddress)?.signingKey ?? NO_KEY;
}
