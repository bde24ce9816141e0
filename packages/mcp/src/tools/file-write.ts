import { api } from "@coffer/contract";
import { storeText, TaskFailure, withPath, writableVault } from "@coffer/tasks";
import * as z from "zod/mini";
import { defineTool } from "../tool.ts";
import { receiptOf } from "./file-upload.ts";
import { RECEIPT } from "./file-facts.ts";
import { folderRef, vaultRef } from "./reference-input.ts";

const MOST_BYTES = 65_536;

export const fileWrite = defineTool({
  name: "file_write",
  profile: "agent",
  title: "Write a text file",
  description: "Stores a text of up to 64 KiB as a file in a vault. Use file_upload for local files.",
  endpoints: [api.account.get, api.files.list, api.files.upload, api.files.replace],
  input: {
    name: z.string().check(z.minLength(1), z.maxLength(1024)),
    text: z.string().check(z.maxLength(MOST_BYTES)),
    vaultId: z.optional(vaultRef),
    folder: z.optional(folderRef),
    ifExists: z._default(z.enum(["error", "version", "rename", "skip"]), "error"),
    expectedVersion: z.optional(z.string().check(z.maxLength(80))),
  },
  describe: {
    name: "like notes.md",
    text: "the content",
    folder: "id or path, made if missing; default: top",
    ifExists: "if the name is taken",
    expectedVersion: "tag or versionId; default: any",
  },
  output: RECEIPT,
  run: async ({ text, vaultId, folder, ...uploadOptions }, call) => {
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > MOST_BYTES)
      throw new TaskFailure("invalid_arguments", { message: "text: at most 65,536 bytes; use file_upload for more" });
    const vault = await writableVault(call, vaultId ?? null);
    return receiptOf(
      await storeText(call, bytes, withPath({ ...uploadOptions, vaultId: vault, folder: folder ?? null })),
    );
  },
});
