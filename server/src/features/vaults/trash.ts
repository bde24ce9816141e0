/** The trash over HTTP (decisions §5). */
import type { api, HandlerInput } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { GroupHandlers, Principal, RequestContext } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { type AccountAct, actOnFullDisk } from "../account/act.ts";
import { reaches } from "../acting.ts";
import { type DeletionGrant, PUBLIC_GRANT, withOwnerProof } from "../deletion/grants.ts";
import { removeFile } from "../files/deletion.ts";
import { listPage } from "../items/listing.ts";
import { toFile } from "../files/rules.ts";
import { removeFolder } from "../folders/deleting.ts";
import { parsePage, toPage } from "../paging.ts";
import { readVaultFor, requireOwner } from "../reach/access.ts";
import { listTreeActs } from "../tree-acts/store.ts";
import { toOwnVault } from "./rules.ts";
import { listLiveVaults } from "../reach/store.ts";
import { listVaults } from "./store.ts";
import {
  findEmptyTrashedFolders,
  findTrashedFiles,
  findVaultsWithTrash,
  type TrashScope,
} from "../items/trash-store.ts";

type TrashDeps = Pick<Deps, "database" | "clock" | "random" | "chain" | "settings" | "signatures">;

/** How much one transaction deletes: other writers wait for it. */
const BATCH = 200;

export const trashHandlers = (deps: TrashDeps): GroupHandlers<typeof api.trash> => ({
  list: async ({ query }, { principal }) => {
    if (query.kind === "vaults") return listTrashedVaults(deps, principal, query);
    const page = parsePage("trash", query);
    const { rows, nextCursor } = toPage(
      await listPage(deps, principal, "file", { vaultId: query.vaultId, trashed: true }, page),
      page,
    );
    return { files: rows.map((row) => toFile(row, principal)), vaults: [], nextCursor };
  },
  empty: async ({ query: { vaultId }, headers }, context) => {
    if (vaultId === undefined) return emptyPublicVaults(deps, context);
    const wanted = { act: "empty-trash", proof: headers["coffer-proof"] } as const;
    const grant = await withOwnerProof(deps, context, wanted, async (grantFor) => {
      const vault = await readVaultFor(deps.database, context.principal, vaultId);
      requireOwner(vault);
      return grantFor(vault);
    });
    await emptyTrash(deps, context, { accountId: context.principal.accountId, vaultIds: [vaultId] }, grant);
    return { leftVaults: [] };
  },
});

async function listTrashedVaults(
  { database }: TrashDeps,
  principal: Principal,
  query: HandlerInput<typeof api.trash.list, never>["query"],
) {
  if (query.vaultId !== undefined) {
    throw new ServiceError("validation_failed", "query.vaultId: not allowed with kind=vaults");
  }
  const page = parsePage("trashed-vaults", query);
  const { accountId, vaultIds } = principal;
  const filter = { accountId, vaultIds, type: undefined, trashed: true };
  const { rows, nextCursor } = toPage(await listVaults(database, filter, page), page);
  return { files: [], vaults: rows.map((row) => toOwnVault(row, principal)), nextCursor };
}

/** Shared vaults are left alone and named: each asks for a proof of its own. */
async function emptyPublicVaults(deps: TrashDeps, context: RequestContext<Principal>) {
  const { principal } = context;
  const { accountId } = principal;
  const live = (await listLiveVaults(deps.database, accountId)).filter(({ id }) => reaches(principal, id));
  const idsOf = (wanted: boolean) => live.filter(({ type }) => (type === "shared") === wanted).map(({ id }) => id);
  const vaultIds = idsOf(false);
  if (vaultIds.length > 0) await emptyTrash(deps, context, { accountId, vaultIds }, PUBLIC_GRANT);
  return { leftVaults: await findVaultsWithTrash(deps.database, idsOf(true)) };
}

/**
 * In batches: interrupted, it leaves less in the trash, and a repeat goes on. A credential that ends on the way, as one
 * that leaked is made to, deletes nothing more.
 */
async function emptyTrash(
  deps: TrashDeps,
  context: RequestContext<Principal>,
  scope: TrashScope,
  grant: DeletionGrant,
): Promise<void> {
  const { principal } = context;
  for (const removeSome of [removeSomeFiles, removeSomeFolders]) {
    do await context.recheck();
    while (await actOnFullDisk(deps, principal, (act) => removeSome(act, deps, { principal, scope, grant })));
  }
}

interface Emptying {
  readonly principal: Principal;
  readonly scope: TrashScope;
  readonly grant: DeletionGrant;
}

async function removeSomeFiles(act: AccountAct, deps: TrashDeps, { principal, scope, grant }: Emptying) {
  await refuseUnderActs(act, scope);
  const files = await findTrashedFiles(act, scope, BATCH);
  for (const file of files) {
    if (act.writtenRows >= deps.settings.limits.actRows) break;
    await removeFile(act, deps, principal, file, grant);
  }
  return files.length > 0;
}

async function removeSomeFolders(act: AccountAct, deps: TrashDeps, { principal, scope, grant }: Emptying) {
  await refuseUnderActs(act, scope);
  const folders = await findEmptyTrashedFolders(act, scope, BATCH);
  for (const folder of folders) {
    if (act.writtenRows >= deps.settings.limits.actRows) break;
    await removeFolder(act, deps, principal, folder, grant);
  }
  return folders.length > 0;
}

/** What lies in the trash is not known row by row while an act on a folder is under way. Throws `tree_busy`. */
async function refuseUnderActs(act: AccountAct, { accountId, vaultIds }: TrashScope): Promise<void> {
  const acts = await listTreeActs(act, accountId);
  if (acts.some((row) => vaultIds?.includes(row.vault_id) ?? true)) throw new ServiceError("tree_busy");
}
