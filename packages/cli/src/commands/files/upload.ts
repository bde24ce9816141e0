import {
  resolvePath,
  noSuchFile,
  storeStream,
  uploadPaths,
  untrusted,
  writableVault,
  type AllowedFolders,
  type UploadOutcome,
  type UploadPlan,
} from "@coffer/tasks";
import { argument, choice, command, text, toggle } from "../../declarations.ts";
import { CommandFailure, usage } from "../../failure.ts";
import { done, type Document } from "../../result.ts";
import { flagWord } from "../../shell-word.ts";
import { sizeText } from "../../terminal/visible.ts";
import { plain } from "./item-rows.ts";
import { localPaths } from "./local-paths.ts";
import { EXCLUDE, INCLUDE, rulesOf } from "./path-rules.ts";
import { vaultIdOf } from "./vault-paths.ts";
import { splitVaultPath } from "../../vault-path.ts";
import { statSync } from "node:fs";
import { transferReport, withProgress, type TransferReportOptions } from "./transfer-report.ts";

export default command({
  brief: "Upload files and folders",
  description:
    "A folder goes with everything in it, under its own name, but for what its .cofferignore leaves out in the syntax of .gitignore. What is in the vault unchanged is not sent again: after a failure run the same line once more.",
  examples: [
    { line: 'coffer upload report.pdf photos --vault "Team" --folder 2027/May', does: "a file and a folder" },
    { line: "coffer upload site --vault Backups --if-exists version", does: "replace what has changed" },
    { line: "coffer upload --stdin --name dump.sql --vault Backups < dump.sql", does: "what a program writes" },
  ],
  flags: {
    vault: text("Vault to upload to: name, id, or beginning of the id; needed when you can write to several", {
      placeholder: "VAULT",
    }),
    folder: text("Folder in the vault: a path or an id; missing folders of a path are made. The top without it", {
      placeholder: "FOLDER",
    }),
    name: text("Name that a single file gets in the vault; its own without it", { placeholder: "NAME" }),
    stdin: toggle("Upload standard input; needs --name"),
    ifExists: choice(
      "What to do when the name is taken: fail, add a version, add a number, or leave it. error without it",
      ["error", "version", "rename", "skip"],
    ),
    expectedVersion: text("Only replace a file that still has this version or tag, as coffer stat shows it", {
      placeholder: "VERSION",
    }),
    type: text("Media type of a single file, such as text/plain; found by its name without it", {
      placeholder: "TYPE",
    }),
    exclude: EXCLUDE,
    include: INCLUDE,
    dryRun: toggle("Only show what would be sent"),
  },
  args: { each: argument("path", "File or folder of this machine"), least: 0 } as const,
  run: async (context, flags, names) => {
    const { dryRun, expectedVersion, folder = null, ifExists = "error", name, type: mimeType, vault } = flags;
    const isInput = names.length === 1 && INPUT.has(names[0] ?? "");
    const stdin = flags.stdin || isInput;
    if (!isInput && stdin === names.length > 0)
      throw usage("Name paths, or pass --stdin with --name", "coffer upload PATH --vault VAULT");
    if (stdin && (name === undefined || dryRun))
      throw usage("--stdin needs a name for the file, and sends at once", "pass --name NAME, without --dry-run");
    if (expectedVersion !== undefined && names.length > 1)
      throw usage("--expected-version is for a single file", "upload the files one by one, or leave it out");
    const { allowed, paths } = localPaths(context.world, isInput ? [] : names);
    if (!isInput) await refuseVaultPaths(names, paths, allowed);
    const { task } = context;
    const vaultId = vault === undefined ? await writableVault(task, null) : await vaultIdOf(task, vault);
    const plan: UploadPlan = {
      vaultId,
      folder,
      ifExists,
      expectedVersion,
      name,
      mimeType,
      dryRun,
      rules: rulesOf(flags),
    };
    const { files, only } = await withProgress(context, "Uploading", async (watched) =>
      name !== undefined && stdin
        ? { files: [], only: await storeStream(watched, context.world.stdin.pieces(context.signal), { ...plan, name }) }
        : await uploadPaths(watched, allowed, paths, plan),
    );
    return only === null ? transferReport(files, { ...WORDS, dryRun }, { vaultId }) : oneStored(only);
  },
});

/** Names that other programs take for standard input. A file of the name `-` is `./-`. */
const INPUT: ReadonlySet<string> = new Set(["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"]);

/** People write where it goes as for other commands: `coffer upload a.txt Team:`. */
async function refuseVaultPaths(
  names: readonly string[],
  paths: readonly string[],
  allowed: AllowedFolders,
): Promise<void> {
  for (const [at, word] of names.entries()) {
    const path = paths[at] ?? word;
    const stats = statSync(path, { throwIfNoEntry: false });
    if (INPUT.has(word) || (stats !== undefined && !stats.isFile() && !stats.isDirectory()))
      throw usage(
        `${untrusted(word).visible()} is a stream, and no file: only standard input is sent as it comes`,
        "COMMAND | coffer upload --stdin --name NAME --vault VAULT",
      );
    if (stats !== undefined) continue;
    const split = splitVaultPath(word);
    if (split === null && names.length === 1) throw await missing(word, path, allowed);
    if (split === null) continue;
    const visible = (text: string): string => untrusted(text).visible();
    const folder = split.path === "" ? "" : ` ${flagWord("--folder", visible(split.path))}`;
    throw usage(
      `${untrusted(word).visible()} is no file of this machine, and the vault is named by --vault`,
      `coffer upload PATH ${flagWord("--vault", visible(split.vault))}${folder}`,
    );
  }
}

async function missing(word: string, path: string, allowed: AllowedFolders): Promise<CommandFailure> {
  const { detail, message } = await noSuchFile(allowed, await resolvePath(allowed, path));
  const what = untrusted(word).visible();
  return new CommandFailure("file_not_found", {
    message: detail === null ? `There is no such local file: ${what}` : `${message}: ${detail.visible()}`,
  });
}

const WORDS: Omit<TransferReportOptions, "dryRun"> = {
  moved: "uploaded",
  differs: "it exists there and differs; --if-exists version replaces it",
};

const SENTENCES: Readonly<Record<UploadOutcome["act"], string>> = {
  created: "Uploaded",
  replaced: "Uploaded as a new version of",
  unchanged: "Unchanged, and not sent again:",
  skipped: "Exists, and was left as it is:",
};

function oneStored({ act, bytes, file, sha256 }: UploadOutcome): Document {
  const uploaded = act === "created" || act === "replaced" ? 1 : 0;
  const counts = { uploaded, unchanged: Number(act === "unchanged"), skipped: Number(act === "skipped"), failed: 0 };
  return done({ act, ...counts, bytes, sha256, file: plain(file) }, [
    untrusted(`${SENTENCES[act]} ${file.name} (${sizeText(bytes)})`),
    `id      ${file.id}`,
    ...(sha256 === null ? [] : [`sha256  ${sha256}`]),
  ]);
}
