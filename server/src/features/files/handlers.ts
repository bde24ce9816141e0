/** Files over HTTP (decisions §5). */
import type { api } from "@coffer/contract";
import type { GroupHandlers } from "../../http/handlers.ts";
import { visible } from "../acting.ts";
import { parsePage, toPage } from "../paging.ts";
import { changeFile, deleteFile, restoreFile } from "./changing.ts";
import { describeContent, sendContent } from "./content.ts";
import { listPage } from "./listing.ts";
import { toFile } from "./rules.ts";
import { findFile } from "./store.ts";
import type { StoringDeps } from "./storing.ts";
import { replaceContent, uploadFile } from "./uploading.ts";

export const filesHandlers = (deps: StoringDeps): GroupHandlers<typeof api.files> => ({
  upload: (input, context) => uploadFile(deps, input, context),
  list: async ({ query }, { principal }) => {
    const page = parsePage("files", query);
    const { rows, nextCursor } = toPage(await listPage(deps.database, principal, query, page), page);
    return { files: rows.map(toFile), nextCursor };
  },
  get: async ({ params }, { principal }) => ({
    file: toFile(
      visible(principal, await findFile(deps.database, { id: params.fileId, accountId: principal.accountId }), "File"),
    ),
  }),
  content: ({ params, headers }, { principal }) => sendContent(deps, principal, { fileId: params.fileId, headers }),
  contentHead: ({ params, headers }, { principal }) =>
    describeContent(deps, principal, { fileId: params.fileId, headers }),
  replace: (input, context) => replaceContent(deps, input, context),
  update: async ({ params, headers, body }, { principal }) => ({
    file: toFile(await changeFile(deps, principal, { fileId: params.fileId, ifMatch: headers["if-match"], ...body })),
  }),
  delete: ({ params, query }, { principal }) => deleteFile(deps, principal, params.fileId, query.permanent ?? false),
  restore: async ({ params, body }, { principal }) => ({
    file: toFile(await restoreFile(deps, principal, params.fileId, body?.name)),
  }),
});
