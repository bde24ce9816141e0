import { type api, KEY_PREFIX, renderKey, type Account, type ApiKey, type CreatedApiKey } from "@coffer/contract";
import { Failure, type GroupHandlers } from "../handlers.ts";
import { isLive, notFound, pageOf, timestamp, usageOf, type Caller, type KeyRow, type State } from "./state.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MAX_KEYS = 100;
const LIMITS: Account["limits"] = {
  storageBytes: 2 ** 40,
  fileBytes: 50 * 2 ** 30,
  rawUploadBytes: 5 * 2 ** 30,
  vaults: 1000,
  apiKeys: MAX_KEYS,
  folderDepth: 32,
};

export function accountHandlers(state: State): GroupHandlers<typeof api.account, Caller> {
  const read = (accountId: string): Account => {
    const account = state.accounts.get(accountId);
    if (account === undefined) throw notFound("Account");
    return { ...account, usage: usageOf(state, accountId) };
  };
  return {
    get: (_input, { accountId, key }) => {
      const { id, name, scopes, vaultIds, expiresAt } = key.value;
      return { account: read(accountId), credential: { kind: "api-key", id, name, scopes, vaultIds, expiresAt } };
    },
    update: ({ body }, { accountId }) => {
      const account = read(accountId);
      const next = body.name === undefined ? account : { ...account, name: body.name };
      state.accounts.set(accountId, next);
      return { account: next };
    },
  };
}

export function developmentHandlers(state: State): GroupHandlers<typeof api.development, null> {
  return {
    signup: ({ body }) => {
      if ([...state.accounts.values()].some((account) => account.email === body.email))
        throw new Failure("email_exists");
      const id = crypto.randomUUID();
      const createdAt = timestamp(state);
      const identity = {
        emailVerified: false,
        accessLevel: "owner",
        chainAddress: null,
        chainAddressSource: null,
        plan: "pro",
      } as const;
      state.accounts.set(id, {
        id,
        email: body.email,
        name: body.name ?? null,
        ...identity,
        usage: { bytes: 0, files: 0 },
        limits: LIMITS,
        createdAt,
      });
      const vault = {
        id: crypto.randomUUID(),
        name: "Files",
        type: "public",
        chainObjectId: null,
        isDefault: true,
        createdAt,
        updatedAt: createdAt,
      };
      state.vaults.set(vault.id, { accountId: id, sequence: state.next(), value: vault });
      const key = mintKey(state, id, { name: "development", scopes: null, vaultIds: null, expiresAt: null });
      return { id, email: body.email, apiKey: key.text, warning: "This key is shown once." };
    },
  };
}

export function apiKeyHandlers(state: State): GroupHandlers<typeof api.apiKeys, Caller> {
  const read = (caller: Caller, keyId: string): KeyRow => {
    const row = state.keys.get(keyId);
    if (
      row === undefined ||
      row.accountId !== caller.accountId ||
      !isWithin(row.value.vaultIds, caller.key.value.vaultIds)
    )
      throw notFound("API key");
    return row;
  };
  return {
    create: ({ body }, caller) => {
      refuseTooMany(state, caller.accountId);
      for (const vaultId of body.vaultIds ?? [])
        if (state.vaults.get(vaultId)?.accountId !== caller.accountId) throw notFound("Vault");
      const expiresAt =
        body.expiresInDays === undefined ? null : new Date(state.now() + body.expiresInDays * DAY_MS).toISOString();
      const rights = { name: body.name, scopes: body.scopes ?? null, vaultIds: body.vaultIds ?? null, expiresAt };
      refuseWider(caller, rights);
      return created(mintKey(state, caller.accountId, rights));
    },
    list: ({ query }, caller) => {
      const { items, nextCursor } = pageOf(
        [...state.keys.values()].filter((row) => row.accountId === caller.accountId),
        query,
      );
      return { apiKeys: items.filter((key) => isWithin(key.vaultIds, caller.key.value.vaultIds)), nextCursor };
    },
    get: ({ params }, caller) => ({ apiKey: read(caller, params.keyId).value }),
    revoke: ({ params }, caller) => {
      const row = read(caller, params.keyId);
      row.value = { ...row.value, revokedAt: row.value.revokedAt ?? timestamp(state) };
    },
    rotate: ({ params, body }, caller) => {
      const row = read(caller, params.keyId);
      if (!isLive(state, row)) throw new Failure("key_inactive");
      refuseWider(caller, row.value);
      const next = mintKey(state, row.accountId, row.value);
      const end = new Date(state.now() + (body?.overlapHours ?? 0) * HOUR_MS).toISOString();
      row.value = (body?.overlapHours ?? 0) === 0 ? { ...row.value, revokedAt: end } : { ...row.value, expiresAt: end };
      return created(next);
    },
  };
}

type Rights = Pick<ApiKey, "name" | "scopes" | "vaultIds" | "expiresAt">;

function mintKey(state: State, accountId: string, { name, scopes, vaultIds, expiresAt }: Rights): KeyRow {
  const text = renderKey(crypto.getRandomValues(new Uint8Array(32)));
  const value: ApiKey = {
    ...{ id: crypto.randomUUID(), name, prefix: `${KEY_PREFIX}_`, last4: text.slice(-4), scopes, vaultIds, expiresAt },
    ...{ chainAddress: null, accessLevel: "owner", lastUsedAt: null, revokedAt: null, createdAt: timestamp(state) },
  };
  const row = { accountId, sequence: state.next(), value, text };
  state.keys.set(value.id, row);
  return row;
}

function created({ value, text }: KeyRow): CreatedApiKey {
  const { id, name, prefix, scopes, vaultIds, chainAddress, expiresAt, createdAt } = value;
  return { id, name, key: text, prefix, scopes, vaultIds, chainAddress, expiresAt, createdAt };
}

function refuseWider(caller: Caller, wanted: Rights): void {
  const held = caller.key.value;
  const lasts = held.expiresAt === null || (wanted.expiresAt !== null && wanted.expiresAt <= held.expiresAt);
  if (!lasts || !isWithin(wanted.scopes, held.scopes) || !isWithin(wanted.vaultIds, held.vaultIds))
    throw new Failure("scope_too_wide");
}

/** null stands for everything. */
function isWithin(asked: readonly string[] | null, own: readonly string[] | null): boolean {
  return own === null || (asked?.every((item) => own.includes(item)) ?? false);
}

function refuseTooMany(state: State, accountId: string): void {
  const live = [...state.keys.values()].filter((row) => row.accountId === accountId && isLive(state, row));
  if (live.length >= MAX_KEYS) throw new Failure("limit_reached");
}
