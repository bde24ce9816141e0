import type { api, Credential } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../service-error.ts";
import type { GroupHandlers, Principal } from "../../handler.ts";
import type { AccountRow } from "../../ports/tables.ts";
import { toTimestamp } from "../acting.ts";
import { accessLevelOf } from "../api-keys/rules.ts";
import { recordChange } from "../changes/store.ts";
import { linkAddress, noteTransfers } from "./linking.ts";
import { makeLinkChallenge, requireLinkProof } from "./challenges.ts";
import { limitsOf } from "./rules.ts";
import { findAccount, renameAccount } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings" | "chain" | "signatures">;

export const accountHandlers = (deps: Needs): GroupHandlers<typeof api.account> => ({
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

  linkChainChallenge: (_input, { principal }) => makeLinkChallenge(deps, principal),

  async linkChain({ body }, context) {
    const { principal } = context;
    const chainPublicKey = await requireLinkProof(deps, body, context);
    const { chainAddress } = body;
    const { accountId } = principal;
    const wanted = { accountId, chainAddress, chainPublicKey, source: "external", actor: principal } as const;
    await noteTransfers(deps, accountId);
    const row = await deps.database.transaction(async (transaction) => {
      // What revokes the caller may have had its turn first (decisions §4, "in-flight on revoke").
      await context.recheck();
      return linkAddress(deps, transaction, wanted);
    });
    // A key that is bound to the address that was linked until now is an agent's from now on.
    const accessLevel = principal.kind === "api-key" ? accessLevelOf(principal.chainAddress, chainAddress) : "owner";
    return { account: renderAccount(row, { accessLevel }, deps) };
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
