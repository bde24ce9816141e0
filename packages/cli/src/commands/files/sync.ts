import { restoreSynced, syncFolders, untrusted, type SyncPlan, type Task } from "@coffer/tasks";
import type { FolderResult, RestoreRemovedResult } from "@coffer/sdk/node";
import type { Context } from "../../context.ts";
import { argument, command, count, optionalArgument, text, toggle } from "../../declarations.ts";
import { exitOfActs } from "../../exit-codes.ts";
import { usage } from "../../failure.ts";
import { done, type Document, type Printable } from "../../result.ts";
import { sizeText } from "../../terminal/visible.ts";
import { boundOf, LOOKS_BACK } from "../../times.ts";
import { localPaths } from "./local-paths.ts";
import { EXCLUDE, INCLUDE, rulesOf } from "./path-rules.ts";
import { isTop, withListHint, vaultIdOf } from "./vault-paths.ts";
import { splitVaultPath } from "../../vault-path.ts";
import { withProgress } from "./transfer-report.ts";

export default command({
  brief: "Make a vault folder like a local one, or the other way round",
  description: `It sends what is new or has changed since the last run. What the receiving side changed by itself stays, and counts as failed. Nothing is deleted unless --delete asks for it, and then only what an earlier run put there and nobody changed since. What it removes or replaces here is kept for 30 days, and --restore brings it back. It lies in .coffer-trash beside the local folder, or in it if that is a mount point. A run that would remove more than half of the files of a side, or any for an empty source, stops before it does anything. ${LOOKS_BACK}`,
  examples: [
    { line: "coffer sync site Team:site --dry-run", does: "the plan, and nothing else" },
    { line: "coffer sync site Team:site --delete", does: "what was deleted here goes to the trash there" },
    {
      line: "coffer sync site Team:site --exclude 'node_modules/'",
      does: "without some of it, as .cofferignore says it too",
    },
    { line: "coffer sync Team:site copy", does: "the other way" },
    { line: "coffer sync Team:site copy --delete", does: "what is gone there goes to a trash here" },
    { line: "coffer sync Team:site copy --delete --max-delete 200", does: "even if that is more than half" },
    { line: "coffer sync --restore copy", does: "brings back what the last run took from it" },
    { line: "coffer sync --restore copy --since 3d --dry-run", does: "what all runs of three days took" },
  ],
  flags: {
    dryRun: toggle("Only show the plan"),
    delete: toggle("Also take away what was deleted, to the trash of the vault or of this machine"),
    maxDelete: count("Most files that --delete may remove (default: half of them)", 0),
    full: toggle("List all of an encrypted vault again, which otherwise happens once a day"),
    overwrite: toggle("Also replace what the receiving side changed by itself; with --restore, what is there now"),
    restore: toggle("Bring back what sync removed or replaced in a local folder"),
    exclude: EXCLUDE,
    include: INCLUDE,
    since: text("With --restore: what was taken since this time", { placeholder: "TIME" }),
  },
  args: [
    argument("source", "Local folder, or VAULT:PATH"),
    optionalArgument("dest", "The other of the two; a local folder with a colon is written ./a:b"),
  ] as const,
  run: async (context, flags, [source, dest]) => {
    const { delete: deletes, dryRun, full, maxDelete, overwrite, restore, since } = flags;
    if (restore) {
      if (dest !== undefined || deletes || full || maxDelete !== undefined)
        throw usage("--restore takes one local folder, and asks no vault", "coffer sync --restore FOLDER");
      return await bringBack(context, source, { dryRun, overwrite, since });
    }
    if (since !== undefined) throw usage("--since is for --restore", "coffer sync --restore FOLDER --since 3d");
    if (dest === undefined) throw usage("The other of the two is not named", "coffer sync FOLDER VAULT:PATH");
    const [from, to] = [splitVaultPath(source), splitVaultPath(dest)];
    const remote = from ?? to;
    if (remote === null || (from !== null && to !== null))
      throw usage("One of the two is a local folder, and the other is VAULT:PATH", "coffer sync FOLDER VAULT:PATH");
    const direction = from === null ? "up" : "down";
    const { allowed, paths } = localPaths(context.world, [direction === "up" ? source : dest]);
    const plan: SyncPlan = {
      direction,
      deletes,
      maxDelete,
      overwrite,
      dryRun,
      full,
      rules: rulesOf(flags),
      path: paths[0] ?? "",
      vaultId: await vaultIdOf(context.task, remote.vault),
      folder: isTop(remote.path) ? null : remote.path,
    };
    const title = direction === "up" ? "Uploading" : "Downloading";
    const work = (task: Task) => withListHint(remote.vault, () => syncFolders(task, allowed, plan));
    return reportOf(direction, await withProgress(context, title, work));
  },
});

interface Restoring {
  readonly dryRun: boolean;
  readonly overwrite: boolean;
  readonly since: string | undefined;
}

async function bringBack(context: Context, folder: string, { dryRun, overwrite, since }: Restoring): Promise<Document> {
  const { allowed, paths } = localPaths(context.world, [folder]);
  const options = since === undefined ? {} : { since: new Date(boundOf(context, "--since", since)) };
  return restoredReport(await restoreSynced(context.task, allowed, paths[0] ?? "", { dryRun, overwrite, ...options }));
}

function restoredReport({ dryRun, failed, files, folders }: RestoreRemovedResult): Document {
  const of = (act: string): number => files.filter((file) => file.act === act).length;
  const counts = { restored: of("restored"), exists: of("exists"), failed: failed.length };
  const lines: Printable[] = [
    ...files.map(({ act, path, removedAt }) =>
      untrusted(act === "exists" ? `left: ${path} (${EXISTS})` : `restored: ${path} (removed ${removedAt})`),
    ),
    ...failed.map(({ message, path }) => untrusted(`failed: ${path}: ${message}`)),
    `${dryRun ? "Plan: " : ""}restored ${String(counts.restored)}, left ${String(counts.exists)}, failed ${String(counts.failed)}`,
  ];
  return done({ dryRun, ...counts, files, folders, failures: failed }, lines, {
    exit: exitOfActs(failed.length),
  });
}

const EXISTS = "the folder has one now; --overwrite replaces it";

function reportOf(
  direction: SyncPlan["direction"],
  { dryRun, failed, files, folders, plan, skipped }: FolderResult,
): Document {
  const of = (act: string): number => files.filter((file) => file.act === act).length;
  const moved = files.filter(({ act }) => act === "created" || act === "replaced");
  const bytes = moved.reduce((sum, { size }) => sum + size, 0);
  const counts = {
    created: of("created"),
    replaced: of("replaced"),
    unchanged: of("unchanged"),
    removed: of("removed"),
    failed: failed.length,
    skipped: skipped.length,
  };
  const summary = Object.entries(counts).map(([word, count]) => `${word} ${String(count)}`);
  const lines: Printable[] = [
    ...(dryRun
      ? files.filter(({ act }) => act !== "unchanged").map(({ act, path }) => untrusted(`${act}: ${path}`))
      : []),
    ...skipped.map(({ path, reason }) => untrusted(`skipped: ${path} (${reason})`)),
    ...failed.map(({ code, message, path }) =>
      untrusted(`failed: ${path}: ${code === "destination_exists" ? DIFFERS : message}`),
    ),
    `${dryRun ? "Plan: " : ""}${summary.join(", ")} (${sizeText(bytes)})`,
  ];
  return done(
    { direction, dryRun, ...counts, bytes, plan, files, folders, skippedItems: skipped, failures: failed },
    lines,
    {
      exit: exitOfActs(failed.length),
    },
  );
}

const DIFFERS = "both sides have it and differ; --overwrite replaces the receiving side's";
