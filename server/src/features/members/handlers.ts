/** Members of shared vaults (decisions §5): the service records who sees a vault, and only addresses that the chain names. */
import { type api, type HandlerInput, MAX_MEMBERS, type VaultMember } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { CreationContext, GroupHandlers, Principal, Recorded } from "../../handler.ts";
import type { ChainVault } from "../../ports/chain.ts";
import type { Queries } from "../../ports/database.ts";
import { ServiceError } from "../../service-error.ts";
import { isUnread } from "../../unread-chain.ts";
import { type AccountAct, actAs, actOnFullDisk } from "../account/act.ts";
import { recordChange, notFound, vaultTarget } from "../acting.ts";
import {
  findActingAddress,
  findNamed,
  hasEnded,
  readVaultFor,
  refuseEnded,
  requireOwner,
  requireShared,
  type SeenVault,
} from "../reach/access.ts";
import { readChainVault } from "../reach/chain-vaults.ts";
import { FRESHNESS } from "../reach/freshness.ts";
import { findAccountAddress, recordEnd } from "../reach/store.ts";
import { toTimestamp } from "../timestamps.ts";
import { endUploadsOfMember } from "../files/upload/resumable/terminate.ts";
import { mergeMembers, type MemberView, toMember } from "./rules.ts";
import { endMember, findMember, listLiveMembers, putMember, setLabel } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "chain">;

export const membersHandlers = (deps: Needs): GroupHandlers<typeof api.members> => ({
  list: async ({ params }, { principal }) => {
    const vault = await readVaultFor(deps.database, principal, params.vaultId);
    requireShared(vault);
    const chain = await readIfAnswered(deps, vault);
    if (chain !== null && vault.standing === "member")
      refuseEnded(deps, chain, await findActingAddress(deps.database, principal));
    const accountAddress = await findAccountAddress(deps.database, vault.account_id);
    const view = { vault, accountAddress, chain, clock: deps.clock };
    return { members: mergeMembers(view, await listLiveMembers(deps.database, vault.id)) };
  },

  add: async ({ params, body }, context) => {
    const vault = await readOwned(deps.database, context.principal, params.vaultId);
    const chain = await readChainVault(deps, vault, { maxAge: 0 });
    requireNamed(deps, chain, body);
    return actAs(deps, context.principal, async (act) => {
      const now = await readOwned(act, context.principal, params.vaultId);
      return addMember(deps, act, context, { vault: now, chain, ...body });
    });
  },

  remove: async ({ params }, { principal }) => {
    const vault = await readOwned(deps.database, principal, params.vaultId);
    const { chainAddress } = params;
    const row = await findMember(deps.database, { vaultId: vault.id, chainAddress });
    const isOwn = chainAddress === (await findAccountAddress(deps.database, vault.account_id));
    if (row === null && !isOwn) throw notFound("Member");
    if (row !== null && row.removed_at !== null) return undefined;
    const chain = await readChainVault(deps, vault, { maxAge: 0 });
    const named = findNamed(chain, chainAddress);
    if (named !== null && !hasEnded(deps, chain, named)) throw new ServiceError("still_on_allowlist");
    if (row === null) throw notFound("Member");
    await actOnFullDisk(deps, principal, async (act) => {
      const now = await readOwned(act, principal, vault.id);
      await removeMember(deps, act, principal, now, chainAddress);
    });
    await endUploadsOfMember(deps, { accountId: vault.account_id, vaultId: vault.id, chainAddress });
  },
});

async function readOwned(queries: Queries, principal: Principal, vaultId: string): Promise<SeenVault> {
  const vault = await readVaultFor(queries, principal, vaultId);
  requireOwner(vault);
  requireShared(vault);
  return vault;
}

/** Throws unless the allowlist names the address now, with the end that the caller's client says it set. */
function requireNamed(deps: Needs, chain: ChainVault, { chainAddress, until }: Body): void {
  const named = findNamed(chain, chainAddress);
  if (named === null) throw new ServiceError("not_on_allowlist");
  const endsAt = named.endsAt === null ? null : toTimestamp(named.endsAt);
  if (until !== undefined && until !== endsAt)
    throw new ServiceError(
      "not_on_allowlist",
      `On the service's chain node the address's access ends at ${endsAt ?? "no time"}`,
    );
  if (hasEnded(deps, chain, named))
    throw new ServiceError(
      "not_on_allowlist",
      `The address's access ended at ${endsAt ?? "no time"}: add it again on the chain`,
    );
}

async function readIfAnswered(deps: Needs, vault: SeenVault): Promise<ChainVault | null> {
  try {
    return await readChainVault(deps, vault, { maxAge: FRESHNESS.listing });
  } catch (error) {
    if (isUnread(error)) return null;
    throw error;
  }
}

type Body = HandlerInput<typeof api.members.add, Principal>["body"];

interface WantedMember extends Body {
  readonly vault: SeenVault;
  readonly chain: ChainVault;
}

/**
 * An existing record stays as it is; only another label or another end is written. A member whose access had ended
 * begins again.
 */
async function addMember(
  deps: Needs,
  act: AccountAct,
  context: CreationContext<Principal>,
  { vault, chain, chainAddress, label }: WantedMember,
): Promise<Recorded<{ member: VaultMember }>> {
  const { principal } = context;
  const accountAddress = await findAccountAddress(act, vault.account_id);
  const view: MemberView = { vault, accountAddress, chain, clock: deps.clock };
  const key = { vaultId: vault.id, chainAddress };
  const endsAt = findNamed(chain, chainAddress)?.endsAt ?? null;
  const row = await findMember(act, key);
  const isLive = row !== null && row.removed_at === null && row.ended_at === null;
  if (!isLive && chainAddress !== accountAddress) {
    const live = (await listLiveMembers(act, vault.id)).filter(({ ended_at }) => ended_at === null);
    if (live.length >= MAX_MEMBERS) {
      throw new ServiceError("limit_reached", `A vault has at most ${MAX_MEMBERS} members`);
    }
    await act.run(putMember(act, { ...key, label: label ?? "", endsAt, now: deps.clock.now() }));
    await recordMember(act, principal, { ...key, vault, action: "vault.member_added" });
  } else if (isLive && ((label !== undefined && label !== row.label) || endsAt !== row.ends_at)) {
    if (label !== undefined) await act.run(setLabel(act, { ...key, label }));
    await act.run(recordEnd(act, { ...key, endsAt }));
    await recordChange(act, principal, "vault.updated", vaultTarget(vault));
  }
  const member = toMember(view, chainAddress, await findMember(act, key));
  return context.record(act, { member });
}

async function removeMember(
  deps: Needs,
  act: AccountAct,
  principal: Principal,
  vault: SeenVault,
  chainAddress: string,
): Promise<void> {
  const key = { vaultId: vault.id, chainAddress };
  const ended = await act.run(endMember(act, { ...key, now: deps.clock.now() }));
  if (ended === 0) return;
  await recordMember(act, principal, { ...key, vault, action: "vault.member_removed" });
}

async function recordMember(
  act: AccountAct,
  principal: Principal,
  change: {
    readonly vault: SeenVault;
    readonly chainAddress: string;
    readonly action: "vault.member_added" | "vault.member_removed";
  },
): Promise<void> {
  const { vault, chainAddress, action } = change;
  await act.record({
    accountId: vault.account_id,
    action,
    actor: principal,
    target: { kind: "vault_member", id: chainAddress, vaultId: vault.id },
    object: { type: "vault_member", id: chainAddress, vaultId: vault.id },
  });
}
