/** Members: first the allowlist on the chain, which only the owner's client changes, then the service's record of it. */
import { addressOf } from "../../signers/address.ts";
import { apiKeysGroup, membersGroup } from "@coffer/contract";
import { NO_END } from "@coffer/crypto";
import { type ActWarning, addMember, findMember, removeMember, setUntil } from "@coffer/chain";
import { callOn } from "../../http/call.ts";
import { parseInviteText } from "../../agents/invite-text.ts";
import { fromBase64 } from "../../transfer/digest.ts";
import { isAnswered } from "../../http/errors.ts";
import { everyPage, MAX_PAGES_IN_MEMORY, type PageCursor } from "../../http/every-page.ts";
import type { Connection, CallOptions } from "../../connection/options.ts";
import type { VaultMember } from "@coffer/contract";
import { transactionSigner } from "../create-vault.ts";
import { ADDED, ADDED_TO_READ, ENDLESS, ENDS, REMOVED } from "../effect-texts.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms } from "../vault-terms.ts";
import { type VaultError } from "../../http/errors.ts";
import { bytesOf } from "../addresses.ts";
import { parseEnd, renderEnd, type Until } from "./membership-end.ts";
import { actOnRight } from "./pending-rights.ts";
import { findInvited, findInvitedKey, type InvitedAgent } from "./invite-proof.ts";
import type { OpenVault } from "../open-vault.ts";
import { untilSeen } from "../service-view.ts";
import { requireOpenVault, vaultRegistry } from "../client-vaults.ts";

/** For a new member. */
export interface AddMemberOptions extends CallOptions {
  /** Note about the member, for the owner alone: 1 to 200 characters. Default: none. */
  readonly label?: string | undefined;
  /**
   * The Ed25519 key that will sign the member's statements, 32 bytes. Default: the public key of the address, if the
   * account's API keys show it. Without either the member only reads, until it sets a key itself.
   */
  readonly signingKey?: Uint8Array | undefined;
  /**
   * The text of the invite that the agent redeemed. Its secret then proves that the address is the agent's own. It
   * also proves the signing key of a wallet's or zkLogin's signer. Without it the service's word about such a key does
   * not count. Default: none.
   */
  readonly invite?: string | undefined;
  /**
   * When the membership ends by itself: a whole quarter of an hour, as a date or in RFC 3339; null: never. Default:
   * the invite's end, else never.
   */
  readonly until?: Until | undefined;
}

/** A new member, and what adding it has done. */
export interface AddedMember extends VaultMember {
  /** What is open to the address now, in words for people. */
  readonly effect: string;
  /** Remarks about the act or the vault; empty if there are none. */
  readonly warnings: readonly ActWarning[];
}

/** What removing a member has done. */
export interface RemovedMember {
  /** Files written from now on are of this generation or a later one. */
  readonly generation: number;
  /** What is closed to the address now, and what is not, in words for people. */
  readonly effect: string;
  /** Remarks about the act or the vault; empty if there are none. */
  readonly warnings: readonly ActWarning[];
}

/** A member whose end was set. */
export interface EndedMember extends AddedMember {
  /** The vault's generation afterwards: an earlier end raises it. */
  readonly generation: number;
}

/** Members as the service and the chain see them, the owner first. */
export async function listMembers(
  connection: Connection,
  vaultId: string,
  options?: CallOptions,
): Promise<VaultMember[]> {
  return (await callOn(connection, membersGroup.list, { params: { vaultId } }, options)).members;
}

/** An agent by the invite that it redeemed: the invite's secret proves its address and signing key, whatever the service shows. */
export interface AgentOfInvite {
  /** The text from `invites.create`. */
  readonly invite: string;
}

/**
 * Adds an address: everything that was ever written in the vault opens to it. Safe to repeat after a failure at any
 * point: it skips finished steps.
 * @throws VaultError `address_invalid`, `end_invalid` or `invite_unproven` before anything is signed, `already_member`
 * for one whose access ends at another time, `act_outdated`, `not_owner`, `no_gas`, `members_full`, …
 */
export async function addVaultMember(
  connection: Connection,
  vaultId: string,
  who: string | AgentOfInvite,
  { label, signingKey, invite, until, ...options }: AddMemberOptions = {},
): Promise<AddedMember> {
  if (typeof who === "string") bytesOf(who);
  const endsAt = wantedEnd(typeof who === "string" ? invite : who.invite, until);
  const registry = vaultRegistry(connection);
  const vault = await requireOpenVault(connection, vaultId, options);
  const { chainAddress, signingKey: proven } = await findAgent(connection, who, invite, options);
  const key = signingKey ?? proven ?? (await findPublicKey(connection, chainAddress, options));
  const end = endsAt === null || endsAt === undefined ? {} : { endsAt };
  const act = { objectId: vault.pin.chainObjectId ?? "", chainAddress, ...(key === null ? {} : { signingKey: key }) };
  const { vault: changed, warnings } = await inVaultTerms(() =>
    actOnRight(registry, act.objectId, { of: "member", chainAddress }, (known) =>
      addMember(registry.chain, transactionSigner(registry.signer), { ...act, ...end }, known),
    ),
  );
  const entry = findMember(changed, chainAddress);
  const endText = renderEnd(entry?.endsAt ?? NO_END);
  if (endsAt !== undefined && (endsAt ?? NO_END) !== entry?.endsAt) throw endsOtherwise(vaultId, chainAddress, endText);
  const writes = entry?.signingKey.length === 32;
  const body = { chainAddress, ...(label === undefined ? {} : { label }), until: endText };
  const member = await recordAt(connection, vaultId, body, options);
  const added = writes ? ADDED : ADDED_TO_READ;
  return { ...member, effect: endText === null ? added : `${added} ${ENDS}`, warnings };
}

/** undefined: the caller named none; null: no end. */
function wantedEnd(invite: string | undefined, until: Until | undefined): bigint | null | undefined {
  if (until !== undefined) return parseEnd(until);
  const invitedUntil = invite === undefined ? null : parseInviteText(invite).told.accessUntil;
  return invitedUntil === null ? undefined : parseEnd(invitedUntil);
}

function endsOtherwise(vaultId: string, chainAddress: string, endsAt: string | null): VaultError {
  const end = endsAt === null ? "has no end" : `ends at ${endsAt}`;
  return vaultError("already_member", `The address is a member already, and its access ${end}`, {
    nextStep: `To change that, call vaults.members.setUntil("${vaultId}", "${chainAddress}", …).`,
  });
}

/** The service gets the chain's state, and answers when its node shows it. */
async function recordAt(
  connection: Connection,
  vaultId: string,
  body: { readonly chainAddress: string; readonly label?: string; readonly until: string | null },
  options?: CallOptions,
): Promise<VaultMember> {
  const record = () => callOn(connection, membersGroup.add, { params: { vaultId }, body }, options);
  return (await untilSeen(connection, "not_on_allowlist", options, record)).member;
}

/**
 * Sets when a member's access ends by itself; null: never. A later end changes nothing else. An earlier one closes
 * files written from its own time on, and raises the generation. Safe to repeat.
 * @throws VaultError `end_invalid` before anything is signed, `not_a_member`, `membership_ended` for one to be added
 * again, `act_outdated`, `not_owner`, …
 */
export async function setMemberUntil(
  connection: Connection,
  vaultId: string,
  chainAddress: string,
  until: Until,
  options?: CallOptions,
): Promise<EndedMember> {
  bytesOf(chainAddress);
  const endsAt = parseEnd(until);
  const registry = vaultRegistry(connection);
  const { pin } = await requireOpenVault(connection, vaultId, options);
  const act = { objectId: pin.chainObjectId ?? "", chainAddress, endsAt };
  const nextSteps = {
    not_a_member: "Add the address with vaults.members.add.",
    membership_ended: "Add the address again with vaults.members.add.",
  };
  const { vault, warnings } = await inVaultTerms(
    () =>
      actOnRight(registry, act.objectId, { of: "member", chainAddress }, (known) =>
        setUntil(registry.chain, transactionSigner(registry.signer), act, known),
      ),
    nextSteps,
  );
  const body = { chainAddress, until: renderEnd(endsAt ?? NO_END) };
  const member = await recordAt(connection, vaultId, body, options);
  return { ...member, generation: Number(vault.generation), effect: endsAt === null ? ENDLESS : ENDS, warnings };
}

async function findAgent(
  connection: Connection,
  who: string | AgentOfInvite,
  invite: string | undefined,
  options: CallOptions,
): Promise<InvitedAgent> {
  if (typeof who !== "string") return findInvited(connection, who.invite, options);
  const signingKey = invite === undefined ? null : await findInvitedKey(connection, invite, who, options);
  return { chainAddress: who, signingKey };
}

/**
 * Removes an address: it cannot open files written from now on, and the service stops serving it. It can still open
 * what it could read before, wherever it gets the bytes, until the vault has been rotated (docs/threat-model.md). Safe
 * to repeat. For three days after this machine has added the address or offered it the vault, each repetition is a
 * transaction. A chain node may still execute what it held back, unless witnesses show that it cannot.
 */
export async function removeVaultMember(
  connection: Connection,
  vaultId: string,
  chainAddress: string,
  options?: CallOptions,
): Promise<RemovedMember> {
  bytesOf(chainAddress);
  return endMember(connection, await requireOpenVault(connection, vaultId, options), chainAddress, options);
}

/** As {@link removeVaultMember}, in a vault that is open. */
export async function endMember(
  connection: Connection,
  { id: vaultId, pin }: OpenVault,
  chainAddress: string,
  options?: CallOptions,
): Promise<RemovedMember> {
  const registry = vaultRegistry(connection);
  const act = { objectId: pin.chainObjectId ?? "", chainAddress };
  const { vault, warnings } = await inVaultTerms(() =>
    actOnRight(registry, act.objectId, { of: "member", chainAddress }, (known) =>
      removeMember(registry.chain, transactionSigner(registry.signer), act, known),
    ),
  );
  await forget(connection, vaultId, chainAddress, options);
  return { generation: Number(vault.generation), effect: REMOVED, warnings };
}

/** The service never recorded this member, so there is nothing to end there. */
async function forget(
  connection: Connection,
  vaultId: string,
  chainAddress: string,
  options?: CallOptions,
): Promise<void> {
  const end = () => callOn(connection, membersGroup.remove, { params: { vaultId, chainAddress } }, options);
  try {
    await untilSeen(connection, "still_on_allowlist", options, end);
  } catch (error) {
    if (!isAnswered(error) || error.code !== "not_found") throw error;
  }
}

/** Searches the account's own keys. The address is the key's hash, so it does not matter who shows it. */
async function findPublicKey(
  connection: Connection,
  chainAddress: string,
  options?: CallOptions,
): Promise<Uint8Array | null> {
  const { list } = apiKeysGroup;
  const load = (place: PageCursor) => callOn(connection, list, { query: { limit: 1000, ...place } }, options);
  for await (const { apiKeys } of everyPage(list.id, load, MAX_PAGES_IN_MEMORY))
    for (const { chainPublicKey } of apiKeys) {
      const key = chainPublicKey === null ? null : fromBase64(chainPublicKey);
      if (key?.length === 32 && addressOf(key) === chainAddress) return key;
    }
  return null;
}
