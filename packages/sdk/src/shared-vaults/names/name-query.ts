/** Looking for an exact name in a folder of a shared vault, whose names the service cannot read. */
import { folderNamesGroup } from "@coffer/contract";
import { CryptoError, verifyRecord, type VaultKey } from "@coffer/crypto";
import { callOn } from "../../http/call.ts";
import { toHex } from "../../transfer/digest.ts";
import { ContractError } from "../../http/errors.ts";
import type { Connection, CallOptions } from "../../connection/options.ts";
import { indexOf } from "./entries.ts";
import { claimsOf, viewNaming } from "./signer-view.ts";
import type { OpenVault } from "../open-vault.ts";
import { findPlace } from "./vault-finder.ts";
import { inVaultTerms } from "../vault-terms.ts";

interface NameQuery {
  readonly vaultId?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * The same query with the name's blind index instead of the name; null when nothing can be found. `folder`: where to
 * look, `root` for the top of the vault; it is required, because the index covers name and place.
 */
export async function toIndexQuery<Query extends NameQuery>(
  connection: Connection,
  query: Query,
  folder: string | undefined,
  options?: CallOptions,
): Promise<(Omit<Query, "name"> & { nameIndex?: string }) | Query | null> {
  const { name, ...rest } = query;
  if (name === undefined) return query;
  // It may be a name of a shared vault, which the service must not see.
  if (query.vaultId === undefined && (folder === undefined || folder === "root"))
    throw new ContractError("request", "files.list", ["vaultId: needed beside name, where vaults may be shared"]);
  // A folder without its vault: the folder names the vault, so that no name goes to the service unencrypted.
  const place = { vaultId: query.vaultId, folderId: folder === "root" ? undefined : folder };
  const location = await findPlace(connection, place, options);
  if (location === null) return query;
  const { vault } = location;
  if (vault === null) return { ...query, vaultId: location.vaultId };
  if ((await vault.view()).plainNames) return query;
  if (folder === undefined)
    throw new ContractError("request", "files.list", ["folderId: needed beside name in a shared vault"]);
  const folderId = folder === "root" ? null : folder;
  return inVaultTerms(async () => {
    const key = await newestKeyOf(connection, vault, folderId, options);
    return key === null ? null : { ...rest, nameIndex: toHex(indexOf(await vault.view(), key, folderId, name)) };
  });
}

/** The record may be void by now, because a rotation has ended: then there is a newer key. */
async function newestKeyOf(...question: Parameters<typeof keyOf>): Promise<VaultKey | null> {
  try {
    return await keyOf(...question);
  } catch (error) {
    if (error instanceof CryptoError && error.code === "rolled_back") return keyOf(...question);
    throw error;
  }
}

/**
 * The key of the folder's indexes; null while the folder is empty. The service names it, so only the members of its
 * generation may have it. Anyone with the key could guess the searched name.
 * @throws CryptoError at step `record`: `damaged` for a record that no member of its generation made, `rolled_back`
 * below the vault's floor.
 */
async function keyOf(
  connection: Connection,
  vault: OpenVault,
  folderId: string | null,
  options?: CallOptions,
): Promise<VaultKey | null> {
  const query = folderId === null ? {} : { folderId };
  const { keyId } = await callOn(connection, folderNamesGroup.get, { params: { vaultId: vault.id }, query }, options);
  if (keyId === null) return null;
  const record = await vault.record(
    Uint8Array.from(keyId.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)),
    null,
  );
  const { generation } = record;
  const view = await viewNaming((wanted) => vault.view(wanted), claimsOf(record));
  await verifyRecord(view, record);
  if (generation < view.floor)
    throw new CryptoError("rolled_back", "record", "the folder's names are under a key from before the last rotation");
  return vault.findKey(record);
}
