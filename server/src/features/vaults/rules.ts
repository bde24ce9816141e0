/** What holds for vaults, without any I/O. */
import type { Vault } from "@coffer/contract";
import { toTimestamp } from "../timestamps.ts";
import type { OwnedVault } from "../reach/store.ts";
import type { VaultContents } from "./store.ts";
import type { Principal } from "../../handler.ts";

/** To its account's owner and to the account's agents. The caller has judged that the account is the caller's. */
export function toOwnVault(row: OwnedVault, { accessLevel }: Pick<Principal, "accessLevel">): Vault {
  return toVault(row, accessLevel);
}

/** `member`: the vault is another account's, which has a default vault of its own. */
export function toVault(row: OwnedVault, role: "owner" | "agent" | "member"): Vault {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    chainObjectId: row.chain_object_id,
    isDefault: row.default_vault_id === row.id,
    role,
    generation: row.chain_generation,
    plainNames: row.plain_names === null ? null : row.plain_names === 1,
    keepVersionsDays: row.keep_versions_days,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
    trashedAt: row.trashed_at === null ? null : toTimestamp(row.trashed_at),
  };
}

/** Why a vault cannot be deleted without force: what is in there, in words; null when it is empty. Trash counts. */
export function contentProblem(contents: VaultContents): string | null {
  const parts = [
    counted(contents.files, "file"),
    counted(contents.folders, "folder"),
    counted(contents.trashedFiles, "file", " in the trash"),
    counted(contents.trashedFolders, "folder", " in the trash"),
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : `The vault is not empty: it holds ${joined(parts)}`;
}

function counted(count: number, noun: string, where = ""): string | null {
  return count === 0 ? null : `${count} ${noun}${count === 1 ? "" : "s"}${where}`;
}

function joined(parts: string[]): string {
  return parts.length === 1 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
