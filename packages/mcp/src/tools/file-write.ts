import { api } from "@coffer/contract";
import { editText, storeText, TaskFailure, withPath, writableVault, type TextEdit } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "../call.ts";
import type { Outcome } from "../result.ts";
import { defineTool } from "../tool.ts";
import { receiptOf } from "./file-upload.ts";
import { RECEIPT, refuseReveal } from "./file-facts.ts";
import { folderRef, vaultRef } from "./reference-input.ts";

const MOST_BYTES = 65_536;
const SHORT_TEXT = z.string().check(z.maxLength(MOST_BYTES));

export const fileWrite = defineTool({
  name: "file_write",
  profile: "agent",
  title: "Write or edit a text file",
  description:
    "Stores a text of up to 64 KiB as a file in a vault, appends it to a file, or replaces a passage of one of up to 16 MiB. Use file_upload for local files.",
  endpoints: [api.account.get, api.files.list, api.files.content, api.files.upload, api.files.replace],
  input: {
    name: z.string().check(z.minLength(1), z.maxLength(1024)),
    text: z.optional(SHORT_TEXT),
    append: z._default(z.boolean(), false),
    replace: z.optional(
      z.strictObject({
        find: SHORT_TEXT.check(z.minLength(1)),
        replacement: SHORT_TEXT,
        count: z._default(z.int().check(z.gte(1), z.lte(10_000)), 1),
      }),
    ),
    vaultId: z.optional(vaultRef),
    folder: z.optional(folderRef),
    ifExists: z.optional(z.enum(["error", "version", "rename", "skip"])),
    expectedVersion: z.optional(z.string().check(z.maxLength(80))),
  },
  describe: {
    name: "like notes.md",
    text: "the content, or what is appended; default: none",
    append: "to the end; makes a missing file",
    replace: "in place of text: find, which must occur count times; default: none",
    folder: "id or path, made if missing; default: top",
    ifExists: "if the name is taken; default: error",
    expectedVersion: "tag or versionId; default: any",
  },
  output: RECEIPT,
  run: async ({ text, append, replace, vaultId, folder, ifExists, ...options }, call) => {
    const change = changeOf({ text, append, replace, ifExists });
    const vault = await writableVault(call, vaultId ?? null);
    const place = withPath({ ...options, vaultId: vault, folder: folder ?? null });
    if ("edit" in change) return await editFile(call, place, change.edit);
    return receiptOf(await storeText(call, change.bytes, { ...place, ifExists: ifExists ?? "error" }));
  },
});

interface Wishes {
  readonly text: string | undefined;
  readonly append: boolean;
  readonly replace: { readonly find: string; readonly replacement: string; readonly count: number } | undefined;
  readonly ifExists: string | undefined;
}

function changeOf({ text, append, replace, ifExists }: Wishes): { bytes: Uint8Array } | { edit: TextEdit } {
  const refuse = (message: string): never => {
    throw new TaskFailure("invalid_arguments", { message });
  };
  for (const part of [text, replace?.find, replace?.replacement])
    if (part !== undefined && Buffer.byteLength(part) > MOST_BYTES)
      refuse("A text of one call has at most 65,536 bytes; use file_upload for more");
  if ((append || replace !== undefined) && ifExists !== undefined)
    refuse("ifExists is for a text that is stored whole; expectedVersion goes with an edit");
  if (replace !== undefined) {
    if (append || text !== undefined) refuse("replace takes neither text nor append: replacement is the new text");
    return { edit: { replace } };
  }
  if (text === undefined) return refuse("text is missing, or replace");
  return append ? { edit: { append: text } } : { bytes: new TextEncoder().encode(text) };
}

/** Whether a passage occurs, and the digest of a content that this conversation did not give, tell what the file holds. */
async function editFile(call: Call, place: Parameters<typeof editText>[1], edit: TextEdit): Promise<Outcome> {
  const outcome = await editText(
    call,
    "replace" in edit ? { ...place, refuse: (file) => refuseReveal(call, file) } : place,
    edit,
  );
  const { summary, facts } = receiptOf(outcome);
  const isHidden = outcome.act === "replaced" && outcome.file.encrypted && !call.revealsSharedText;
  return {
    summary:
      "replace" in edit
        ? "Replaced, as the file's new version."
        : outcome.act === "created"
          ? summary
          : "Appended, as the file's new version.",
    facts: isHidden ? { ...facts, sha256: null } : facts,
  };
}
