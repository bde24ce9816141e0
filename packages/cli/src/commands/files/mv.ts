import {
  findFolder,
  moveItems,
  renameItem,
  segmentsOf,
  TaskFailure,
  vaultOf,
  wholeId,
  type ItemOutcome,
  type Task,
} from "@coffer/tasks";
import { argument, command } from "../../declarations.ts";
import { usage } from "../../failure.ts";
import { actReport, findByNames } from "./act-report.ts";
import { isTop, resolveVaultPath, VAULT, type VaultPath } from "./vault-paths.ts";

export default command({
  brief: "Move or rename files and folders in a vault",
  description:
    "The last argument is where they go. It is a folder if it exists or ends with a slash, else the new name of one item.",
  examples: [
    { line: "coffer mv Team:a.txt Team:b.txt", does: "rename" },
    { line: "coffer mv Team:a.txt Team:photos Team:old/", does: "into a folder, which is made if it is missing" },
  ],
  flags: { vault: VAULT },
  args: { each: argument("item", "VAULT:PATH or an id; the last one is the destination"), least: 2 } as const,
  run: async (context, { vault }, names) => {
    const { task } = context;
    const to = names.at(-1) ?? "";
    const outcomes = await findByNames(context, names.slice(0, -1), vault);
    const [first] = outcomes.flatMap(({ item }) => (item === null ? [] : [item]));
    if (first === undefined) return actReport(outcomes, "moved");
    const target = await resolveVaultPath(task, to, vault);
    const destination = { ...target, vaultId: target.vaultId ?? vaultOf(first) };
    if (await isFolder(task, destination))
      return actReport(await moveItems(task, destination.vaultId, outcomes, topOr(destination.path)), "moved");
    if (outcomes.length > 1) throw usage("Several items go into a folder", `name one, with a slash at its end: ${to}/`);
    return actReport(await rename(task, outcomes, destination), "renamed");
  },
});

const topOr = (path: string): string | null => (isTop(path) ? null : path);

async function isFolder(task: Task, { path, vaultId }: VaultPath): Promise<boolean> {
  if (isTop(path) || path.endsWith("/")) return true;
  try {
    await findFolder(task, vaultId, path);
    return true;
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : null;
    if (code !== "not_found" || wholeId(path) !== null) throw thrown;
    return false;
  }
}

async function rename(
  task: Task,
  outcomes: readonly ItemOutcome[],
  { path, vaultId }: VaultPath,
): Promise<ItemOutcome[]> {
  const names = segmentsOf(path);
  const [outcome] = outcomes;
  const name = names.at(-1);
  if (outcome?.item == null || name === undefined) return [...outcomes];
  if (vaultOf(outcome.item) !== vaultId) throw new TaskFailure("different_vault");
  await renameItem(task, outcome.item, name, names.length > 1 ? names.slice(0, -1).join("/") : null);
  return [{ named: name, item: null, failure: null }];
}
