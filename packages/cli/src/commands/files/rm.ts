import { deleteItems, itemsBelow, trashItems, type ItemOutcome, type Task } from "@coffer/tasks";
import type { File } from "@coffer/sdk";
import { argument, command, toggle } from "../../declarations.ts";
import { usage } from "../../failure.ts";
import { sizeText } from "../../terminal/visible.ts";
import { actReport, findByNames } from "./act-report.ts";
import { VAULT } from "./vault-paths.ts";

export default command({
  brief: "Move files and folders to the trash, or delete them for good",
  description:
    "The trash keeps them for 30 days: coffer trash restore brings them back. With --permanent all files of a folder are deleted, and the empty folder goes to the trash. What is deleted for good cannot be read any more, and its bytes leave the server's disk 24 hours later.",
  examples: [
    { line: "coffer rm Team:a.txt Team:b.txt", does: "to the trash" },
    { line: "coffer rm -r Team:old", does: "a folder with all below it" },
    { line: "coffer rm 3f2a9c1e --permanent --yes", does: "for good, without a question" },
    { line: "coffer rm Team:old --recursive --permanent", does: "all files of a folder for good" },
  ],
  flags: {
    vault: VAULT,
    recursive: toggle("Also folders, with everything in them", { letter: "r" }),
    permanent: toggle("Delete for good, also what is in the trash"),
  },
  args: { each: argument("file", "VAULT:PATH or an id"), least: 1 } as const,
  run: async (context, { permanent, recursive, vault }, names) => {
    const outcomes = await findByNames(context, names, vault, { trashed: permanent });
    const hasFolder = outcomes.some(({ item }) => item?.kind === "folder");
    if (hasFolder && !recursive) throw usage("This is a folder", "pass --recursive to take all that is below it, too");
    if (!permanent) return actReport(await trashItems(context.task, outcomes), "trashed");
    const below = await belowFolders(context.task, outcomes);
    if (outcomes.some(({ item }) => item !== null)) await context.confirm(questionOf(outcomes, below));
    return actReport(await deleteItems(context.task, outcomes, below), "deleted");
  },
});

type Below = ReadonlyMap<string, readonly File[]>;

async function belowFolders(task: Task, outcomes: readonly ItemOutcome[]): Promise<Below> {
  const below = new Map<string, readonly File[]>();
  for (const { item } of outcomes)
    if (item?.kind === "folder") below.set(item.id, (await itemsBelow(task, item.folder, Infinity))?.files ?? []);
  return below;
}

function questionOf(outcomes: readonly ItemOutcome[], below: Below): string {
  const files = outcomes.flatMap(({ item }) =>
    item?.kind === "file" ? [item.file] : (below.get(item?.id ?? "") ?? []),
  );
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return `Delete ${String(files.length)} files (${sizeText(bytes)}) for good, with all their versions?`;
}
