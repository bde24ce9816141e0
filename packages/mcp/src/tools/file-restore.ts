import { api } from "@coffer/contract";
import { findFile, findItem, findItems, findVersion, restoreItems, TaskFailure } from "@coffer/tasks";
import * as z from "zod/mini";
import { defineTool } from "../tool.ts";
import { ACTED, actedOutcome } from "./act-rows.ts";
import { fileFacts, FILE_OUTPUT } from "./file-facts.ts";
import { itemRef, namedVault, vaultRef } from "./reference-input.ts";

const MOST_ITEMS = 500;

export const fileRestore = defineTool({
  name: "file_restore",
  profile: "agent",
  title: "Bring files back",
  description:
    "Undoes a deletion: brings files and folders back from the trash. With version: makes an earlier content of one file the newest; the present one stays a version.",
  endpoints: [api.files.get, api.files.restore, api.folders.restore, api.files.restoreVersion],
  // Changes that only add: nothing that exists is lost.
  hints: { destructiveHint: false },
  input: {
    files: z.array(itemRef).check(z.minLength(1), z.maxLength(MOST_ITEMS)),
    version: z.optional(z.string().check(z.maxLength(64))),
    name: api.files.restore.body.shape.name,
    vaultId: z.optional(vaultRef),
  },
  describe: {
    files: "ids (8 digits do); file_list with trashed shows them",
    version: "number or id, from file_get; default: from the trash",
    name: "other name for a single file; default: the old one",
    vaultId: "id or name; default: none",
  },
  output: { ...FILE_OUTPUT, ...ACTED },
  table: "rows",
  run: async ({ files, version, name, vaultId }, call) => {
    const vault = await namedVault(call, vaultId);
    const [first = "", ...others] = files;
    if ((version !== undefined || name !== undefined) && others.length > 0)
      throw new TaskFailure("invalid_arguments", { message: "version and name are for a single file" });
    const client = await call.client();
    if (version !== undefined) {
      if (name !== undefined) throw new TaskFailure("invalid_arguments", { message: "Pass either version or name" });
      const file = await findFile(call, vault, first);
      const versionId = await findVersion(call, file, version);
      const restored = await client.files.restoreVersion(file.id, versionId, {
        vaultId: file.vaultId,
        ifMatch: file.tag,
        signal: call.signal,
      });
      return { summary: "The version is the newest content again.", facts: fileFacts(restored) };
    }
    if (name === undefined)
      return actedOutcome(await restoreItems(call, await findItems(call, vault, files, { trashed: true })), "restored");
    const item = await findItem(call, vault, first, { trashed: true });
    if (item.kind === "folder") throw new TaskFailure("invalid_arguments", { message: "name is for a single file" });
    const options = { vaultId: vault ?? item.file.vaultId, ifMatch: item.file.tag, signal: call.signal };
    return { summary: "The file is back.", facts: fileFacts(await client.files.restore(item.id, { name }, options)) };
  },
});
