/** Making vault keys for their members, and opening them (file-format §7). */
import { equalBytes } from "./bytes.ts";
import { CryptoError, type CryptoStep } from "./errors.ts";
import type { KeyBinding, VaultKeyWrap } from "./key-wrap.ts";
import { findSigner, placeOf, type VaultView } from "./membership.ts";
import type { Place } from "./place.ts";
import { parseRecord, signRecord, verifyRecord, type VaultKeyRecord } from "./vault-key-record.ts";
import type { Author } from "./statement-signer.ts";
import { randomVaultKey, VAULT_KEY_BYTES, VaultKey } from "./vault-key.ts";
import { requireKeyOf } from "./data-key-wrap.ts";

/** A record and its key. Whoever gets it disposes the key. */
export interface OpenedVaultKey {
  readonly record: VaultKeyRecord;
  readonly key: VaultKey;
}

/**
 * A vault key for the place of `view`, sealed and signed, to be published. `key` is for a later place that was seen,
 * or for sealing an opened key again for other key servers. The new record has the key's place and the same `check`.
 * It names the maker that the key's record `of` names; absent: the author made it. Throws CryptoError `wrong_key` at step `record` when the author's signing key is not the one that the chain names at
 * that place. Also when `key` is of another vault. Rejects as the wrap does, and with KeyDisposedError; then it has
 * disposed a key that it made itself.
 */
export async function newVaultKeyRecord(
  view: VaultView,
  wrap: VaultKeyWrap,
  author: Author,
  key?: VaultKey,
  of?: VaultKeyRecord,
): Promise<OpenedVaultKey> {
  if (key !== undefined) return { key, record: await sealAndSign(view, wrap, author, key, of) };
  const fresh = randomVaultKey(view.vault, placeOf(view));
  try {
    return { key: fresh, record: await sealAndSign(view, wrap, author, fresh, of) };
  } catch (error) {
    fresh.dispose();
    throw error;
  }
}

async function sealAndSign(
  view: VaultView,
  wrap: VaultKeyWrap,
  author: Author,
  key: VaultKey,
  of: VaultKeyRecord | undefined,
): Promise<VaultKeyRecord> {
  const { vault, generation, after } = key;
  if (!equalBytes(vault, view.vault)) throw new CryptoError("wrong_key", "record", "the vault key is another vault's");
  requireOwnKey(view, author, key, "record");
  if (of !== undefined) requireKeyOf(of, key);
  const creator = author.address;
  return key.whileHeld(async () => {
    const sealedKey = await sealCopy(wrap, key, { vault, generation, after, creator });
    const fields = { vault, generation, after, creator, check: key.subkey("check"), sealedKey };
    return signRecord({ ...fields, ...(of !== undefined && { origin: of }) }, author.signer);
  });
}

/** A copy: a wrap may pass it to a worker, and then it is gone here. */
async function sealCopy(wrap: VaultKeyWrap, key: VaultKey, place: KeyBinding): Promise<Uint8Array> {
  const copy = Uint8Array.from(key.reveal());
  try {
    return await wrap.wrap(copy, place);
  } finally {
    // A copy that went to a worker has no bytes left here, and cannot be written.
    if (copy.length > 0) copy.fill(0);
  }
}

/**
 * Verifies each record, then has all of them unwrapped at once: resolves in their order, or throws as a whole.
 * CryptoError at step `record`: `damaged`, `vault_changed`, or `wrong_key` for a sealed key that is not its record's.
 * Rejects as the wrap does. The caller disposes the keys.
 */
export async function openVaultKeys(
  view: VaultView,
  records: readonly VaultKeyRecord[],
  wrap: VaultKeyWrap,
): Promise<OpenedVaultKey[]> {
  // Reads again what was parsed elsewhere: fields and signed bytes must not differ.
  const read = records.map((record) => parseRecord(record.bytes));
  for (const record of read) await verifyRecord(view, record);
  if (read.length === 0) return [];
  const keys = await wrap.unwrap(read.map((record) => ({ sealedKey: record.sealedKey, place: keyPlace(record) })));
  const opened: OpenedVaultKey[] = [];
  try {
    for (const [at, record] of read.entries()) opened.push({ record, key: checkedKey(record, keys[at]) });
    return opened;
  } catch (error) {
    for (const { key } of opened) key.dispose();
    throw error;
  } finally {
    for (const bytes of keys) bytes.fill(0);
  }
}

/** Throws CryptoError `wrong_key` unless the signer's key is the one that the chain names for the author at that place. */
export function requireOwnKey(view: VaultView, { address, signer }: Author, place: Place, step: CryptoStep): void {
  const key = findSigner(view, address, place);
  if (key === null || !equalBytes(key, signer.publicKey))
    throw new CryptoError("wrong_key", step, "the signing key is not the one that the vault names for this address");
}

function keyPlace({ vault, generation, after, creator }: VaultKeyRecord): KeyBinding {
  return { vault, generation, after, creator };
}

function checkedKey(record: VaultKeyRecord, bytes: Uint8Array | undefined): VaultKey {
  if (bytes?.length !== VAULT_KEY_BYTES)
    throw new CryptoError("wrong_key", "record", "what was sealed is not a vault key");
  const key = new VaultKey(record.vault, record, bytes);
  try {
    requireKeyOf(record, key);
    return key;
  } catch (error) {
    key.dispose();
    throw error;
  }
}
