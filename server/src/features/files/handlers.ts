/** Files over HTTP (decisions §5). */
import type { api } from "@coffer/contract";
import type { CreationContext, GroupHandlers, Principal } from "../../handler.ts";
import type { FileRow } from "../../ports/tables.ts";
import { BodyRoom } from "../../limits/body-room.ts";
import type { AccountAct } from "../account/act.ts";
import { Holds } from "../holds/holds.ts";
import { parsePage, toPage } from "../paging.ts";
import { readFileFor } from "../reach/items.ts";
import { requireSight } from "../reach/access.ts";
import { changeItem, restoreItem, trashItem } from "../items/changing.ts";
import { listEntries } from "../items/entries.ts";
import { listPage } from "../items/listing.ts";
import { moveMany, restoreMany, trashMany } from "./bulk-changes.ts";
import { type BatchDeps, storeBatch } from "./upload/batch.ts";
import { commitFiles } from "./file-commit.ts";
import { FILES } from "./file-kind.ts";
import { deleteForGood } from "./deletion.ts";
import { describeContent, sendContent } from "./content.ts";
import { deleteVersion, listVersions, restoreVersion } from "./version-history.ts";
import { toFile } from "./rules.ts";
import { searchFiles } from "../search/searching.ts";
import type { ProofDeps } from "../deletion/grants.ts";
import { replaceContent, uploadFile } from "./upload/single.ts";
import type { UploadDeps } from "./upload/verifier.ts";

export function filesHandlers(deps: UploadDeps & ProofDeps): GroupHandlers<typeof api.files> {
  return handlersOf({ ...deps, holds: new Holds(deps), batchRoom: new BodyRoom() });
}

const handlersOf = (deps: BatchDeps & ProofDeps): GroupHandlers<typeof api.files> => ({
  upload: (input, context) => uploadFile(deps, input, context),
  batch: (input, context) => storeBatch(deps, input, context),
  commit: ({ body }, context) => commitFiles(deps, body, context),
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
  restoreVersion: ({ params, headers }, context) =>
    restoreVersion(deps, context.principal, { ...params, ifMatch: headers["if-match"] }, recordFile(context)),
  deleteVersion: ({ params, headers }, context) =>
    deleteVersion(deps, context, { ...params, proof: headers["coffer-proof"] }),
  trashMany: async ({ body }, context) => recordMany(deps, context, await trashMany(deps, context.principal, body)),
  restoreMany: async ({ body }, context) => recordMany(deps, context, await restoreMany(deps, context.principal, body)),
  moveMany: async ({ body }, context) => recordMany(deps, context, await moveMany(deps, context.principal, body)),
  replace: (input, context) => replaceContent(deps, input, context),
  update: ({ params, headers, body }, context) => {
    const change = { id: params.fileId, ifMatch: headers["if-match"], ...body };
    return changeItem(deps, context.principal, FILES, change, recordFile(context));
  },
  delete: ({ params, query, headers }, context) => {
    const named = { id: params.fileId, ifMatch: headers["if-match"] };
    return query.permanent === true
      ? deleteForGood(deps, context, { ...named, proof: headers["coffer-proof"] })
      : trashItem(deps, context.principal, FILES, named, recordFile(context));
  },
  restore: ({ params, headers, body }, context) => {
    const restored = { id: params.fileId, ifMatch: headers["if-match"], given: body ?? {} };
    return restoreItem(deps, context.principal, FILES, restored, recordFile(context));
  },
});

function recordFile(context: CreationContext<Principal>) {
  return (act: AccountAct, row: FileRow) => context.record(act, { file: toFile(row, context.principal) });
}

/**
 * Many items are changed in several acts, so their answer is kept after the last of them. After a crash between the two,
 * a repeat does it again: what is done already is no error.
 */
function recordMany<Answer>(
  { database }: Pick<UploadDeps, "database">,
  context: CreationContext<Principal>,
  answer: Answer,
) {
  return database.transaction((transaction) => context.record(transaction, answer));
}
