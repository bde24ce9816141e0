/** Telling of memberships that came to their end by themselves: once for each end, by whichever process runs the jobs. */
import type { Deps } from "../../deps.ts";
import type { ChainVault } from "../../ports/chain.ts";
import type { VaultRow } from "../../ports/tables.ts";
import { isUnread } from "../../unread-chain.ts";
import { actOn } from "../account/act.ts";
import { findNamed } from "../reach/access.ts";
import { readChainVault } from "../reach/chain-vaults.ts";
import { recordEnd } from "../reach/store.ts";
import { toTimestamp } from "../timestamps.ts";
import { endUploadsOfMember } from "../files/upload/resumable/terminate.ts";
import { findVaultOf, listReachedEnds, type ReachedEnd, claimEnd } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "chain">;

/** Ends looked at in one run; the next one goes on. */
const BATCH = 200;

/**
 * Reports every end that the service's clock and the chain's have reached, as `vault.member_ended`, and ends the
 * member's uploads. It notes an end that the owner put off meanwhile, and reports that one if it is reached. If the
 * chain cannot be read, the next run looks again.
 */
export async function reportEnds(deps: Needs, signal: AbortSignal): Promise<{ ended: number }> {
  if (deps.chain === null) return { ended: 0 };
  const reached = await listReachedEnds(deps.database, { now: deps.clock.now(), limit: BATCH });
  let ended = 0;
  for (const [vaultId, ofVault] of Map.groupBy(reached, (end) => end.vaultId)) {
    if (signal.aborted) break;
    const vault = await findVaultOf(deps.database, vaultId);
    const chain = vault === null ? null : await readTwice(deps, vault);
    if (vault === null || chain === null) continue;
    for (const end of ofVault) if (await reportEnd(deps, vault, chain, end)) ended += 1;
  }
  return { ended };
}

/** The second read began after the first one had brought the time: its ends are no older than that. */
async function readTwice(deps: Needs, vault: VaultRow): Promise<ChainVault | null> {
  try {
    const { time } = await readChainVault(deps, vault, { maxAge: 0 });
    return { ...(await readChainVault(deps, vault, { maxAge: 0 })), time };
  } catch (error) {
    if (isUnread(error)) return null;
    throw error;
  }
}

/** Whether this call reported it, or the later end that the chain names and that is reached, too. */
async function reportEnd(deps: Needs, vault: VaultRow, chain: ChainVault, end: ReachedEnd): Promise<boolean> {
  const { vaultId, chainAddress } = end;
  const named = findNamed(chain, chainAddress);
  const endsAt = named === null || named.until !== null ? end.endsAt : named.endsAt;
  if (endsAt !== end.endsAt) {
    await deps.database.run(recordEnd(deps.database, { vaultId, chainAddress, endsAt }));
    if (endsAt === null || endsAt > deps.clock.now()) return false;
  }
  // The service's clock is ahead of the chain's: until the chain has reached it too, the end can be put off.
  if (named !== null && named.until === null && endsAt > chain.time) return false;
  const target = { id: chainAddress, vaultId };
  const isTold = await actOn(
    deps,
    vault.account_id,
    async (act) => {
      // The new account of a vault that moved meanwhile reports it.
      act.requireAccount((await findVaultOf(act, vaultId))?.account_id ?? vault.account_id);
      const taken = await act.run(claimEnd(act, { vaultId, chainAddress, endsAt, now: deps.clock.now() }));
      if (taken === 0) return false;
      await act.record({
        action: "vault.member_ended",
        actor: null,
        target: { kind: "vault_member", ...target },
        object: { type: "vault_member", ...target, endsAt: toTimestamp(endsAt) },
      });
      return true;
    },
    { freesSpace: true },
  );
  if (isTold) await endUploadsOfMember(deps, { accountId: vault.account_id, vaultId, chainAddress });
  return isTold;
}
