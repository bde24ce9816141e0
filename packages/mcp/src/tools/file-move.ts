import { api } from "@coffer/contract";
import { findItem, findItems, moveItems, ROOT, renameItem, segmentsOf, TaskFailure, vaultOf } from "@coffer/tasks";
import * as z from "zod/mini";
import { defineTool } from "../tool.ts";
import { ACTED, actedOutcome } from "./act-rows.ts";
import { folderRef, itemRef, namedVault, vaultRef } from "./reference-input.ts";

const MOST_ITEMS = 500;

export const fileMove = defineTool({
  name: "file_move",
  profile: "agent",
  title: "Move or rename files",
  description:
    "Moves files and folders into a folder of their vault, made if missing, or renames one. Ids and versions stay.",
  endpoints: [api.files.get, api.files.update, api.folders.update, api.folders.create],
  // Nothing is lost: the past of names and places is kept.
  hints: { destructiveHint: false },
  input: {
    files: z.array(itemRef).check(z.minLength(1), z.maxLength(MOST_ITEMS)),
    to: z.optional(folderRef),
    name: api.files.update.body.shape.name,
    vaultId: z.optional(vaultRef),
  },
  describe: {
    files: "ids (8 digits do) or paths; folders too",
    to: "folder: id, path, or / for the top; default: where they are",
    name: "new name of a single item; default: the old one",
    vaultId: "id or name, for paths; default: none",
  },
  output: ACTED,
  table: "rows",
  run: async ({ files, to, name, vaultId }, call) => {
    if (to === undefined && name === undefined)
      throw new TaskFailure("invalid_arguments", { message: "Name a folder in to, a new name, or both" });
    const folder = to === undefined ? undefined : isTop(to) ? null : to;
    const vault = await namedVault(call, vaultId);
    const [first = "", ...others] = files;
    if (name !== undefined) {
      if (others.length > 0) throw new TaskFailure("invalid_arguments", { message: "name is for a single item" });
      const item = await findItem(call, vault, first);
      await renameItem(call, item, name, folder);
      return actedOutcome([{ named: name, item: null, failure: null }], "renamed");
    }
    const outcomes = await findItems(call, vault, files);
    const [item] = outcomes.flatMap((each) => (each.item === null ? [] : [each.item]));
    if (item === undefined) return actedOutcome(outcomes, "moved");
    return actedOutcome(await moveItems(call, vault ?? vaultOf(item), outcomes, folder ?? null), "moved");
  },
});

function isTop(to: string): boolean {
  return to.trim() === ROOT || segmentsOf(to).length === 0;
}
