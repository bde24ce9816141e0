/** Accounts of the fake: made by every way of signing up. */
import type { Account } from "@coffer/contract";
import { Failure } from "../handlers.ts";
import { record } from "./audit.ts";
import { notFound, timestamp, usageOf, type State, type Visitor } from "./state.ts";

export const MAX_KEYS = 100;
export const MAX_INVITES = 100;
const MIB = 2 ** 20;
const GIB = 2 ** 30;
const EVERYBODY = { vaults: 1000, apiKeys: MAX_KEYS, invites: MAX_INVITES, folderDepth: 32 };
const LIMITS: Readonly<Record<string, Account["limits"]>> = {
  free: { storageBytes: 10 * GIB, fileBytes: 100 * MIB, rawUploadBytes: 100 * MIB, ...EVERYBODY },
  pro: { storageBytes: 1024 * GIB, fileBytes: 50 * GIB, rawUploadBytes: 5 * GIB, ...EVERYBODY },
};
const NO_LIMITS = { storageBytes: 0, fileBytes: 0, rawUploadBytes: 0, ...EVERYBODY };

export function limitsOf(plan: string): Account["limits"] {
  return LIMITS[plan] ?? NO_LIMITS;
}

/** Makes an account with its default vault. Throws `email_exists`. */
export function openAccount(
  state: State,
  visitor: Visitor,
  wanted: Pick<Account, "email" | "emailVerified" | "name" | "plan">,
): Account {
  if (findByEmail(state, wanted.email) !== null) throw new Failure("email_exists");
  const createdAt = timestamp(state);
  const account: Account = {
    ...wanted,
    id: crypto.randomUUID(),
    ...{ accessLevel: "owner", chainAddress: null, chainAddressSource: null },
    usage: { bytes: 0, files: 0, versionBytes: 0 },
    limits: limitsOf(wanted.plan),
    createdAt,
  };
  state.accounts.set(account.id, account);
  record(state, visitor, account.id, "account.created", { type: "account", id: account.id });
  const facts = {
    name: "Files",
    type: "public",
    chainObjectId: null,
    isDefault: true,
    role: "owner",
    generation: null,
    plainNames: null,
    keepVersionsDays: null,
    createdAt,
    trashedAt: null,
  } as const;
  const vault = { id: crypto.randomUUID(), ...facts, updatedAt: createdAt };
  state.vaults.set(vault.id, { accountId: account.id, sequence: state.next(), value: vault });
  record(state, visitor, account.id, "vault.created", { type: "vault", id: vault.id, vaultId: vault.id });
  return account;
}

/** The account as the service shows it. Throws `not_found`. */
export function readAccount(state: State, accountId: string): Account {
  const account = state.accounts.get(accountId);
  if (account === undefined) throw notFound("Account");
  return { ...account, usage: usageOf(state, accountId), limits: limitsOf(account.plan) };
}

export function findByEmail(state: State, email: string): Account | null {
  return [...state.accounts.values()].find((account) => account.email === email) ?? null;
}
