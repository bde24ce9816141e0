/** Vaults over HTTP (decisions §5). */
import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { type GroupHandlers, type Principal, Reply } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import { type AccountAct, actAs } from "../account/act.ts";
import { recordChange, vaultTarget } from "../acting.ts";
import { type GrantFor, withOwnerProof } from "../deletion/grants.ts";
import { keptFor } from "../items/keeping.ts";
import { type PageRequest, parsePage, toPage } from "../paging.ts";
import { findActingAddress, readVaultFor, readVaultOrTrashed, requireOwner, type SeenVault } from "../reach/access.ts";
import { createVault, readWantedObject } from "./creating.ts";
import { requireWritten } from "../items/changing.ts";
import { nameOrConflict, refuseTakenName } from "./naming.ts";
import { deleteVault, restoreVault } from "./deleting.ts";
import { writeSomeEnds } from "./retention.ts";
import { toOwnVault, toVault } from "./rules.ts";
import { listVaults, listVaultsOfMember, updateVault } from "./store.ts";
import { type IdRange, idRangeOf } from "../items/id-prefix.ts";
import type { OwnedVault } from "../reach/store.ts";

type VaultDeps = Pick<Deps, "database" | "clock" | "random" | "settings" | "chain" | "signatures">;

export const vaultsHandlers = (deps: VaultDeps): GroupHandlers<typeof api.vaults> => ({
  create: async ({ body }, context) => {
    const object = await readWantedObject(deps, context.principal, body);
    return actAs(deps, context.principal, async (act) => {
      const row = await createVault(act, deps, context.principal, { name: body.name, object });
      return context.record(act, { vault: toOwnVault(row, context.principal) });
    });
  },
  list: async ({ query }, { principal }) => {
    const shared = query.shared ?? false;
    const page = parsePage(shared ? "vaults-of-others" : "vaults", query);
    const found = await (shared ? listOfOthers : listOwn)(deps.database, principal, {
      type: query.type,
      page,
      ids: idRangeOf(query.idPrefix),
    });
    const { rows, nextCursor } = toPage(found, page);
    return { vaults: rows.map((row) => (shared ? toVault(row, "member") : toOwnVault(row, principal))), nextCursor };
  },
  get: async ({ params }, { principal }) => ({
    vault: render(await readVaultOrTrashed(deps.database, principal, params.vaultId), principal),
  }),
  update: async ({ params, headers, body }, context) => {
    const { principal } = context;
    const change = async (act: AccountAct, grantFor: GrantFor): Promise<SeenVault> => {
      const row = await readVaultFor(act, principal, params.vaultId);
      requireOwner(row);
      const { name = row.name, keepVersionsDays: days = row.keep_versions_days } = body;
      if (name === row.name && days === row.keep_versions_days) return row;
      const isKeptElse = days !== row.keep_versions_days;
      const changes = {
        name,
        keep_versions_days: days,
        updated_at: deps.clock.now(),
        ...(isKeptElse && { pending_retention: keptFor(deps.settings, days) }),
      };
      const changed = { ...row, ...changes };
      await refuseTakenName(act, changed);
      requireWritten(await nameOrConflict(updateVault(act, row, changes)));
      if (isKeptElse) {
        const [before, after] = [row.keep_versions_days, days].map((each) => keptFor(deps.settings, each));
        const isShared = row.type === "shared";
        // Shorter days end versions that nobody gets back.
        if (isShared && (after ?? 0) < (before ?? 0)) grantFor(row).requireFor({ vaultId: row.id, isShared });
        await writeSomeEnds(act, deps, { id: row.id, pending_retention: after ?? 0 });
      }
      await recordChange(act, principal, "vault.updated", vaultTarget(row));
      return changed;
    };
    const wanted = { act: "shorten-retention", proof: headers["coffer-proof"] } as const;
    const vault = await withOwnerProof(deps, context, wanted, (grantFor) =>
      actAs(deps, principal, (act) => change(act, grantFor)),
    );
    return { vault: render(vault, principal) };
  },
  delete: async ({ params, query, headers }, context) => {
    const { force = false, permanent = false } = query;
    const proof = headers["coffer-proof"];
    const vault = await deleteVault(deps, context, { vaultId: params.vaultId, force, permanent, proof });
    return permanent ? new Reply(undefined, { status: 204 }) : { vault: toOwnVault(vault, context.principal) };
  },
  restore: async ({ params, body }, { principal }) => {
    const vault = await restoreVault(deps, principal, { vaultId: params.vaultId, name: body?.name });
    return { vault: toOwnVault(vault, principal) };
  },
});

interface WantedList {
  readonly type: string | undefined;
  readonly ids: IdRange | null;
  readonly page: PageRequest;
}

function listOwn(
  queries: Queries,
  { accountId, vaultIds }: Principal,
  { type, ids, page }: WantedList,
): Promise<OwnedVault[]> {
  return listVaults(queries, { accountId, vaultIds, type, ids }, page);
}

/** A key that is limited to vaults of its account sees no others; only shared vaults have members. */
async function listOfOthers(
  queries: Queries,
  principal: Principal,
  { type, ids, page }: WantedList,
): Promise<OwnedVault[]> {
  if (principal.vaultIds !== null || (type !== undefined && type !== "shared")) return [];
  const chainAddress = await findActingAddress(queries, principal);
  if (chainAddress === null) return [];
  return listVaultsOfMember(queries, { chainAddress, accountId: principal.accountId, ids }, page);
}

function render(vault: SeenVault, principal: Principal) {
  return vault.standing === "member" ? toVault(vault, "member") : toOwnVault(vault, principal);
}
