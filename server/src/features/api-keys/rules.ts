/** What a key may be: rights that never exceed the creator's, and a text of which only the hash is kept. */
import { hash } from "node:crypto";
import { type AccessLevel, type ApiKey, KEY_PREFIX, renderKey, type Scope } from "@coffer/contract";
import { ServiceError } from "../../http/errors.ts";
import type { Principal } from "../../http/handlers.ts";
import type { Random } from "../../ports/random.ts";
import type { ApiKeyRow } from "../../ports/tables.ts";
import { toTimestamp } from "../acting.ts";

export const DAY = 86_400_000;
export const HOUR = 3_600_000;

/** What a key may do and until when. null: all that its access level allows, every vault, for ever. */
export interface Rights {
  readonly scopes: readonly Scope[] | null;
  readonly vaultIds: readonly string[] | null;
  readonly expiresAt: number | null;
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

/** Throws `scope_too_wide` when a key would hold what its maker does not: scopes, vaults or time (decisions §4). */
export function requireNoWider(wanted: Rights, maker: Pick<Principal, "scopes" | "vaultIds" | "expiresAt">): void {
  const lasts = maker.expiresAt === null || (wanted.expiresAt !== null && wanted.expiresAt <= maker.expiresAt);
  if (lasts && isWithin(wanted.scopes, maker.scopes) && isWithin(wanted.vaultIds, maker.vaultIds)) return;
  throw new ServiceError("scope_too_wide");
}

/** null stands for everything. */
function isWithin<Item>(wanted: readonly Item[] | null, held: ReadonlySet<Item> | null): boolean {
  return held === null || (wanted !== null && wanted.every((item) => held.has(item)));
}

/** Whether a key reaches no vault that the caller does not. */
export function isWithinVaults(
  row: Pick<ApiKeyRow, "scopes_json" | "vault_ids_json" | "expires_at">,
  caller: Pick<Principal, "vaultIds">,
): boolean {
  return isWithin(parseRights(row).vaultIds, caller.vaultIds);
}

export function isLiveKey(row: Pick<ApiKeyRow, "revoked_at" | "expires_at">, now: number): boolean {
  return row.revoked_at === null && (row.expires_at === null || row.expires_at > now);
}

export function parseRights(row: Pick<ApiKeyRow, "scopes_json" | "vault_ids_json" | "expires_at">): Rights {
  return {
    scopes: row.scopes_json === null ? null : (JSON.parse(row.scopes_json) as Scope[]),
    vaultIds: row.vault_ids_json === null ? null : (JSON.parse(row.vault_ids_json) as string[]),
    expiresAt: row.expires_at,
  };
}

/** The key as it is listed. `accountChainAddress` decides its access level (specification §2.6). */
export function toApiKey(row: ApiKeyRow, accountChainAddress: string | null): ApiKey {
  const { scopes, vaultIds } = parseRights(row);
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    last4: row.last4,
    scopes: scopes === null ? null : [...scopes],
    vaultIds: vaultIds === null ? null : [...vaultIds],
    chainAddress: row.chain_address,
    accessLevel: accessLevelOf(row.chain_address, accountChainAddress),
    expiresAt: row.expires_at === null ? null : toTimestamp(row.expires_at),
    lastUsedAt: row.last_used_at === null ? null : toTimestamp(row.last_used_at),
    revokedAt: row.revoked_at === null ? null : toTimestamp(row.revoked_at),
    createdAt: toTimestamp(row.created_at),
  };
}

/** A key without a chain address, or with the account's own, is the owner's (specification §2.6, decisions §4). */
export function accessLevelOf(keyAddress: string | null, accountAddress: string | null): AccessLevel {
  return keyAddress === null || keyAddress === accountAddress ? "owner" : "agent";
}
