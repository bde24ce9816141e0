import { syncFolders, untrusted, type SyncPlan, type Task } from "@coffer/tasks";
import type { FolderResult } from "@coffer/sdk/node";
import { argument, command, toggle } from "../../declarations.ts";
import { EXIT } from "../../exit-codes.ts";
import { usage } from "../../failure.ts";
import { done, type Document, type Shown } from "../../result.ts";
import { sizeText } from "../../terminal/visible.ts";
import { localPaths } from "./local-paths.ts";
import { isTop, orListOf, splitPlace, vaultIdOf } from "./places.ts";
import { withProgress } from "./transfers.ts";

export default command({
  brief: "Make a vault folder like a local one, or the other way round",
  description:
    "It sends what is new or has changed since the last run. What the receiving side changed by itself stays, and counts as failed. Nothing is deleted unless --delete asks for it, and then only what an earlier run put there and nobody changed since.",
  examples: [
    { line: "coffer sync site Team:site --dry-run", does: "the plan, and nothing else" },
    { line: "coffer sync site Team:site --delete", does: "what was deleted here goes to the trash there" },
    { line: "coffer sync Team:site copy", does: "the other way" },
    { line: "coffer sync Team:site copy --delete", does: "what is gone there is deleted here, for good" },
  ],
  flags: {
    dryRun: toggle("Only show the plan"),
    delete: toggle("Also take away what was deleted: in the vault to its trash, here for good"),
    overwrite: toggle("Also replace what the receiving side changed by itself"),
  },
  args: [
    argument("source", "Local folder, or VAULT:PATH"),
    argument("dest", "The other of the two; a local folder with a colon is written ./a:b"),
  ] as const,
  run: async (context, { delete: deletes, dryRun, overwrite }, [source, dest]) => {
    const [from, to] = [splitPlace(source), splitPlace(dest)];
    const remote = from ?? to;
    if (remote === null || (from !== null && to !== null))
      throw usage("One of the two is a local folder, and the other is VAULT:PATH", "coffer sync FOLDER VAULT:PATH");
    const direction = from === null ? "up" : "down";
    const { allowed, paths } = localPaths(context.world, [direction === "up" ? source : dest]);
    const plan: SyncPlan = {
      ...{ direction, deletes, overwrite, dryRun, path: paths[0] ?? "" },
      vaultId: await vaultIdOf(context.task, remote.vault),
      folder: isTop(remote.path) ? null : remote.path,
    };
    const title = direction === "up" ? "Uploading" : "Downloading";
    const work = (task: Task) => orListOf(remote.vault, () => syncFolders(task, allowed, plan));
    return reportOf(direction, await withProgress(context, title, work));
  },
});

function reportOf(
  direction: SyncPlan["direction"],
  { dryRun, failed, files, folders, plan, skipped }: FolderResult,
): Document {
  const of = (act: string): number => files.filter((file) => file.act === act).length;
  const moved = files.filter(({ act }) => act === "created" || act === "replaced");
  const bytes = moved.reduce((sum, { size }) => sum + size, 0);
  const counts = {
    ...{ created: of("created"), replaced: of("replaced"), unchanged: of("unchanged"), removed: of("removed") },
    ...{ failed: failed.length, skipped: skipped.length },
  };
  const summary = Object.entries(counts).map(([word, count]) => `${word} ${String(count)}`);
  const lines: Shown[] = [
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
      exit: failed.length > 0 ? EXIT.someFailed : EXIT.done,
    },
  );
}

const DIFFERS = "both sides have it and differ; --overwrite replaces the receiving side's";
