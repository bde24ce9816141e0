import { isEventKind, type CreatedApiKey } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { Reply, type RequestOrigin } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import type { ApiKeyRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import type { AccountAct } from "../account/act.ts";
import { notFound } from "../acting.ts";
import { budgetsShown, renderBudgets } from "../budgets/rules.ts";
import { toTimestamp } from "../timestamps.ts";
import type { Actor } from "../changes/store.ts";
import { mintKey, type Rights } from "./rules.ts";
import { countLiveKeys, findVaultIds, insertKey } from "./store.ts";

type Needs = Pick<Deps, "clock" | "random" | "settings">;

export interface WantedKey {
  readonly name: string;
  readonly rights: Rights;
  readonly chainAddress: string | null;
  /** Ed25519 in base64, as the proof of the address showed it. */
  readonly chainPublicKey: string | null;
  /** For rows that refer to the key before it is written. */
  readonly id?: string;
}

/** The maker of a key, and its source if it is not a credential. `actor` null: the account itself, new. */
export interface Maker {
  readonly actor: Actor | null;
  readonly origin?: RequestOrigin;
}

/**
 * Makes a key and writes its row, hash only, with the change beside it. The answer holds the raw key: it exists
 * nowhere else. Throws `limit_reached` when the account has its maximum of valid keys.
 */
export async function addKey(
  deps: Needs,
  act: AccountAct,
  maker: Maker,
  wanted: WantedKey,
): Promise<Reply<CreatedApiKey>> {
  const now = deps.clock.now();
  const maximum = deps.settings.limits.apiKeys;
  const accountId = act.account.id;
  const count = await act.first(countLiveKeys(act, { accountId, now }));
  if ((count?.live ?? 0) >= maximum) {
    throw new ServiceError("limit_reached", `An account holds at most ${maximum} live API keys`);
  }
  const minted = mintKey(deps.random);
  const row = toRow(accountId, wanted, {
    id: wanted.id ?? deps.random.uuid(),
    hash: minted.hash,
    prefix: minted.prefix,
    last4: minted.last4,
    now,
  });
  await insertKey(act, row);
  await recordKeyChange(act, "api_key.created", maker, row);
  const body = {
    id: row.id,
    name: row.name,
    key: minted.text,
    prefix: row.prefix,
    scopes: wanted.rights.scopes === null ? null : [...wanted.rights.scopes],
    vaultIds: wanted.rights.vaultIds === null ? null : [...wanted.rights.vaultIds],
    chainAddress: row.chain_address,
    budgets: budgetsShown(wanted.rights.budgets),
    expiresAt: row.expires_at === null ? null : toTimestamp(row.expires_at),
    createdAt: toTimestamp(row.created_at),
  };
  return new Reply(body, { headers: { Location: `/api/auth/api-keys/${row.id}` } });
}

/**
 * The vaults that a key is limited to; null: every vault. Throws `not_found` when one that was asked for is not the account's.
 * One that only comes from the maker's own list and is gone is left out; when none is left, that is `not_found` too.
 */
export async function requireVaults(
  queries: Queries,
  accountId: string,
  wanted: { readonly vaultIds: readonly string[] | null; readonly asked: boolean },
): Promise<readonly string[] | null> {
  const { vaultIds, asked } = wanted;
  if (vaultIds === null) return null;
  const found = new Set(await findVaultIds(queries, accountId, vaultIds));
  if (found.size === 0 || (asked && found.size < vaultIds.length)) throw notFound("Vault");
  return vaultIds.filter((id) => found.has(id));
}

export async function recordKeyChange(
  act: AccountAct,
  action: "api_key.created" | "api_key.updated" | "api_key.revoked",
  maker: Maker,
  row: Pick<ApiKeyRow, "id" | "account_id" | "chain_address">,
): Promise<void> {
  await act.record({
    ...maker,
    accountId: row.account_id,
    action,
    target: { kind: "api_key", id: row.id },
    ...(isEventKind(action) ? { object: { type: "api_key", id: row.id, chainAddress: row.chain_address } } : {}),
  });
}

function toRow(
  accountId: string,
  { name, rights, chainAddress, chainPublicKey }: WantedKey,
  made: { id: string; hash: string; prefix: string; last4: string; now: number },
): ApiKeyRow {
  return {
    id: made.id,
    account_id: accountId,
    name,
    hash: made.hash,
    prefix: made.prefix,
    last4: made.last4,
    scopes_json: rights.scopes === null ? null : JSON.stringify(rights.scopes),
    vault_ids_json: rights.vaultIds === null ? null : JSON.stringify(rights.vaultIds),
    chain_address: chainAddress,
    chain_public_key: chainPublicKey,
    budgets_json: renderBudgets(rights.budgets),
    expires_at: rights.expiresAt,
    last_used_at: null,
    revoked_at: null,
    created_at: made.now,
  };
}
