import { deleteItems, trashItems, type ActOutcome } from "@coffer/tasks";
import { argument, command, toggle } from "../../declarations.ts";
import { usage } from "../../failure.ts";
import { sizeText } from "../../terminal/visible.ts";
import { actReport, findNamed } from "./acts.ts";
import { VAULT } from "./places.ts";

export default command({
  brief: "Move files and folders to the trash, or delete files for good",
  description: "The trash keeps them for 30 days: coffer trash restore brings them back.",
  examples: [
    { line: "coffer rm Team:a.txt Team:b.txt", does: "to the trash" },
    { line: "coffer rm Team:old --recursive", does: "a folder with all below it" },
    { line: "coffer rm 3f2a9c1e --permanent --yes", does: "for good, without a question" },
  ],
  flags: {
    vault: VAULT,
    recursive: toggle("Also folders, with everything in them"),
    permanent: toggle("Delete files for good, also such as are in the trash"),
  },
  args: { each: argument("file", "VAULT:PATH or an id"), least: 1 } as const,
  run: async (context, { permanent, recursive, vault }, names) => {
    const found = await findNamed(context, names, vault, { trashed: permanent });
    const hasFolder = found.some(({ item }) => item?.kind === "folder");
    if (hasFolder && permanent)
      throw usage(
        "A folder is deleted for good by way of the trash",
        "coffer rm --recursive, then coffer trash empty VAULT",
      );
    if (hasFolder && !recursive)
      throw usage("This is a folder", "pass --recursive to move it to the trash with all below it");
    if (!permanent) return actReport(await trashItems(context.task, found), "trashed");
    if (found.some(({ item }) => item !== null)) await context.confirm(questionOf(found));
    return actReport(await deleteItems(context.task, found), "deleted");
  },
});

function questionOf(found: readonly ActOutcome[]): string {
  const files = found.flatMap(({ item }) => (item?.kind === "file" ? [item.file] : []));
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return `Delete ${String(files.length)} files (${sizeText(bytes)}) for good, with all their versions?`;
}
