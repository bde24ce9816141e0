import type { ApiKey } from "@coffer/sdk";
import { untrusted } from "@coffer/tasks";
import { command } from "../../declarations.ts";
import { listing } from "../../result.ts";
import { sizeText, timeText } from "../../terminal/visible.ts";

/** One budget of one key. */
interface Row {
  readonly keyId: string | null;
  readonly name: string;
  readonly budget: string;
  readonly limit: number;
  readonly used: number;
  readonly left: number;
  readonly renewsAt: string | null;
}

type Holder = Pick<ApiKey, "budgets" | "budgetUse"> & { readonly id: string | null; readonly name: string };

export default command({
  brief: "Show what keys may still store, write and ask",
  description: "An owner sees the budgets of all keys, an agent its own. Budgets are set when a key or invite is made.",
  examples: [{ line: "coffer budgets", does: "limits, use, and when more is left" }],
  isList: true,
  run: async ({ client: open, signal }) => {
    const client = await open();
    const { account, credential } = await client.account.get({ signal });
    const holders: Holder[] = [{ ...credential, name: credential.name ?? "" }];
    if (account.accessLevel === "owner")
      for await (const key of client.apiKeys.list({ limit: 1000 }, { signal }))
        if (key.id !== credential.id && key.revokedAt === null) holders.push(key);
    return listing({
      name: "budgets",
      items: holders.flatMap(rowsOf),
      empty: "No key has budgets. Set them with --budget, when you make a key or an invite.",
      columns: [
        { title: "key", of: ({ keyId }) => keyId },
        { title: "budget", of: ({ budget }) => budget },
        { title: "limit", of: ({ budget, limit }) => amount(budget, limit), isNumber: true },
        { title: "used", of: ({ budget, used }) => amount(budget, used), isNumber: true },
        { title: "left", of: ({ budget, left }) => amount(budget, left), isNumber: true },
        { title: "more at", of: ({ renewsAt }) => timeText(renewsAt) },
        { title: "name", of: ({ name }) => untrusted(name) },
      ],
    });
  },
});

const BUDGETS = ["storedBytes", "bytesPerDay", "filesPerDay", "requestsPerMinute"] as const;

const rowsOf = ({ id, name, budgets, budgetUse }: Holder): Row[] =>
  BUDGETS.flatMap((budget) => {
    const limit = budgets?.[budget];
    if (limit === undefined) return [];
    const { used = 0, left = limit, renewsAt = null } = budgetUse?.[budget] ?? {};
    return [{ keyId: id, name, budget, limit, used, left, renewsAt }];
  });

const amount = (budget: string, count: number): string => (/bytes/i.test(budget) ? sizeText(count) : String(count));
