import { findVault } from "@coffer/tasks";
import { command } from "../../../declarations.ts";
import { VAULT } from "../vault-argument.ts";
import { done } from "../../../result.ts";
import { vaultLines } from "./vault-lines.ts";

export default command({
  brief: "Show a vault",
  examples: [{ line: "coffer vaults get Team", does: "by its name, its id, or the beginning of its id" }],
  args: [VAULT] as const,
  run: async ({ task }, _flags, [name]) => {
    const vault = await findVault(task, name);
    return done({ vault }, vaultLines(vault));
  },
});
