/** A local index of names between two runs: encrypted under a key of its vault (file-format §14). */
import {
  CryptoError,
  decryptSearchIndex,
  encodePlace,
  encryptSearchIndex,
  parseEntryStatement,
  type EntryStatement,
} from "@coffer/crypto";
import { fromBase64 } from "../transfer/digest.ts";
import { inVaultTerms, toVaultError } from "../shared-vaults/vault-terms.ts";
import { VaultError } from "../http/errors.ts";
import type { OpenVault } from "../shared-vaults/open-vault.ts";
import { decodeIndex, encodeIndex, type IndexState } from "./index-text.ts";
import type { NameStore } from "./name-store.ts";

/** The key of an entry that was verified. */
export type IndexKey = Pick<EntryStatement, "keyId" | "generation" | "after">;

export interface StoredIndex extends IndexState {
  readonly key: IndexKey;
}

const HEAD_BYTES = 48;

/** null: there is none, or it is damaged, another vault's or another version's. Such a file is built again. */
export async function loadIndex(vault: OpenVault, store: NameStore): Promise<StoredIndex | null> {
  const file = await store.load(vault.id);
  if (file === null || file.length <= HEAD_BYTES) return null;
  const [keyId, place] = [file.slice(0, 32), new DataView(file.buffer, file.byteOffset + 32, 16)];
  const key = { keyId, generation: place.getBigUint64(0), after: place.getBigUint64(8) };
  try {
    const vaultKey = await vault.findKey(await vault.record(keyId, key.generation));
    const message = file.subarray(HEAD_BYTES);
    const plaintext = await decryptSearchIndex(vault.platform, vaultKey, { vaultId: vault.id, keyId }, message);
    const state = await decodeIndex(plaintext);
    return state === null ? null : { ...state, key };
  } catch (error) {
    if (isUseless(error)) return null;
    throw toVaultError(error);
  }
}

export async function saveIndex(vault: OpenVault, store: NameStore, { key, ...state }: StoredIndex): Promise<void> {
  const { keyId } = key;
  const vaultKey = await vault.findKey(await vault.record(keyId, key.generation));
  const place = { vaultId: vault.id, keyId };
  const text = await encodeIndex(state);
  const message = await inVaultTerms(() => encryptSearchIndex(vault.platform, vaultKey, place, text));
  const file = new Uint8Array(HEAD_BYTES + message.length);
  file.set(keyId);
  file.set(encodePlace(key), 32);
  file.set(message, HEAD_BYTES);
  await store.save(vault.id, file);
}

/** The key of an entry, for the index to be encrypted under. */
export function keyOfEntry(entry: string): IndexKey {
  return parseEntryStatement(fromBase64(entry) ?? new Uint8Array(0));
}

/** The file proves nothing: not even that somebody attacks. */
function isUseless(error: unknown): boolean {
  return (error instanceof CryptoError || error instanceof VaultError) && USELESS.has(error.code);
}

const USELESS: ReadonlySet<string> = new Set(["damaged", "wrong_key", "vault_changed", "rolled_back"]);
