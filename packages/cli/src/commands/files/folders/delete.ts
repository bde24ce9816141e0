import { trashItems } from "@coffer/tasks";
import { argument, command } from "../../../declarations.ts";
import { usage } from "../../../failure.ts";
import { actReport, findByNames } from "../act-report.ts";
import { VAULT } from "../vault-paths.ts";

export default command({
  brief: "Move folders to the trash, with everything in them",
  examples: [{ line: "coffer folders delete Team:2027", does: "coffer trash restore brings it back" }],
  flags: { vault: VAULT },
  args: { each: argument("folder", "VAULT:PATH or an id"), least: 1 } as const,
  run: async (context, { vault }, names) => {
    const outcomes = await findByNames(context, names, vault);
    if (outcomes.some(({ item }) => item?.kind === "file")) throw usage("This is a file", "coffer rm FILE");
    return actReport(await trashItems(context.task, outcomes), "trashed");
  },
});
