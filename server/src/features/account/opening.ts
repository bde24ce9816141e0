import type { Deps } from "../../deps.ts";
import { isTaken, type Queries } from "../../ports/database.ts";
import type { AccountRow } from "../../ports/tables.ts";
import { FIRST_PREVIOUS_HASH } from "@coffer/contract";
import { vaultObject } from "../changes/objects.ts";
import { type AccountAct, actOnNew } from "./act.ts";
import { createAccount } from "./store.ts";

type Needs = Pick<Deps, "clock" | "random">;

export interface WantedAccount {
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string | null;
  readonly plan: "free" | "pro";
  readonly passwordHash?: string;
  /** At the identity provider. */
  readonly identity?: { readonly issuer: string; readonly subject: string };
}

/**
 * Writes an account with its default vault and what the audit log says of it, and goes on with `work`. Rejects with ConstraintError when
 * the e-mail or the identity is taken.
 */
export async function openAccount<Result>(
  deps: Needs,
  transaction: Queries,
  wanted: WantedAccount,
  work: (act: AccountAct) => Promise<Result>,
): Promise<Result> {
  const row = toRow(wanted, { id: deps.random.uuid(), vaultId: deps.random.uuid(), now: deps.clock.now() });
  await createAccount(transaction, row);
  const { id: accountId, default_vault_id: vaultId } = row;
  const made = [
    { action: "account.created", target: { kind: "account", id: accountId } },
    {
      action: "vault.created",
      target: { kind: "vault", id: vaultId, vaultId },
      object: vaultObject({ id: vaultId, type: "public" }),
    },
  ];
  return actOnNew(deps, transaction, row, async (act) => {
    for (const change of made) await act.record({ actor: null, ...change });
    return work(act);
  });
}

/** Whether that is what an account could not be opened for. */
export function isKnownUser(error: unknown): boolean {
  return isTaken(error, "accounts_email_key") || isTaken(error, "accounts_identity");
}

function toRow(wanted: WantedAccount, made: { id: string; vaultId: string; now: number }): AccountRow {
  return {
    id: made.id,
    email: wanted.email,
    email_verified: wanted.emailVerified ? 1 : 0,
    name: wanted.name,
    idp_id: wanted.identity?.subject ?? null,
    idp_issuer: wanted.identity?.issuer ?? null,
    password_hash: wanted.passwordHash ?? null,
    zklogin_salt: null,
    chain_address: null,
    chain_public_key: null,
    chain_address_source: null,
    plan: wanted.plan,
    default_vault_id: made.vaultId,
    usage_bytes: 0,
    usage_files: 0,
    usage_version_bytes: 0,
    sequence: 0,
    changes_hash: FIRST_PREVIOUS_HASH,
    created_at: made.now,
    updated_at: made.now,
  };
}
