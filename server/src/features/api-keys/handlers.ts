import type { api, CreatedApiKey } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { CreationContext, GroupHandlers, Principal, Recorded } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import type { ApiKeyRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { type AccountAct, actAs, actOnFullDisk } from "../account/act.ts";
import { findAccount } from "../account/store.ts";
import { notFound } from "../acting.ts";
import { makeBudgets } from "../budgets/making.ts";
import { readBudgetUse, type UseDeps } from "../budgets/use.ts";
import { parsePage, toPage } from "../paging.ts";
import { requireBinding, verifyBinding } from "./binding.ts";
import { addKey, recordKeyChange, requireVaults } from "./creation.ts";
import {
  chooseScopes,
  chooseVaults,
  endAfter,
  endOf,
  HOUR,
  isWithinVaults,
  parseRights,
  requireNoWider,
  type Rights,
  toApiKey,
} from "./rules.ts";
import { isLiveKey } from "../account/lives.ts";
import { endKeyAt, findKey, listKeys, revokeKey } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings" | "signatures"> & UseDeps;

export const apiKeysHandlers = (deps: Needs): GroupHandlers<typeof api.apiKeys> => ({
  async create({ body }, context) {
    const { principal } = context;
    const proven = await verifyBinding(deps, context, body);
    return actAs(deps, principal, async (act) => {
      const asked = { chainAddress: body.chainAddress ?? null, proven };
      const { level, ...binding } = await requireBinding(act, asked);
      const rights: Rights = {
        scopes: chooseScopes(body.scopes, principal, level),
        vaultIds: chooseVaults(body.vaultIds, principal),
        expiresAt: body.expiresInDays === undefined ? endOf(principal) : endAfter(body.expiresInDays, deps.clock.now()),
        budgets: await makeBudgets(act, deps, body.budgets, principal.budgets),
      };
      requireNoWider(rights, principal);
      const limit = { vaultIds: rights.vaultIds, asked: body.vaultIds !== undefined };
      const vaultIds = await requireVaults(act, principal.accountId, limit);
      const wanted = { name: body.name, rights: { ...rights, vaultIds }, ...binding };
      return context.record(act, await addKey(deps, act, { actor: principal }, wanted));
    });
  },

  async list({ query }, { principal }) {
    const request = parsePage("apiKeys", query);
    const { chain_address, id: accountId } = await readAccount(deps.database, principal);
    const { rows, nextCursor } = toPage(await listKeys(deps.database, { accountId }, request), request);
    const seen = rows.filter((row) => isWithinVaults(row, principal));
    const apiKeys = await describeKeys(deps, seen, chain_address);
    return { apiKeys, nextCursor };
  },

  async get({ params }, { principal }) {
    const { chain_address } = await readAccount(deps.database, principal);
    const row = await readKey(deps.database, principal, params.keyId);
    const [apiKey] = await describeKeys(deps, [row], chain_address);
    if (apiKey === undefined) throw notFound("API key");
    return { apiKey };
  },

  async revoke({ params }, { principal }) {
    // A key that leaks must be revocable on a full disk too.
    await actOnFullDisk(deps, principal, async (act) => {
      const row = await readKey(act, principal, params.keyId);
      if (row.revoked_at === null) await endKey(deps, act, principal, row);
    });
  },

  rotate: ({ params, body }, context) => rotateKey(deps, context, params.keyId, (body?.overlapHours ?? 0) * HOUR),
});

async function describeKeys(deps: Needs, rows: readonly ApiKeyRow[], accountChainAddress: string | null) {
  const uses = await readBudgetUse(
    deps.database,
    deps,
    rows.map((row) => parseRights(row).budgets),
  );
  return rows.map((row, index) => toApiKey(row, accountChainAddress, uses[index] ?? null));
}

async function rotateKey(
  deps: Needs,
  context: CreationContext<Principal>,
  keyId: string,
  overlap: number,
): Promise<Recorded<CreatedApiKey>> {
  const { principal } = context;
  const now = deps.clock.now();
  return actAs(deps, principal, async (act) => {
    const row = await readKey(act, principal, keyId);
    if (!isLiveKey(row, now)) throw new ServiceError("key_inactive");
    const rights = parseRights(row);
    requireNoWider(rights, principal);
    if (overlap === 0) await endKey(deps, act, principal, row);
    else await endKeyLater(act, principal, row, now + overlap);
    // The binding goes along unproven: rotating makes an agent's key neither an owner's nor another agent's.
    const binding = { chainAddress: row.chain_address, chainPublicKey: row.chain_public_key };
    const wanted = { name: row.name, rights, ...binding };
    return context.record(act, await addKey(deps, act, { actor: principal }, wanted));
  });
}

async function readAccount(queries: Queries, { accountId }: Principal) {
  const account = await queries.first(findAccount(queries, { id: accountId }));
  if (account === null) throw new ServiceError("invalid_credential");
  return account;
}

/** A key limited to vaults must not end, or see, a key that reaches further: it gets `not_found`. */
async function readKey(queries: Queries, principal: Principal, id: string): Promise<ApiKeyRow> {
  const row = await queries.first(findKey(queries, { accountId: principal.accountId, id }));
  if (row === null || !isWithinVaults(row, principal)) throw notFound("API key");
  return row;
}

async function endKey(deps: Needs, act: AccountAct, principal: Principal, row: ApiKeyRow): Promise<void> {
  const now = deps.clock.now();
  const ended = await act.run(revokeKey(act, { accountId: row.account_id, id: row.id, now }));
  if (ended === 1) await recordKeyChange(act, "api_key.revoked", { actor: principal }, row);
}

async function endKeyLater(act: AccountAct, principal: Principal, row: ApiKeyRow, at: number): Promise<void> {
  const changed = await act.run(endKeyAt(act, { accountId: row.account_id, id: row.id, at }));
  if (changed === 1) await recordKeyChange(act, "api_key.updated", { actor: principal }, row);
}
