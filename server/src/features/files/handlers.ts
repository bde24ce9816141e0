/** Files over HTTP (decisions §5). */
import type { api } from "@coffer/contract";
import type { GroupHandlers } from "../../handler.ts";
import { BodyRoom } from "../../limits/body-room.ts";
import { Holds } from "../holds/holds.ts";
import { parsePage, toPage } from "../paging.ts";
import { readFileFor } from "../reach/items.ts";
import { requireSight } from "../reach/access.ts";
import { changeItem, restoreItem, trashItem } from "../items/changing.ts";
import { listEntries } from "../items/entries.ts";
import { listPage } from "../items/listing.ts";
import { moveMany, restoreMany, trashMany } from "./acting-on-many.ts";
import { type BatchDeps, storeBatch } from "./batch.ts";
import { FILES } from "./changing.ts";
import { deleteForGood } from "./deleting.ts";
import { describeContent, sendContent } from "./content.ts";
import { deleteVersion, listVersions, restoreVersion } from "./past.ts";
import { toFile } from "./rules.ts";
import { searchFiles } from "../search/searching.ts";
import type { ProofDeps } from "../deletion/grants.ts";
import type { StoringDeps } from "./storing.ts";
import { replaceContent, uploadFile } from "./uploading.ts";

export function filesHandlers(deps: StoringDeps & ProofDeps): GroupHandlers<typeof api.files> {
  return handlersOf({ ...deps, holds: new Holds(deps), batchRoom: new BodyRoom() });
}

const handlersOf = (deps: BatchDeps & ProofDeps): GroupHandlers<typeof api.files> => ({
  upload: (input, context) => uploadFile(deps, input, context),
  batch: (input, context) => storeBatch(deps, input, context),
  list: async ({ query }, { principal }) => {
    const page = parsePage("files", query);
    const { rows, nextCursor } = toPage(await listPage(deps, principal, "file", query, page), page);
    return { files: rows.map((row) => toFile(row, principal)), nextCursor };
  },
  get: async ({ params }, { principal }) => {
    const { row, vault } = await readFileFor(deps.database, principal, params.fileId);
    await requireSight(deps, principal, vault);
    return { file: toFile(row, principal) };
  },
  content: ({ params, query, headers }, context) =>
    sendContent(deps, context, { fileId: params.fileId, versionId: query.versionId, headers }),
  contentHead: ({ params, query, headers }, context) =>
    describeContent(deps, context, { fileId: params.fileId, versionId: query.versionId, headers }),
  search: async ({ query }, { principal }) => {
    const { rows, ...page } = await searchFiles(deps, principal, query);
    return { files: rows.map((row) => toFile(row, principal)), ...page };
  },
  versions: (input, { principal }) => listVersions(deps, principal, input),
  entries: ({ params: { fileId: id }, query }, { principal }) => listEntries(deps, principal, "file", { id, query }),
  restoreVersion: async ({ params }, { principal }) => ({
    file: toFile(await restoreVersion(deps, principal, params), principal),
  }),
  deleteVersion: ({ params, headers }, context) =>
    deleteVersion(deps, context, { ...params, proof: headers["coffer-proof"] }),
  trashMany: ({ body }, { principal }) => trashMany(deps, principal, body.ids),
  restoreMany: ({ body }, { principal }) => restoreMany(deps, principal, body.ids),
  moveMany: ({ body }, { principal }) => moveMany(deps, principal, body),
  replace: (input, context) => replaceContent(deps, input, context),
  update: async ({ params, headers, body }, { principal }) => ({
    file: toFile(
      await changeItem(deps, principal, FILES, { id: params.fileId, ifMatch: headers["if-match"], ...body }),
      principal,
    ),
  }),
  delete: async ({ params, query, headers }, context) =>
    query.permanent === true
      ? deleteForGood(deps, context, { fileId: params.fileId, proof: headers["coffer-proof"] })
      : { file: toFile(await trashItem(deps, context.principal, FILES, params.fileId), context.principal) },
  restore: async ({ params, body }, { principal }) => ({
    file: toFile(await restoreItem(deps, principal, FILES, { id: params.fileId, given: body ?? {} }), principal),
  }),
});
