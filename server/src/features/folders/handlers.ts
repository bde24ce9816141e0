/** Folders over HTTP (decisions §5). */
import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { CreationContext, GroupHandlers, Principal } from "../../handler.ts";
import type { FolderRow } from "../../ports/tables.ts";
import { type AccountAct, actAs } from "../account/act.ts";
import { parsePage, toPage } from "../paging.ts";
import { withPermits } from "../reach/permits.ts";
import { readFolderFor } from "../reach/items.ts";
import { requireSight } from "../reach/access.ts";
import { changeItem, restoreItem, trashItem } from "../items/changing.ts";
import { listEntries } from "../items/entries.ts";
import { listPage } from "../items/listing.ts";
import { createFolder, FOLDERS } from "./changing.ts";
import { toFolder } from "./rules.ts";

export type FolderDeps = Pick<Deps, "database" | "clock" | "random" | "settings" | "chain">;

export const foldersHandlers = (deps: FolderDeps): GroupHandlers<typeof api.folders> => ({
  create: ({ body }, context) =>
    withPermits(deps, context.principal, (permits) =>
      actAs(deps, context.principal, async (act) => {
        const row = await createFolder(act, deps, context.principal, { folder: body, permits });
        return context.record(act, { folder: toFolder(row, context.principal) });
      }),
    ),
  list: async ({ query }, { principal }) => {
    const page = parsePage("folders", query);
    const { rows, nextCursor } = toPage(
      await listPage(deps, principal, "folder", { ...query, folderId: query.parentId }, page),
      page,
    );
    return { folders: rows.map((row) => toFolder(row, principal)), nextCursor };
  },
  get: async ({ params }, { principal }) => {
    const { row, vault } = await readFolderFor(deps.database, principal, params.folderId);
    await requireSight(deps, principal, vault);
    return { folder: toFolder(row, principal) };
  },
  update: ({ params, headers, body }, context) => {
    const { parentId: folderId, ...given } = body;
    const change = { id: params.folderId, ifMatch: headers["if-match"], folderId, ...given };
    return changeItem(deps, context.principal, FOLDERS, change, recordFolder(context));
  },
  delete: ({ params, headers }, context) => {
    const named = { id: params.folderId, ifMatch: headers["if-match"] };
    return trashItem(deps, context.principal, FOLDERS, named, recordFolder(context));
  },
  entries: async ({ params: { folderId: id }, query }, { principal }) => {
    const { entries, nextCursor } = await listEntries(deps, principal, "folder", { id, query });
    return { entries: entries.map(({ folderId: parentId, ...entry }) => ({ ...entry, parentId })), nextCursor };
  },
  restore: ({ params, headers, body }, context) => {
    const restored = { id: params.folderId, ifMatch: headers["if-match"], given: body ?? {} };
    return restoreItem(deps, context.principal, FOLDERS, restored, recordFolder(context));
  },
});

function recordFolder(context: CreationContext<Principal>) {
  return (act: AccountAct, row: FolderRow) => context.record(act, { folder: toFolder(row, context.principal) });
}
