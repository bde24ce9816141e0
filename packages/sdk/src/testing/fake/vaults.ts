/** Public vaults of the fake. It has no shared ones. */
import type { api, Vault } from "@coffer/contract";
import { Failure, Reply, type GroupHandlers } from "../handlers.ts";
import { announce, describeVault } from "./events.ts";
import { beginsWith, pageOf, readAnyVault, readVault, timestamp, type Caller, type Row, type State } from "./state.ts";

export function vaultHandlers(state: State): GroupHandlers<typeof api.vaults, Caller> {
  return {
    create: ({ body: { name, type, chainObjectId } }, caller) => {
      if (type === "shared" || chainObjectId !== undefined) throw new Failure("shared_vaults_unavailable");
      refuseTakenName(state, caller.accountId, name, null);
      const vault = makeVault(state, caller.accountId, { name, isDefault: false });
      announce(state, caller, "vault.created", describeVault(vault));
      return { vault };
    },
    list: ({ query }, caller) => {
      const rows = [...state.vaults.values()].filter(
        ({ accountId, value }) =>
          accountId === caller.accountId &&
          value.trashedAt === null &&
          query.shared !== true &&
          query.type !== "shared" &&
          beginsWith(value.id, query.idPrefix),
      );
      const { items, nextCursor } = pageOf(rows, query);
      return { vaults: items, nextCursor };
    },
    get: ({ params }, caller) => ({ vault: readAnyVault(state, caller, params.vaultId).value }),
    update: ({ params, body }, caller) => {
      const row = readVault(state, caller, params.vaultId);
      const { name = row.value.name, keepVersionsDays = row.value.keepVersionsDays } = body;
      refuseTakenName(state, caller.accountId, name, params.vaultId);
      change(state, row, { name, keepVersionsDays });
      announce(state, caller, "vault.updated", describeVault(row.value));
      return { vault: row.value };
    },
    delete: ({ params: { vaultId }, query }, caller) => {
      const row = readAnyVault(state, caller, vaultId);
      if (row.value.isDefault) throw new Failure("default_vault");
      const isLive = row.value.trashedAt === null;
      const contents = [...state.files.values(), ...state.folders.values()].filter(
        ({ value }) => value.vaultId === vaultId,
      );
      if (isLive && contents.length > 0 && query.force !== true) throw new Failure("vault_not_empty");
      if (query.permanent !== true) {
        if (isLive) {
          change(state, row, { trashedAt: timestamp(state) });
          announce(state, caller, "vault.trashed", describeVault(row.value));
        }
        return { vault: row.value };
      }
      for (const { value } of contents) {
        state.files.delete(value.id);
        state.folders.delete(value.id);
      }
      state.vaults.delete(vaultId);
      announce(state, caller, "vault.deleted", describeVault(row.value));
      return new Reply(undefined, { status: 204 });
    },
    restore: ({ params, body }, caller) => {
      const row = readAnyVault(state, caller, params.vaultId);
      if (row.value.trashedAt === null) throw new Failure("not_trashed");
      const name = body?.name ?? row.value.name;
      refuseTakenName(state, caller.accountId, name, params.vaultId);
      change(state, row, { name, trashedAt: null });
      announce(state, caller, "vault.restored", describeVault(row.value));
      return { vault: row.value };
    },
  };
}

function change(state: State, row: Row<Vault>, changes: Partial<Vault>): void {
  row.value = { ...row.value, ...changes, updatedAt: timestamp(state) };
}

export function makeVault(state: State, accountId: string, given: Pick<Vault, "name" | "isDefault">): Vault {
  const createdAt = timestamp(state);
  const value: Vault = {
    ...given,
    id: crypto.randomUUID(),
    type: "public",
    chainObjectId: null,
    role: "owner",
    generation: null,
    plainNames: null,
    keepVersionsDays: null,
    createdAt,
    updatedAt: createdAt,
    trashedAt: null,
  };
  state.vaults.set(value.id, { accountId, sequence: state.next(), value });
  return value;
}

function refuseTakenName(state: State, accountId: string, name: string, except: string | null): void {
  for (const { accountId: owner, value } of state.vaults.values())
    if (owner === accountId && value.trashedAt === null && value.name === name && value.id !== except)
      throw new Failure("name_exists");
}
