import { api } from "@coffer/contract";
import { openSource, untrusted, uploadSource } from "@coffer/tasks";
import * as z from "zod/mini";
import { defineTool } from "../tool.ts";
import { localPath } from "./places.ts";
import { RECEIPT } from "./own-file.ts";

const upload = api.files.upload;

export const fileUpload = defineTool({
  name: "file_upload",
  profile: "agent",
  title: "Upload a local file",
  description:
    "Stores a local file in a vault. Answers with a receipt: fileId, bytes, sha256. Safe to repeat with the same idempotencyKey.",
  endpoints: [api.account.get, api.files.list, api.files.upload, api.files.replace],
  touchesFiles: true,
  resumes: true,
  input: {
    path: localPath,
    vaultId: api.files.get.output.shape.file.shape.vaultId,
    folderId: upload.query.shape.folderId,
    name: upload.query.shape.name,
    mimeType: upload.headers.shape["content-type"],
    ifExists: z._default(z.enum(["error", "version", "rename"]), "error"),
    idempotencyKey: z.optional(
      z.string().check(z.regex(/^[\x21-\x7e]{1,200}$/, "must be 1 to 200 visible ASCII characters")),
    ),
  },
  describe: {
    folderId: "default: top of the vault",
    name: "default: the file's own",
    mimeType: "default: by the name",
    idempotencyKey: "repeats store once; default: none",
    ifExists: "if the name is taken: fail, new content, or number it",
  },
  output: RECEIPT,
  run: async (args, call) => {
    await using source = await openSource(call.folders, args.path);
    const { file, bytes, sha256, replaced } = await uploadSource(call, source, args);
    return {
      summary: replaced ? "Stored as the file's new version." : "Stored.",
      facts: {
        fileId: file.id,
        bytes,
        sha256,
        vaultId: file.vaultId,
        folderId: file.folderId,
        name: untrusted(file.name),
      },
    };
  },
});
