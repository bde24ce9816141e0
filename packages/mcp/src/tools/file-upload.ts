import { api } from "@coffer/contract";
import { resolvePath, type UploadOutcome, untrusted, uploadPaths, withPath, writableVault } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Outcome } from "../result.ts";
import { FLAG } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { RECEIPT } from "./file-facts.ts";
import { folderRef, localPath, vaultRef } from "./reference-input.ts";
import { REPORT, reportOf } from "./transfer-rows.ts";

/** Paths of one call. A folder is one path, however much is in it. */
const MOST_PATHS = 500;

export const fileUpload = defineTool({
  name: "file_upload",
  profile: "agent",
  title: "Upload local files or folders",
  description:
    "Stores (backs up, sends) local files and folders in a vault, a folder under its own name. What is there unchanged is not sent: after a failure repeat the call.",
  endpoints: [api.account.get, api.files.list, api.files.upload, api.files.replace],
  touchesFiles: true,
  needsFolders: true,
  resumes: true,
  input: {
    paths: z.array(localPath).check(z.minLength(1), z.maxLength(MOST_PATHS)),
    vaultId: z.optional(vaultRef),
    folder: z.optional(folderRef),
    name: z.optional(z.string().check(z.maxLength(1024))),
    ifExists: z._default(z.enum(["error", "version", "rename", "skip"]), "error"),
    expectedVersion: z.optional(z.string().check(z.maxLength(80))),
    idempotencyKey: z.optional(
      z.string().check(z.regex(/^[\x21-\x7e]{1,200}$/, "must be 1 to 200 visible ASCII characters")),
    ),
    dryRun: z._default(z.boolean(), false),
  },
  describe: {
    paths: "local files or folders",
    folder: "id or path, made if missing; default: top",
    name: "of a single file; default: its own",
    ifExists: "if the name is taken",
    expectedVersion: "tag or versionId; default: any",
    idempotencyKey: "repeats store once; default: none",
    dryRun: "only plan",
  },
  output: { ...RECEIPT, ...REPORT, dryRun: FLAG },
  run: async (args, call) => {
    const [only, ...others] = args.paths;
    // A path that is refused asks nobody.
    if (only !== undefined && others.length === 0) await resolvePath(call.folders, only);
    const vaultId = await writableVault(call, args.vaultId ?? null);
    // A user who has to agree is asked now: after 20 seconds the call returns, and its transfer goes on alone.
    if (!args.dryRun) await call.clientFor(vaultId);
    const { paths, folder = null, ...uploadOptions } = args;
    const plan = withPath({ ...uploadOptions, vaultId, folder });
    return await call.transfers.run(async (watch) => {
      const task = call.watchedBy(watch);
      const { files, only } = await uploadPaths(task, call.folders, paths, plan);
      return only === null ? call.transfers.report((start) => reportOf(files, start)) : receiptOf(only);
    });
  },
});

const SUMMARIES: Readonly<Record<UploadOutcome["act"], string>> = {
  created: "Stored.",
  replaced: "Stored as the file's new version.",
  unchanged: "The vault has this content already; nothing was sent.",
  skipped: "A file of that name exists and was left as it is.",
};

export function receiptOf({ file, bytes, sha256, act }: UploadOutcome): Outcome {
  return {
    summary: SUMMARIES[act],
    facts: {
      fileId: file.id,
      versionId: file.versionId,
      ...(file.tag === undefined ? {} : { tag: file.tag }),
      ...(act === "skipped" ? {} : { bytes, sha256 }),
      vaultId: file.vaultId,
      folderId: file.folderId,
      name: untrusted(file.name),
    },
  };
}
