/** The trash over HTTP (decisions §5). */
import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { GroupHandlers, Principal, RequestContext } from "../../http/handlers.ts";
import { removeFile } from "../files/changing.ts";
import { listPage } from "../files/listing.ts";
import { toFile } from "../files/rules.ts";
import { noteFolder } from "../folders/changing.ts";
import { parsePage, toPage } from "../paging.ts";
import { readVaultFor, requireOwner } from "../shared-vaults/access.ts";
import { deleteFolderRow, findEmptyTrashedFolders, findTrashedFiles, type TrashScope } from "./store.ts";

type TrashDeps = Pick<Deps, "database" | "clock" | "random" | "chain">;

/** How much one transaction deletes: other writers wait for it. */
const BATCH = 200;

export const trashHandlers = (deps: TrashDeps): GroupHandlers<typeof api.trash> => ({
  list: async ({ query }, { principal }) => {
    const page = parsePage("trash", query);
    const { rows, nextCursor } = toPage(
      await listPage(deps, principal, { vaultId: query.vaultId, trashed: true }, page),
      page,
    );
    return { files: rows.map(toFile), nextCursor };
  },
  empty: async ({ query }, context) => {
    const { principal } = context;
    if (query.vaultId !== undefined) requireOwner(await readVaultFor(deps.database, principal, query.vaultId));
    const vaultIds =
      query.vaultId !== undefined ? [query.vaultId] : principal.vaultIds === null ? null : [...principal.vaultIds];
    await emptyTrash(deps, context, { accountId: principal.accountId, vaultIds });
  },
});

/**
 * In batches: interrupted, it leaves less in the trash, and a repeat goes on. A credential that ends on the way, as one
 * that leaked is made to, deletes nothing more.
 */
async function emptyTrash(deps: TrashDeps, context: RequestContext<Principal>, scope: TrashScope): Promise<void> {
  for (const deleteSome of [deleteSomeFiles, deleteSomeFolders]) {
    do await context.recheck();
    while (await deleteSome(deps, context.principal, scope));
  }
}

function deleteSomeFiles(deps: TrashDeps, principal: Principal, scope: TrashScope): Promise<boolean> {
  return deps.database.transaction(
    async (transaction) => {
      const files = await findTrashedFiles(transaction, scope, BATCH);
      for (const file of files) await removeFile(transaction, deps, principal, file);
      return files.length > 0;
    },
    { freesSpace: true },
  );
}

function deleteSomeFolders(deps: TrashDeps, principal: Principal, scope: TrashScope): Promise<boolean> {
  return deps.database.transaction(
    async (transaction) => {
      const folders = await findEmptyTrashedFolders(transaction, scope, BATCH);
      for (const folder of folders) {
        await deleteFolderRow(transaction, folder);
        await noteFolder(transaction, deps, principal, folder, "folder.deleted");
      }
      return folders.length > 0;
    },
    { freesSpace: true },
  );
}
