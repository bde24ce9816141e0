/** Folders over HTTP (decisions §5). */
import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { GroupHandlers } from "../../handler.ts";
import { actAs } from "../account/act.ts";
import { parsePage, toPage } from "../paging.ts";
import { withPermits } from "../reach/permits.ts";
import { readFolderFor } from "../reach/items.ts";
import { requireSight } from "../reach/access.ts";
import { changeFolder, createFolder } from "./changing.ts";
import { listPage } from "./listing.ts";
import { toFolder } from "./rules.ts";
import { restoreFolder, trashFolder } from "./trashing.ts";

export type FolderDeps = Pick<Deps, "database" | "clock" | "random" | "settings" | "chain">;

export const foldersHandlers = (deps: FolderDeps): GroupHandlers<typeof api.folders> => ({
  create: ({ body }, context) =>
    withPermits(deps, context.principal, (permits) =>
      actAs(deps, context.principal, async (act) => {
        const row = await createFolder(act, deps, context.principal, { folder: body, permits });
        return context.record(act, { folder: toFolder(row) });
      }),
    ),
  list: async ({ query }, { principal }) => {
    const page = parsePage("folders", query);
    const { rows, nextCursor } = toPage(await listPage(deps, principal, query, page), page);
    return { folders: rows.map(toFolder), nextCursor };
  },
  get: async ({ params }, { principal }) => {
    const { row, vault } = await readFolderFor(deps.database, principal, params.folderId);
    await requireSight(deps, principal, vault);
    return { folder: toFolder(row) };
  },
  update: async ({ params, headers, body }, { principal }) => ({
    folder: toFolder(
      await changeFolder(deps, principal, { folderId: params.folderId, ifMatch: headers["if-match"], ...body }),
    ),
  }),
  delete: async ({ params }, { principal }) => ({
    folder: toFolder(await trashFolder(deps, principal, params.folderId)),
  }),
  restore: async ({ params, body }, { principal }) => ({
    folder: toFolder(await restoreFolder(deps, principal, params.folderId, body ?? {})),
  }),
});
