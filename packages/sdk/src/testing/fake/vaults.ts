import type { api, Vault } from "@coffer/contract";
import { Failure, Reply, type GroupHandlers } from "../handlers.ts";
import { pageOf, reaches, readVault, readVaultOrTrashed, timestamp, type Caller, type State } from "./state.ts";
import type { Row } from "./row.ts";
import { keepEntriesAsVaultSays } from "./entries.ts";
import { beginsWith } from "./items.ts";
import { keepAsVaultSays } from "./versions.ts";

const MAX_VAULTS = 1000;

export function vaultHandlers(state: State): GroupHandlers<typeof api.vaults, Caller> {
  return {
    create: ({ body }, { accountId }) => {
      if (body.type === "shared" || body.chainObjectId !== undefined) throw new Failure("shared_vaults_unavailable");
      if (ownVaults(state, accountId).length >= MAX_VAULTS) throw new Failure("limit_reached");
      refuseTaken(state, accountId, body.name, null);
      const vault = makeVault(state, body.name);
      state.vaults.set(vault.id, { accountId, sequence: state.next(), value: vault });
      return { vault };
    },
    list: ({ query }, caller) => {
      // This fake has no members.
      const own = query.shared === true ? [] : ownVaults(state, caller.accountId).filter(isLive);
      const rows = own.filter(
        ({ value }) =>
          reaches(caller, value.id) &&
          (query.type ?? value.type) === value.type &&
          beginsWith(value.id, query.idPrefix),
      );
      const { items, nextCursor } = pageOf(rows, query);
      return { vaults: items.map((value) => shownTo(caller, value)), nextCursor };
    },
    get: ({ params }, caller) => ({
      vault: shownTo(caller, readVaultOrTrashed(state, caller, params.vaultId).value),
    }),
    update: ({ params, body }, caller) => {
      const row = readVault(state, caller, params.vaultId);
      const { name = row.value.name, keepVersionsDays = row.value.keepVersionsDays } = body;
      if (name !== row.value.name || keepVersionsDays !== row.value.keepVersionsDays) {
        refuseTaken(state, caller.accountId, name, params.vaultId);
        row.value = { ...row.value, name, keepVersionsDays, updatedAt: timestamp(state) };
        keepAsVaultSays(state, params.vaultId);
        keepEntriesAsVaultSays(state, params.vaultId);
      }
      return { vault: row.value };
    },
    delete: ({ params, query }, caller) => {
      const { vaultId } = params;
      const row = readVaultOrTrashed(state, caller, vaultId);
      if (row.value.isDefault) throw new Failure("default_vault");
      const contents = [state.files, state.folders] as const;
      const holds = contents.some((rows) => [...rows.values()].some((row) => row.value.vaultId === vaultId));
      if (isLive(row) && holds && query.force !== true) throw new Failure("vault_not_empty");
      if (query.permanent !== true) {
        const now = timestamp(state);
        if (isLive(row)) row.value = { ...row.value, trashedAt: now, updatedAt: now };
        return { vault: row.value };
      }
      for (const rows of contents) for (const [id, row] of rows) if (row.value.vaultId === vaultId) rows.delete(id);
      state.vaults.delete(vaultId);
      return new Reply(undefined, { status: 204 });
    },
    restore: ({ params, body }, caller) => {
      const row = readVaultOrTrashed(state, caller, params.vaultId);
      if (isLive(row)) throw new Failure("not_trashed");
      const name = body?.name ?? row.value.name;
      refuseTaken(state, caller.accountId, name, params.vaultId);
      row.value = { ...row.value, name, trashedAt: null, updatedAt: timestamp(state) };
      return { vault: row.value };
    },
  };
}

function makeVault(state: State, name: string): Vault {
  const createdAt = timestamp(state);
  return {
    id: crypto.randomUUID(),
    name,
    type: "public",
    chainObjectId: null,
    isDefault: false,
    role: "owner",
    generation: null,
    plainNames: null,
    keepVersionsDays: null,
    createdAt,
    updatedAt: createdAt,
    trashedAt: null,
  };
}

function shownTo({ key }: Caller, value: Vault): Vault {
  return { ...value, role: key.value.accessLevel };
}

function isLive({ value }: Row<Vault>): boolean {
  return value.trashedAt === null;
}

export function ownVaults(state: State, accountId: string) {
  return [...state.vaults.values()].filter((row) => row.accountId === accountId);
}

function refuseTaken(state: State, accountId: string, name: string, except: string | null): void {
  if (ownVaults(state, accountId).some((row) => isLive(row) && row.value.name === name && row.value.id !== except))
    throw new Failure("name_exists");
}
