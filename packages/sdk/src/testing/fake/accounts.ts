/** Accounts of the fake, each with one key. */
import { renderKey, type Account, type api } from "@coffer/contract";
import { Failure, type GroupHandlers } from "../handlers.ts";
import { KEY_NAME, notFound, timestamp, type Caller, type State } from "./state.ts";
import { makeVault } from "./vaults.ts";

const GIB = 2 ** 30;
const LIMITS: Account["limits"] = {
  storageBytes: 1024 * GIB,
  fileBytes: 50 * GIB,
  rawUploadBytes: 5 * GIB,
  vaults: 1000,
  apiKeys: 100,
  invites: 100,
  folderDepth: 32,
};
/** What the key of an account may do: everything. */
const RIGHTS = { scopes: null, vaultIds: null, chainAddress: null, expiresAt: null, budgets: null, budgetUse: null };

/** An account with the vault `Files`, and its key. */
export function makeAccount(state: State, email: string, name: string | null = null): { id: string; apiKey: string } {
  const value: Account = {
    id: crypto.randomUUID(),
    email,
    emailVerified: false,
    name,
    plan: "pro",
    accessLevel: "owner",
    chainAddress: null,
    chainAddressSource: null,
    usage: { bytes: 0, files: 0, versionBytes: 0 },
    limits: LIMITS,
    createdAt: timestamp(state),
  };
  const apiKey = renderKey(crypto.getRandomValues(new Uint8Array(32)));
  state.accounts.set(value.id, { value, key: apiKey, keyId: crypto.randomUUID() });
  makeVault(state, value.id, { name: "Files", isDefault: true });
  return { id: value.id, apiKey };
}

export function developmentHandlers(state: State): GroupHandlers<typeof api.development, null> {
  return {
    signup: ({ body: { email, name } }) => {
      if ([...state.accounts.values()].some(({ value }) => value.email === email)) throw new Failure("email_exists");
      return { ...makeAccount(state, email, name), email, warning: "This key is shown once." };
    },
  };
}

export function accountHandlers(state: State): Pick<GroupHandlers<typeof api.account, Caller>, "get"> {
  return {
    get: (_input, { accountId, keyId }) => {
      const row = state.accounts.get(accountId);
      if (row === undefined) throw notFound("Account");
      const files = [...state.files.values()].filter((file) => file.accountId === accountId);
      const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
      return {
        account: { ...row.value, usage: { bytes, files: files.length, versionBytes: 0 } },
        credential: { ...RIGHTS, kind: "api-key", id: keyId, name: KEY_NAME },
      };
    },
  };
}
