import type { api, Credential } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../service-error.ts";
import type { GroupHandlers, Principal } from "../../handler.ts";
import type { AccountRow } from "../../ports/tables.ts";
import { toTimestamp } from "../timestamps.ts";
import { recordChange } from "../changes/store.ts";
import { limitsOf } from "./rules.ts";
import { findAccount, renameAccount } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings">;

export const accountHandlers = (deps: Needs): Pick<GroupHandlers<typeof api.account>, "get" | "update"> => ({
  async get(_input, { principal }) {
    const row = await deps.database.first(findAccount(deps.database, { id: principal.accountId }));
    if (row === null) throw new ServiceError("invalid_credential");
    return { account: renderAccount(row, principal, deps), credential: renderCredential(principal) };
  },

  async update({ body }, { principal }) {
    const id = principal.accountId;
    const now = deps.clock.now();
    const row = await deps.database.transaction(async (transaction) => {
      const current = await transaction.first(findAccount(transaction, { id }));
      if (current === null) throw new ServiceError("invalid_credential");
      if (body.name === undefined || body.name === current.name) return current;
      const query = renameAccount(transaction, { id, name: body.name, updated_at: now });
      const renamed = await transaction.first(query);
      await recordChange(transaction, {
        accountId: id,
        action: "account.updated",
        actor: principal,
        target: { kind: "account", id },
        occurredAt: now,
        id: deps.random.uuid(),
      });
      return renamed ?? current;
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
    usage: { bytes: row.usage_bytes, files: row.usage_files },
    limits: limitsOf(row.plan, settings),
    createdAt: toTimestamp(row.created_at),
  };
}

function renderCredential(principal: Principal): Credential {
  return {
    kind: principal.kind,
    id: principal.keyId ?? principal.sessionId,
    name: principal.name,
    scopes: principal.scopes === null ? null : [...principal.scopes],
    vaultIds: principal.vaultIds === null ? null : [...principal.vaultIds],
    chainAddress: principal.chainAddress,
    expiresAt: principal.expiresAt === null ? null : toTimestamp(principal.expiresAt),
  };
}
