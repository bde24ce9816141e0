/** The rules of a key: its rights never exceed the creator's, and only the hash of its text is stored. */
import { hash } from "node:crypto";
import {
  type AccessLevel,
  AGENT_SCOPES,
  type ApiKey,
  type BudgetUses,
  KEY_PREFIX,
  renderKey,
  type Scope,
} from "@coffer/contract";
import type { Budget, Principal } from "../../handler.ts";
import type { Random } from "../../ports/random.ts";
import type { ApiKeyRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { accessLevelOf } from "../account/lives.ts";
import { budgetsShown, isWithinBudgets, parseBudgets } from "../budgets/rules.ts";
import { toTimestamp } from "../timestamps.ts";

const DAY = 86_400_000;
export const HOUR = 3_600_000;

/** What a key may do and until when. null: all that its access level allows, every vault, for ever. */
export interface Rights {
  readonly scopes: readonly Scope[] | null;
  readonly vaultIds: readonly string[] | null;
  readonly expiresAt: number | null;
  /** Empty: none. */
  readonly budgets: readonly Budget[];
}

/** A fresh key. `text` leaves the server once, in the answer; the rest is kept. */
export interface MintedKey {
  readonly text: string;
  /** SHA-256 in hex (specification §2.4). */
  readonly hash: string;
  readonly prefix: string;
  readonly last4: string;
}

export function mintKey(random: Random): MintedKey {
  const text = renderKey(random.bytes(32));
  return { text, hash: hash("sha256", text, "hex"), prefix: `${KEY_PREFIX}_`, last4: text.slice(-4) };
}

/** The maker of a key, as far as it limits the key. */
export type RightsOfMaker = Pick<Principal, "kind" | "scopes" | "vaultIds" | "expiresAt" | "budgets">;

/** When what a caller makes must have ended. A session is its owner's: that it ends soon limits no key. */
export function endOf(maker: Pick<RightsOfMaker, "kind" | "expiresAt">): number | null {
  return maker.kind === "api-key" ? maker.expiresAt : null;
}

/** The end of a key that is valid for so many days, in whole milliseconds: a fraction of one is rounded up. */
export function endAfter(days: number, now: number): number {
  return Math.ceil(now + days * DAY);
}

/**
 * The scopes of a new key: those asked for, else those of its maker; an agent's are an agent's. Throws
 * `scope_owner_only` for an agent that asks for more (decisions §4), and `scope_too_wide` when its maker has none to give.
 */
export function chooseScopes(
  asked: readonly Scope[] | undefined,
  maker: Pick<RightsOfMaker, "scopes">,
  level: AccessLevel,
): readonly Scope[] | null {
  const fits = (scope: Scope): boolean => level === "owner" || AGENT_SCOPES.includes(scope);
  if (asked !== undefined) {
    if (!asked.every(fits)) throw new ServiceError("scope_owner_only");
    return [...new Set(asked)];
  }
  if (maker.scopes === null) return null;
  const scopes = [...maker.scopes].filter(fits);
  if (scopes.length > 0) return scopes;
  throw new ServiceError("scope_too_wide", "The calling key holds no scope that an agent can have");
}

/** The vaults of a new key: those asked for, else those of its maker. */
export function chooseVaults(
  asked: readonly string[] | undefined,
  maker: Pick<RightsOfMaker, "vaultIds">,
): readonly string[] | null {
  if (asked !== undefined) return [...new Set(asked)];
  return maker.vaultIds === null ? null : [...maker.vaultIds];
}

/** Throws `scope_too_wide` when a key would hold what its maker does not: scopes, vaults, time or budgets (decisions §4). */
export function requireNoWider(wanted: Rights, maker: RightsOfMaker): void {
  const end = endOf(maker);
  const lasts = end === null || (wanted.expiresAt !== null && wanted.expiresAt <= end);
  const counts = isWithinBudgets(wanted.budgets, maker.budgets);
  if (lasts && counts && isWithin(wanted.scopes, maker.scopes) && isWithin(wanted.vaultIds, maker.vaultIds)) return;
  throw new ServiceError("scope_too_wide");
}

/** null means everything. */
function isWithin<Item>(wanted: readonly Item[] | null, held: ReadonlySet<Item> | null): boolean {
  return held === null || (wanted !== null && wanted.every((item) => held.has(item)));
}

/** Whether a key reaches no vault that the caller does not. */
export function isWithinVaults(row: RightsRow, caller: Pick<Principal, "vaultIds">): boolean {
  return isWithin(parseRights(row).vaultIds, caller.vaultIds);
}

type RightsRow = Pick<ApiKeyRow, "scopes_json" | "vault_ids_json" | "expires_at" | "budgets_json">;

export function parseRights(row: RightsRow): Rights {
  return {
    scopes: row.scopes_json === null ? null : (JSON.parse(row.scopes_json) as Scope[]),
    vaultIds: row.vault_ids_json === null ? null : (JSON.parse(row.vault_ids_json) as string[]),
    expiresAt: row.expires_at,
    budgets: parseBudgets(row.budgets_json),
  };
}

/** The key as it is listed. `accountChainAddress` decides its access level (specification §2.6). */
export function toApiKey(row: ApiKeyRow, accountChainAddress: string | null, budgetUse: BudgetUses | null): ApiKey {
  const { scopes, vaultIds, budgets } = parseRights(row);
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    last4: row.last4,
    scopes: scopes === null ? null : [...scopes],
    vaultIds: vaultIds === null ? null : [...vaultIds],
    chainAddress: row.chain_address,
    budgets: budgetsShown(budgets),
    budgetUse,
    chainPublicKey: row.chain_public_key,
    accessLevel: accessLevelOf(row.chain_address, accountChainAddress),
    expiresAt: row.expires_at === null ? null : toTimestamp(row.expires_at),
    lastUsedAt: row.last_used_at === null ? null : toTimestamp(row.last_used_at),
    // A key that was refused for its age is marked with its own end: it has expired, nobody revoked it.
    revokedAt: row.revoked_at === null || row.revoked_at === row.expires_at ? null : toTimestamp(row.revoked_at),
    createdAt: toTimestamp(row.created_at),
  };
}
