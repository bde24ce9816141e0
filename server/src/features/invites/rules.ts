/** What an invite may promise, and what state it is in (specification §2.5, §3; decisions §4). */
import { hash } from "node:crypto";
import { type BudgetUses, type Invite, INVITE_HOURS, isInviteCode, type Scope } from "@coffer/contract";
import type { Budget } from "../../handler.ts";
import type { InviteRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { budgetsShown, parseBudgets } from "../budgets/rules.ts";
import { toTimestamp } from "../timestamps.ts";
import {
  chooseScopes,
  chooseVaults,
  endOf,
  HOUR,
  requireNoWider,
  type Rights,
  type RightsOfMaker,
} from "../api-keys/rules.ts";

export interface WantedInvite {
  readonly scopes?: readonly Scope[] | undefined;
  readonly vaultIds?: readonly string[] | undefined;
  /** Fractions of an hour are fine. */
  readonly expiresInHours?: number | undefined;
  readonly accessUntil?: string | undefined;
}

export interface InviteTerms extends Pick<Rights, "scopes" | "vaultIds" | "budgets"> {
  /** The invite's end. */
  readonly expiresAt: number;
  /** The end of its key; null: no end. */
  readonly keyExpiresAt: number | null;
  /** The end that was asked for; null: none. */
  readonly accessUntil: number | null;
}

/**
 * An invite is a key to be: no wider than its maker in scopes, vaults and time. Throws `scope_owner_only` for a scope that
 * no agent has, and `scope_too_wide` for what the maker does not hold. Without a lifetime it ends with its maker at the latest.
 */
export function chooseTerms(
  wanted: WantedInvite,
  maker: RightsOfMaker,
  { now, budgets }: { readonly now: number; readonly budgets: readonly Budget[] },
): InviteTerms {
  const scopes = chooseScopes(wanted.scopes, maker, "agent");
  const vaultIds = chooseVaults(wanted.vaultIds, maker);
  const accessUntil = wanted.accessUntil === undefined ? null : Date.parse(wanted.accessUntil);
  const keyExpiresAt = accessUntil ?? endOf(maker);
  const standard = Math.min(now + INVITE_HOURS.standard * HOUR, keyExpiresAt ?? Infinity);
  const expiresAt =
    wanted.expiresInHours === undefined ? standard : now + Math.max(1, Math.round(wanted.expiresInHours * HOUR));
  if (accessUntil !== null && (accessUntil <= now || accessUntil < expiresAt))
    throw new ServiceError(
      "validation_failed",
      "body.accessUntil: must be in the future, and not before the invite ends",
    );
  requireNoWider({ scopes, vaultIds, budgets, expiresAt: Math.max(expiresAt, keyExpiresAt ?? 0) }, maker);
  return { scopes, vaultIds, budgets, expiresAt, keyExpiresAt, accessUntil };
}

/** An invite is expired at its end, not after it; see `endExpiredInvite` for one that is said to be revoked at its end. */
export function statusOf(
  row: Pick<InviteRow, "used_at" | "revoked_at" | "expires_at">,
  now: number,
): "created" | "used" | "revoked" | "expired" {
  if (row.used_at !== null) return "used";
  if (isRevoked(row)) return "revoked";
  return row.revoked_at === null && row.expires_at > now ? "created" : "expired";
}

function isRevoked(row: Pick<InviteRow, "revoked_at" | "expires_at">): boolean {
  return row.revoked_at !== null && row.revoked_at !== row.expires_at;
}

/** SHA-256 in hex: all that is kept of a code (specification §2.5). */
export function hashCode(code: string): string {
  return hash("sha256", code, "hex");
}

/** Throws for a text that no invite can have; the message never repeats it. */
export function requireCode(text: string): void {
  if (isInviteCode(text)) return;
  if (text.includes(".")) {
    // The inviter gave `<code>.<secret>` to the agent; with the secret this service could vouch for an address of its own.
    throw new ServiceError(
      "validation_failed",
      "body.code: send only the text before the dot. The rest is a secret that no service may see: ask for a new invite",
    );
  }
  throw new ServiceError("not_found", "Invite not found");
}

/** The invite as it is listed; never the code: the service has only its hash. */
export function toInvite(row: InviteRow, budgetUse: BudgetUses | null, now: number): Invite {
  const time = (at: number | null) => (at === null ? null : toTimestamp(at));
  return {
    id: row.id,
    name: row.name,
    status: statusOf(row, now),
    ...shownTerms(row),
    budgetUse,
    accessUntil: time(row.access_until),
    expiresAt: toTimestamp(row.expires_at),
    createdAt: toTimestamp(row.created_at),
    usedAt: time(row.used_at),
    revokedAt: isRevoked(row) ? time(row.revoked_at) : null,
    keyId: row.key_id,
    chainAddress: row.chain_address,
    addressProof: row.address_proof,
    signingKey: row.signing_key,
  };
}

type TermsRow = Pick<InviteRow, "scopes_json" | "vault_ids_json" | "budgets_json">;

export function shownTerms(row: TermsRow): Pick<Invite, "scopes" | "vaultIds" | "budgets"> {
  const { scopes, vaultIds, budgets } = parseTerms(row);
  return { scopes, vaultIds, budgets: budgetsShown(budgets) };
}

export function parseTerms(row: TermsRow): {
  scopes: Scope[] | null;
  vaultIds: string[] | null;
  budgets: readonly Budget[];
} {
  return {
    scopes: row.scopes_json === null ? null : (JSON.parse(row.scopes_json) as Scope[]),
    vaultIds: row.vault_ids_json === null ? null : (JSON.parse(row.vault_ids_json) as string[]),
    budgets: parseBudgets(row.budgets_json),
  };
}
