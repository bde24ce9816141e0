import type { api, BudgetUses, Credential } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../service-error.ts";
import type { GroupHandlers, Principal } from "../../handler.ts";
import type { AccountRow } from "../../ports/tables.ts";
import { budgetsShown } from "../budgets/rules.ts";
import { readBudgetUse, type UseDeps } from "../budgets/use.ts";
import { toTimestamp } from "../timestamps.ts";
import { actAs } from "./act.ts";
import { limitsOf } from "./rules.ts";
import { findAccount } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings"> & UseDeps;

export const accountHandlers = (deps: Needs): Pick<GroupHandlers<typeof api.account>, "get" | "update"> => ({
  async get(_input, { principal }) {
    const row = await deps.database.first(findAccount(deps.database, { id: principal.accountId }));
    if (row === null) throw new ServiceError("invalid_credential");
    const [budgetUse = null] = await readBudgetUse(deps.database, deps, [principal.budgets]);
    return { account: renderAccount(row, principal, deps), credential: renderCredential(principal, budgetUse) };
  },

  async update({ body }, { principal }) {
    const id = principal.accountId;
    const row = await actAs(deps, principal, async (act) => {
      if (body.name === undefined || body.name === act.account.name) return act.account;
      act.change({ name: body.name, updated_at: deps.clock.now() });
      await act.record({ action: "account.updated", actor: principal, target: { kind: "account", id } });
      return act.account;
    });
    return { account: renderAccount(row, principal, deps) };
  },
});

export function renderAccount(
  row: AccountRow,
  principal: Pick<Principal, "accessLevel">,
  { settings }: Pick<Deps, "settings">,
) {
  return {
    id: row.id,
    email: row.email,
    emailVerified: row.email_verified === 1,
    name: row.name,
    accessLevel: principal.accessLevel,
    chainAddress: row.chain_address,
    chainAddressSource: row.chain_address_source,
    plan: row.plan,
    usage: { bytes: row.usage_bytes, files: row.usage_files, versionBytes: row.usage_version_bytes },
    limits: limitsOf(row.plan, settings),
    createdAt: toTimestamp(row.created_at),
  };
}

function renderCredential(principal: Principal, budgetUse: BudgetUses | null): Credential {
  return {
    kind: principal.kind,
    id: principal.keyId ?? principal.sessionId,
    name: principal.name,
    scopes: principal.scopes === null ? null : [...principal.scopes],
    vaultIds: principal.vaultIds === null ? null : [...principal.vaultIds],
    chainAddress: principal.chainAddress,
    expiresAt: principal.expiresAt === null ? null : toTimestamp(principal.expiresAt),
    budgets: budgetsShown(principal.budgets),
    budgetUse,
  };
}
