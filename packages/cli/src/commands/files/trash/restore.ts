import { restoreItems } from "@coffer/tasks";
import { argument, command, text } from "../../../declarations.ts";
import { usage } from "../../../failure.ts";
import { actReport, findByNames } from "../act-report.ts";
import { VAULT } from "../vault-paths.ts";

export default command({
  brief: "Bring files and folders back from the trash",
  examples: [
    { line: "coffer trash restore 3f2a9c1e", does: "by the id that coffer trash list shows" },
    { line: 'coffer trash restore "Team:report.pdf" --name "report (2).pdf"', does: "under another name" },
  ],
  flags: { vault: VAULT, name: text("Another name for a single item", { placeholder: "NAME" }) },
  args: { each: argument("item", "Id, or VAULT:NAME"), least: 1 } as const,
  run: async (context, { name, vault }, names) => {
    const outcomes = await findByNames(context, names, vault, { trashed: true });
    if (name === undefined) return actReport(await restoreItems(context.task, outcomes), "restored");
    const [outcome, ...others] = outcomes;
    if (others.length > 0) throw usage("--name is for a single item", "restore them one by one");
    const item = outcome?.item ?? null;
    if (outcome === undefined || item === null) return actReport(outcomes, "restored");
    const { files, folders } = await context.client();
    const options = { signal: context.signal };
    if (item.kind === "file")
      await files.restore(item.id, { name }, { ...options, vaultId: item.file.vaultId, ifMatch: item.file.tag });
    else
      await folders.restore(item.id, { name }, { ...options, vaultId: item.folder.vaultId, ifMatch: item.folder.tag });
    return actReport([{ named: name, item: null, failure: null }], "restored");
  },
});
