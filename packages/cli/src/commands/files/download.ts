import { downloadFolderTo, downloadOne, findVersion, untrusted, type DownloadPlan } from "@coffer/tasks";
import { argument, command, optionalArgument, text, toggle } from "../../declarations.ts";
import { usage } from "../../failure.ts";
import { done } from "../../result.ts";
import { argumentWord } from "../../shell-word.ts";
import { sizeText } from "../../terminal/visible.ts";
import { localPaths } from "./local-paths.ts";
import { VAULT, targetAt } from "./vault-paths.ts";
import { EXCLUDE, INCLUDE, rulesOf } from "./path-rules.ts";
import { RANGE } from "./range-flag.ts";
import { transferReport, withProgress } from "./transfer-report.ts";

export default command({
  brief: "Download a file, a folder or a whole vault",
  description:
    "Each file is whole and verified, or absent. What exists here and differs is left alone without --overwrite.",
  examples: [
    { line: 'coffer download "Team:2027/report.pdf"', does: "into the current folder" },
    { line: "coffer download Team:photos copies --overwrite", does: "a folder with all below it" },
    { line: "coffer download Team:video.mp4 part.bin --range 0-1048575", does: "the first MiB" },
  ],
  flags: {
    vault: VAULT,
    overwrite: toggle("Replace what exists here and differs"),
    range: RANGE,
    version: text("Version of a single file: its number or its id", { placeholder: "VERSION" }),
    exclude: EXCLUDE,
    include: INCLUDE,
    ciphertext: toggle("Write the stored bytes, encrypted as they are"),
  },
  args: [
    argument("file", "VAULT:PATH or an id, of a file or a folder"),
    optionalArgument("dest", "File or folder of this machine; the current folder without it"),
  ] as const,
  run: async (context, flags, [firstText, dest = "."]) => {
    const { ciphertext, overwrite, range, vault, version } = flags;
    if (dest === "-" || dest === "/dev/stdout")
      throw usage(
        "A download is a file of this machine, and no stream",
        `coffer cat ${argumentWord(untrusted(firstText).visible())}`,
      );
    const { allowed, paths } = localPaths(context.world, [dest]);
    const { item, vaultId } = await targetAt(context.task, firstText, vault);
    const plan: DownloadPlan = {
      dest: paths[0] ?? dest,
      overwrite,
      skips: false,
      versionId: null,
      range: null,
      ciphertext,
      rules: rulesOf(flags),
    };
    if (item === null || item.kind === "folder") {
      if (range !== undefined || version !== undefined || ciphertext)
        throw usage("--range, --version and --ciphertext are for a single file", "name a file: coffer ls VAULT:PATH");
      const folder = item?.folder ?? null;
      const rows = await withProgress(context, "Downloading", (task) =>
        downloadFolderTo(task, allowed, vaultId, folder, plan),
      );
      return transferReport(rows, WORDS, { vaultId, folderId: folder?.id ?? null });
    }
    const { file } = item;
    const versionId = version === undefined ? null : await findVersion(context.task, file, version);
    const size = ciphertext ? (file.storedSize ?? file.size) : file.size;
    const whole: DownloadPlan = { ...plan, versionId, range: range?.of(size) ?? null };
    const { bytes, path, sha256 } = await withProgress(context, "Downloading", (task) =>
      downloadOne(task, allowed, file, whole),
    );
    return done({ path, bytes, sha256, fileId: file.id, versionId: versionId ?? file.versionId }, [
      untrusted(`Downloaded ${path} (${sizeText(bytes)})`),
      `sha256  ${sha256}`,
    ]);
  },
});

const WORDS = {
  moved: "downloaded",
  differs: "it exists here and differs; --overwrite replaces it",
  dryRun: false,
} as const;
