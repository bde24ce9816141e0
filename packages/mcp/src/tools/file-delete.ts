import { api } from "@coffer/contract";
import { type ItemOutcome, findItems, itemsBelow, TaskFailure, trashItems } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "../call.ts";
import { TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { ACTED, actedOutcome } from "./act-rows.ts";
import { itemRef, namedVault, vaultRef } from "./reference-input.ts";

/** More files than these, or a folder, need a person's agreement. */
const FREELY = 10;
const MOST_ITEMS = 500;
/** Files and folders below one folder that are counted for a person. Nobody can judge more. */
const MOST_BELOW = 10_000;

export const fileDelete = defineTool({
  name: "file_delete",
  profile: "agent",
  title: "Move files to the trash",
  description:
    "Moves files and folders to the trash for 30 days; file_restore brings them back. Folders, and more than 10 files, need the user's agreement first. Only people delete for good or empty the trash: coffer rm FILE --permanent, coffer trash empty.",
  endpoints: [api.files.get, api.files.delete, api.folders.delete],
  input: {
    files: z.array(itemRef).check(z.minLength(1), z.maxLength(MOST_ITEMS)),
    vaultId: z.optional(vaultRef),
    confirm: z.optional(z.string().check(z.maxLength(200))),
  },
  describe: {
    files: "ids (8 digits do) or paths; folders too",
    vaultId: "id or name, for paths; default: none",
    confirm: "token the user agreed to; default: none",
  },
  output: { ...ACTED, preview: TEXT, confirm: TEXT },
  table: "rows",
  run: async ({ files, vaultId, confirm }, call) => {
    const vault = await namedVault(call, vaultId);
    const outcomes = await findItems(call, vault, files);
    const items = outcomes.flatMap(({ item }) => (item === null ? [] : [item]));
    if (items.length > FREELY || items.some(({ kind }) => kind === "folder")) {
      const stateNow = async (): Promise<unknown> => (await previewOf(call, await findItems(call, vault, files))).state;
      await call.confirm({ ...(await previewOf(call, outcomes)), stateNow, token: confirm });
    }
    return actedOutcome(await trashItems(call, outcomes), "trashed");
  },
});

/**
 * What a person has to know before: how many, and what folders hold down to the bottom. The state has each of them, so
 * that an agreement holds for what was counted and for nothing that came since.
 * @throws TaskFailure `invalid_arguments` for a folder that holds too much to be counted.
 */
async function previewOf(call: Call, outcomes: readonly ItemOutcome[]) {
  const folders: string[] = [];
  let files = 0;
  let bytes = 0;
  const state: string[] = [];
  for (const { item } of outcomes) {
    if (item === null) continue;
    if (item.kind === "file") {
      files += 1;
      bytes += item.file.size;
      state.push(`${item.id} ${String(item.file.revision)} ${item.file.versionId}`);
      continue;
    }
    const short = item.id.slice(0, 8);
    const contents = await itemsBelow(call, item.folder, MOST_BELOW);
    if (contents === null)
      throw new TaskFailure("invalid_arguments", {
        message: `The folder ${short} holds more than ${String(MOST_BELOW)} files and folders, too many to agree to at once`,
        nextStep: "Delete folders in it one by one.",
      });
    const size = contents.files.reduce((sum, file) => sum + file.size, 0);
    const more = contents.folders.length === 0 ? "" : ` and ${String(contents.folders.length)} folders`;
    folders.push(`${short}: ${String(contents.files.length)} files (${String(size)} bytes)${more}`);
    const ids = [
      ...contents.files.map(({ id, versionId }) => `${id} ${versionId}`),
      ...contents.folders.map(({ id }) => id),
    ];
    state.push([item.id, String(item.folder.revision), ...ids.toSorted()].join(" "));
  }
  const folderText = folders.length === 0 ? "" : `; folders ${folders.join("; ")}`;
  return {
    preview: `To the trash: ${String(files)} files (${String(bytes)} bytes)${folderText}`,
    state: state.toSorted(),
  };
}
