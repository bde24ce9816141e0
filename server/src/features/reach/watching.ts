/** Streams of shared vaults end with the membership of their reader or writer. */
import type { Deps } from "../../deps.ts";
import type { Principal, RequestContext } from "../../handler.ts";
import { readVaultFor, requireMember, type SeenVault } from "./access.ts";
import { readChainVault } from "./chain-vaults.ts";
import { FRESHNESS } from "./freshness.ts";

/** A public vault, and the owner of the vault's account, need no question. */
export function watchMembership(
  deps: Pick<Deps, "database" | "chain" | "clock">,
  context: RequestContext<Principal>,
  vault: SeenVault | null,
): void {
  if (vault === null || vault.standing === "owner") return;
  const { principal } = context;
  context.watch(async () => {
    const current = await readVaultFor(deps.database, principal, vault.id);
    await readChainVault(deps, current, { maxAge: FRESHNESS.watching });
    await requireMember(deps, principal, current);
  });
}
