import { findVault } from "@coffer/tasks";
import type { Scope } from "@coffer/sdk";
import { SCOPES } from "@coffer/contract";
import { command, parsed, requiredText, text, texts } from "../../../declarations.ts";
import { BUDGET_BRIEF, parseBudgets } from "../budget-flag.ts";
import { parseScopes } from "../scopes-flag.ts";
import { deliverSecret, TO_FILE } from "../secret-file.ts";
import { newKeyReport } from "./new-key-report.ts";

export default command({
  brief: "Create an API key",
  description: "The whole key is shown once. coffer api-keys explain COMMAND says which scopes a command needs.",
  examples: [
    { line: "coffer api-keys create --name ci --scopes files:read,files:write --vaults Team", does: "prints the key" },
    { line: "coffer api-keys create --name ci --expires-in-days 30 --to-file ci.key", does: "writes it, mode 0600" },
  ],
  flags: {
    name: requiredText("Label of the key"),
    scopes: texts("What it may do, with commas; all that you may without it", { placeholder: "SCOPES" }),
    vaults: texts("Its vaults, with commas: ids or names; all without it", { placeholder: "VAULTS" }),
    expiresInDays: parsed("Days until it ends, up to 3650; never without it", parseDays, { placeholder: "DAYS" }),
    budget: texts(BUDGET_BRIEF, { placeholder: "LIMITS" }),
    chainAddress: text("Bind it to the account's own chain address", { placeholder: "0x…" }),
    ...TO_FILE,
  },
  run: async (context, flags) => {
    const { name, scopes, expiresInDays, chainAddress, toFile } = flags;
    const vaults = await Promise.all((flags.vaults ?? []).map((each) => findVault(context.task, each)));
    const budgets = parseBudgets(flags.budget);
    const request = {
      name,
      ...(scopes === undefined ? {} : { scopes: parseScopes<Scope>(scopes, SCOPES) }),
      ...(vaults.length === 0 ? {} : { vaultIds: vaults.map(({ id }) => id) }),
      ...(expiresInDays === undefined ? {} : { expiresInDays }),
      ...(budgets === undefined ? {} : { budgets }),
      ...(chainAddress === undefined ? {} : { chainAddress: chainAddress.toLowerCase() }),
    };
    const client = await context.client();
    const create = () => client.apiKeys.create(request, { signal: context.signal });
    return newKeyReport(await deliverSecret(context, toFile, create, ({ key }) => key));
  },
});

function parseDays(typed: string): number {
  const days = Number(typed);
  if (typed.trim() !== "" && days > 0 && days <= 3650) return days;
  throw new Error("expected days, at most 3650");
}
