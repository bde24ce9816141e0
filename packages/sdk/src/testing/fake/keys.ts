import {
  renderKeyAddressText,
  KEY_PREFIX,
  renderKey,
  type api,
  type ApiKey,
  type CreatedApiKey,
} from "@coffer/contract";
import { placeOf } from "../../chain/signer.ts";
import { Failure, type GroupHandlers, type Input } from "../handlers.ts";
import { MAX_KEYS, readAccount } from "./accounts.ts";
import { record } from "./audit.ts";
import { budgetUseOf, chooseBudgets, isWithinBudgets } from "./budgets.ts";
import type { Budget } from "./row.ts";
import { checkSignature, refuseLinkedElsewhere, requireHeld, requireRecent, type Proof } from "./proofs.ts";
import { isLive, notFound, pageOf, timestamp, type Caller, type KeyRow, type State } from "./state.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

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
  const shown = (row: KeyRow): ApiKey => ({ ...row.value, budgetUse: budgetUseOf(state, row.budgets) });
  const make = (caller: Caller, rights: Rights): CreatedApiKey => {
    const row = mintKey(state, caller.accountId, rights);
    record(state, caller, caller.accountId, "api_key.created", { type: "api_key", id: row.value.id });
    return created(row);
  };
  return {
    create: async ({ body }, caller) => {
      const proof = await proofOf(state, caller, body);
      // From here on nothing waits, so that calls at once count each other.
      refuseTooMany(state, caller.accountId);
      refuseForeignVaults(state, caller.accountId, body.vaultIds);
      const expiresAt = body.expiresInDays === undefined ? null : timestamp(state, body.expiresInDays * DAY_MS);
      const chainAddress = body.chainAddress ?? null;
      const budgets = chooseBudgets(body.budgets, caller.key.budgets ?? []);
      const limits = { scopes: body.scopes ?? null, vaultIds: body.vaultIds ?? null, expiresAt, budgets };
      const rights = { name: body.name, ...limits };
      refuseWider(caller, rights);
      requireAddress(state, caller, body, proof);
      return make(caller, { ...rights, chainAddress });
    },
    list: ({ query }, caller) => {
      const { items, nextCursor } = pageOf(
        [...state.keys.values()]
          .filter((row) => row.accountId === caller.accountId)
          .map((row) => ({ ...row, value: shown(row) })),
        query,
      );
      const apiKeys = items.filter((key) => isWithin(key.vaultIds, caller.key.value.vaultIds));
      return { apiKeys, nextCursor };
    },
    get: ({ params }, caller) => ({ apiKey: shown(read(caller, params.keyId)) }),
    revoke: ({ params }, caller) => {
      const row = read(caller, params.keyId);
      if (row.value.revokedAt !== null) return;
      row.value = { ...row.value, revokedAt: timestamp(state) };
      record(state, caller, row.accountId, "api_key.revoked", { type: "api_key", id: row.value.id });
    },
    rotate: ({ params, body }, caller) => {
      const row = read(caller, params.keyId);
      if (!isLive(state, row)) throw new Failure("key_inactive");
      const rights = { ...row.value, budgets: row.budgets };
      refuseWider(caller, rights);
      const next = make(caller, rights);
      const end = timestamp(state, (body?.overlapHours ?? 0) * HOUR_MS);
      row.value = (body?.overlapHours ?? 0) === 0 ? { ...row.value, revokedAt: end } : { ...row.value, expiresAt: end };
      return next;
    },
  };
}

export interface Rights extends Pick<ApiKey, "name" | "scopes" | "vaultIds" | "expiresAt" | "chainAddress"> {
  readonly budgets: readonly Budget[];
}

/** Makes a key. It is an agent's when it is bound to an address other than the account's own. */
export function mintKey(state: State, accountId: string, rights: Rights): KeyRow {
  const { name, scopes, vaultIds, expiresAt, chainAddress, budgets } = rights;
  const text = renderKey(crypto.getRandomValues(new Uint8Array(32)));
  const own = chainAddress === null || chainAddress === readAccount(state, accountId).chainAddress;
  const value: ApiKey = {
    ...{ id: crypto.randomUUID(), name, prefix: `${KEY_PREFIX}_`, last4: text.slice(-4), scopes, vaultIds, expiresAt },
    ...{ chainAddress, chainPublicKey: null, accessLevel: own ? "owner" : "agent", lastUsedAt: null, revokedAt: null },
    ...{ budgets: budgets[0]?.limits ?? null, budgetUse: null },
    createdAt: timestamp(state),
  };
  const row = { accountId, sequence: state.next(), value, text, budgets };
  state.keys.set(value.id, row);
  return row;
}

export function refuseForeignVaults(state: State, accountId: string, vaultIds: readonly string[] | undefined): void {
  for (const vaultId of vaultIds ?? []) if (state.vaults.get(vaultId)?.accountId !== accountId) throw notFound("Vault");
}

export function refuseTooMany(state: State, accountId: string): void {
  const live = [...state.keys.values()].filter((row) => row.accountId === accountId && isLive(state, row));
  if (live.length >= MAX_KEYS) throw new Failure("limit_reached");
}

/** When a caller's own rights end: a key's expiry. A session's token ends, its rights do not. */
export function lifeOf({ kind, key }: Caller): string | null {
  return kind !== "api-key" ? null : key.value.expiresAt;
}

/** Nobody gives more rights than it has. Throws `scope_too_wide`. */
export function refuseWider(
  caller: Caller,
  wanted: Pick<Rights, "scopes" | "vaultIds" | "expiresAt" | "budgets">,
): void {
  const { scopes, vaultIds } = caller.key.value;
  const ends = lifeOf(caller);
  const lasts = ends === null || (wanted.expiresAt !== null && wanted.expiresAt <= ends);
  if (!isWithinBudgets(wanted.budgets, caller.key.budgets ?? [])) throw new Failure("scope_too_wide");
  if (!lasts || !isWithin(wanted.scopes, scopes) || !isWithin(wanted.vaultIds, vaultIds))
    throw new Failure("scope_too_wide");
}

/** null means everything. */
export function isWithin(asked: readonly string[] | null, own: readonly string[] | null): boolean {
  return own === null || (asked?.every((item) => own.includes(item)) ?? false);
}

type NewKey = Input<typeof api.apiKeys.create>["body"];

/** null: there is none. */
async function proofOf(state: State, { accountId, origin }: Caller, body: NewKey): Promise<Proof | null> {
  const { chainAddress, addressProof } = body;
  if (chainAddress === undefined || addressProof === undefined) return null;
  const claim = { ...placeOf(origin), chainAddress, accountId, signedAt: addressProof.signedAt };
  return checkSignature(state, chainAddress, renderKeyAddressText(claim), addressProof.signature);
}

/** An address other than the account's own needs the proof of its holder. */
function requireAddress(state: State, { accountId }: Caller, body: NewKey, proof: Proof | null): void {
  const { chainAddress, addressProof } = body;
  if (chainAddress === undefined || chainAddress === readAccount(state, accountId).chainAddress) return;
  refuseLinkedElsewhere(state, accountId, chainAddress);
  if (addressProof !== undefined) requireRecent(state, addressProof.signedAt);
  requireHeld(proof);
}

function created({ value, text }: KeyRow): CreatedApiKey {
  const { id, name, prefix, scopes, vaultIds, chainAddress, budgets, expiresAt, createdAt } = value;
  return { id, name, key: text, prefix, scopes, vaultIds, chainAddress, budgets, expiresAt, createdAt };
}
