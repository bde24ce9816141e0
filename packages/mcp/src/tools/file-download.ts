import { relative } from "node:path";
import { api } from "@coffer/contract";
import {
  type DownloadPlan,
  downloadFolderTo,
  downloadMany,
  downloadOne,
  findFolder,
  findVersion,
  makeDownloadsFolder,
  allowOverwrites,
  type Overwrite,
  findFileOverwrites,
  findFolderOverwrites,
  requireAllowed,
  TaskFailure,
  untrusted,
} from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "../call.ts";
import type { Outcome } from "../result.ts";
import { COUNT, TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { byteCount } from "../fact-values.ts";
import { findOwnFile, findReadableFile, RECEIPT } from "./file-facts.ts";
import { folderRef, itemRef, localPath, namedVault, vaultRef } from "./reference-input.ts";
import { REPORT, reportOf } from "./transfer-rows.ts";

const MOST_FILES = 100;

export const fileDownload = defineTool({
  name: "file_download",
  profile: "read",
  title: "Download files or a folder",
  description:
    "Gets files or a folder back to local disk, verified, below downloadsFolder of status_check; only the user moves them elsewhere.",
  endpoints: [api.files.get, api.files.content],
  // A call only reads from the service, but writes local files, and replaces them with ifExists: replace.
  hints: { readOnlyHint: false, destructiveHint: true },
  touchesFiles: true,
  needsFolders: true,
  input: {
    files: z.optional(z.array(itemRef).check(z.maxLength(MOST_FILES))),
    folder: z.optional(folderRef),
    vaultId: z.optional(vaultRef),
    dest: localPath,
    ifExists: z._default(z.enum(["error", "replace", "skip"]), "error"),
    version: z.optional(z.string().check(z.maxLength(64))),
    offset: z.optional(z.int().check(z.gte(0))),
    length: z.optional(z.int().check(z.gte(1))),
    ciphertext: z._default(z.boolean(), false),
    confirm: z.optional(z.string().check(z.maxLength(200))),
  },
  describe: {
    files: "ids (8 digits do) or paths; default: the folder",
    folder: "id or path, / for all; default: the files",
    vaultId: "id or name, for paths; default: none",
    dest: "local file or folder, from there",
    ifExists: "if it exists; replace asks the user",
    version: "number or id, of one file; default: newest",
    offset: "first byte; default: 0",
    length: "bytes; default: to the end",
    ciphertext: "keep it encrypted",
    confirm: "token the user agreed to; default: none",
  },
  output: { ...RECEIPT, fileBytes: COUNT, ...REPORT, preview: TEXT, confirm: TEXT },
  run: async (args, call) => {
    const { files = [], folder } = args;
    if ((files.length === 0) === (folder === undefined))
      throw new TaskFailure("invalid_arguments", { message: "Name either files or folder" });
    await makeDownloadsFolder(call.downloads);
    await requireAllowed(call.downloads, args.dest);
    const vault = await namedVault(call, args.vaultId);
    const plan: DownloadPlan = {
      dest: args.dest,
      overwrite: args.ifExists === "replace" && (await agreedOverwrites(call, vault, args)),
      skips: args.ifExists === "skip",
      versionId: null,
      range: rangeOf(args.offset, args.length),
      ciphertext: args.ciphertext,
    };
    return await call.transfers.run(async (watch) => {
      const running = call.watchedBy(watch);
      if (folder !== undefined) return await folderTo(running, vault, folder, plan);
      const [only = "", ...others] = files;
      if (others.length === 0) return await oneTo(running, vault, only, plan, args.version);
      refuseForMany(args.version, plan);
      const find = args.ciphertext ? findOwnFile : findReadableFile;
      const sources = await Promise.all(files.map((each) => find(running, each, vault)));
      if (!args.ciphertext && sources.some(({ encrypted }) => encrypted)) call.recordClosedContent();
      const rows = await downloadMany(running, call.downloads, sources, plan);
      return call.transfers.report((start) => reportOf(rows, start));
    });
  },
});

interface ReplaceArguments {
  readonly files?: readonly string[] | undefined;
  readonly folder?: string | undefined;
  readonly dest: string;
  readonly confirm?: string | undefined;
}

/**
 * Asks before local files are replaced, which nothing brings back. What appears here or at the service meanwhile is left alone.
 * @throws TaskFailure `confirmation_required`, `declined`.
 */
async function agreedOverwrites(
  call: Call,
  vault: string | null,
  args: ReplaceArguments,
): Promise<DownloadPlan["overwrite"]> {
  const { confirm: token, dest, files = [], folder: folderText } = args;
  const find = async (): Promise<Overwrite[]> => {
    if (folderText === undefined) {
      const sources = await Promise.all(files.map((each) => findOwnFile(call, each, vault)));
      return await findFileOverwrites(call.downloads, sources, dest);
    }
    const { folder, vaultId } = await folderOf(call, vault, folderText);
    return await findFolderOverwrites(call, call.downloads, vaultId, folder, dest);
  };
  const overwrites = await find();
  if (overwrites.length === 0) return false;
  const [top = ""] = call.downloads.folders;
  await call.confirm({
    preview: `Replace ${String(overwrites.length)} local files below the folder for downloads: ${namesOf(overwrites, top)}`,
    state: overwrites,
    stateNow: find,
    token,
    isFinal: true,
  });
  return allowOverwrites(overwrites);
}

const MOST_NAMED = 10;

/** Others may have chosen a name, and a preview is no place for their sentences: such a file goes by its id. */
function namesOf(replaced: readonly Overwrite[], top: string): string {
  const names = replaced.slice(0, MOST_NAMED).map(({ path, fileId }) => {
    const below = relative(top, path);
    return /^[\w./-]{1,100}$/.test(below) ? below : `what file ${fileId?.slice(0, 8) ?? ""} is to replace`;
  });
  return [...names, ...(replaced.length > MOST_NAMED ? ["and more"] : [])].join(", ");
}

function refuseForMany(version: string | undefined, { range }: DownloadPlan): void {
  if (version !== undefined || range !== null)
    throw new TaskFailure("invalid_arguments", { message: "version, offset and length are for a single file" });
}

async function folderTo(call: Call, vault: string | null, folderText: string, plan: DownloadPlan): Promise<Outcome> {
  refuseForMany(undefined, plan);
  const { folder, vaultId } = await folderOf(call, vault, folderText);
  const { type } = await (await call.client()).vaults.get(vaultId, { signal: call.signal });
  if (type !== "public" && !plan.ciphertext) call.recordClosedContent();
  const rows = await downloadFolderTo(call, call.downloads, vaultId, folder, plan);
  return call.transfers.report((start) => reportOf(rows, start));
}

async function folderOf(call: Call, vault: string | null, folderText: string) {
  const folder = await findFolder(call, vault, folderText);
  const vaultId = folder?.vaultId ?? vault;
  if (vaultId === null) throw new TaskFailure("vault_required");
  return { folder, vaultId };
}

async function oneTo(
  call: Call,
  vault: string | null,
  fileText: string,
  plan: DownloadPlan,
  version: string | undefined,
): Promise<Outcome> {
  const file = await (plan.ciphertext ? findOwnFile : findReadableFile)(call, fileText, vault);
  const versionId = version === undefined ? null : await findVersion(call, file, version);
  if (file.encrypted && !plan.ciphertext) call.recordClosedContent();
  const size = plan.ciphertext ? (file.storedSize ?? file.size) : file.size;
  if (plan.range !== null && versionId === null && plan.range.offset >= size)
    throw new TaskFailure("invalid_arguments", { message: `offset must be below the file's ${byteCount(size)}` });
  const done = await downloadOne(call, call.downloads, file, { ...plan, versionId });
  return {
    summary: downloaded(plan.range !== null, plan.ciphertext),
    facts: {
      fileId: file.id,
      ...(versionId === null ? {} : { versionId }),
      path: untrusted(done.path),
      bytes: done.bytes,
      sha256: done.sha256,
      ...(versionId === null ? { fileBytes: size } : {}),
    },
  };
}

function rangeOf(offset: number | undefined, length: number | undefined): DownloadPlan["range"] {
  if (offset === undefined && length === undefined) return null;
  return { offset: offset ?? 0, ...(length === undefined ? {} : { length }) };
}

function downloaded(isPart: boolean, ciphertext: boolean): string {
  if (isPart) return ciphertext ? "Downloaded the part of the stored bytes." : "Downloaded the part.";
  return ciphertext
    ? "Downloaded the stored bytes, which are encrypted in a shared vault."
    : "Downloaded and verified.";
}
