import { findVault, untrusted } from "@coffer/tasks";
import { command, parsed, text } from "../../../declarations.ts";
import { usage } from "../../../failure.ts";
import { done } from "../../../result.ts";
import { VAULT } from "../vault-argument.ts";

export default command({
  brief: "Rename a vault, or set how long it keeps versions",
  examples: [
    { line: 'coffer vaults update Team --name "Team 2027"', does: "another name" },
    { line: "coffer vaults update Website --keep-versions-days 90", does: "1 to 365, or default" },
  ],
  flags: {
    name: text("The new name"),
    keepVersionsDays: parsed("Days that replaced versions stay: 1 to 365, or default", parseDays, {
      placeholder: "DAYS",
    }),
  },
  args: [VAULT] as const,
  run: async (context, { name, keepVersionsDays }, [nameOrId]) => {
    if (name === undefined && keepVersionsDays === undefined)
      throw usage("Nothing is to be changed", "pass --name NAME or --keep-versions-days DAYS");
    const { id } = await findVault(context.task, nameOrId);
    const days = keepVersionsDays === undefined ? {} : { keepVersionsDays: keepVersionsDays.days };
    const changes = { ...(name === undefined ? {} : { name }), ...days };
    const client = await context.client();
    const vault = await client.vaults.update(id, changes, { signal: context.signal });
    return done({ vault }, [`Changed the vault ${id}`, untrusted(`name: ${vault.name}`)]);
  },
});

/** null: as the service's setting says. */
function parseDays(typed: string): { readonly days: number | null } {
  if (typed === "default") return { days: null };
  const days = Number(typed);
  if (/^\d{1,3}$/.test(typed) && days >= 1 && days <= 365) return { days };
  throw new Error("expected 1 to 365 days, or default");
}
