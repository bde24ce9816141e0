/** Data keys under vault keys (file-format §7). */
import { concatBytes, equalBytes } from "./bytes.ts";
import { decryptMessage, encryptMessage } from "./cobblestone.ts";
import { encodeEnvelope, WRAPPED_KEY_BYTES } from "./envelope.ts";
import { CryptoError, damaged } from "./errors.ts";
import { sized, titleBytes } from "./fields.ts";
import type { EnvelopeRequest } from "./file-plan.ts";
import { comparePlaces } from "./place.ts";
import type { CryptoPlatform } from "./platform/platform.ts";
import type { VaultKeyRecord } from "./vault-key-record.ts";
import { DataKey } from "./secret-key.ts";
import type { VaultKey } from "./vault-key.ts";

/** The context of a wrapped key besides the vault and its key: one message of one file. */
export type WrapContext = Omit<EnvelopeRequest, "dataKey">;

/** The envelope of a new file, for `newFilePlan`. Throws CryptoError `wrong_key` when the record is another key's. */
export async function makeEnvelope(
  platform: CryptoPlatform,
  record: VaultKeyRecord,
  vaultKey: VaultKey,
  request: EnvelopeRequest,
): Promise<Uint8Array> {
  return encodeEnvelope({ record, wrapped: await wrapDataKey(platform, record, vaultKey, request) });
}

/** 104 bytes. Holds both keys meanwhile. Throws KeyDisposedError. */
export async function wrapDataKey(
  platform: CryptoPlatform,
  record: VaultKeyRecord,
  vaultKey: VaultKey,
  { dataKey, ...place }: EnvelopeRequest,
): Promise<Uint8Array> {
  requireKeyOf(record, vaultKey);
  const context = wrapContext(record, place);
  return vaultKey.whileHeld(() =>
    dataKey.whileHeld(() => encryptMessage(platform, vaultKey.subkey("wrap"), context, dataKey.reveal())),
  );
}

/** The caller disposes the result. Throws CryptoError at step `wrap`: `wrong_key` for another place or key, `damaged`; and KeyDisposedError. */
export async function unwrapDataKey(
  platform: CryptoPlatform,
  record: VaultKeyRecord,
  vaultKey: VaultKey,
  wrapped: Uint8Array,
  place: WrapContext,
): Promise<DataKey> {
  requireKeyOf(record, vaultKey);
  if (wrapped.length !== WRAPPED_KEY_BYTES) throw damaged("wrap", `a wrapped key has ${WRAPPED_KEY_BYTES} bytes`);
  const context = wrapContext(record, place);
  return vaultKey.whileHeld(async () => {
    const bytes = await decryptMessage(platform, vaultKey.subkey("wrap"), context, wrapped).catch(refuse);
    try {
      return new DataKey(bytes);
    } finally {
      bytes.fill(0);
    }
  });
}

function refuse(error: unknown): never {
  if (!(error instanceof CryptoError)) throw error;
  throw new CryptoError(error.code, "wrap", "the data key was not wrapped for this file under this vault key", {
    cause: error,
  });
}

/** Throws CryptoError `wrong_key` at step `record` unless the key is the one that the record publishes. */
export function requireKeyOf(record: VaultKeyRecord, vaultKey: VaultKey): void {
  const matches =
    comparePlaces(vaultKey, record) === 0 &&
    equalBytes(vaultKey.vault, record.vault) &&
    equalBytes(vaultKey.subkey("check"), record.check);
  if (!matches) throw new CryptoError("wrong_key", "record", "the vault key is not the one that the record names");
}

/** "coffer/wrap/v1" ‖ 00 ‖ vault ‖ keyId ‖ commitment ‖ header[0..44) */
function wrapContext(record: VaultKeyRecord, { commitment, headerPrefix }: WrapContext): Uint8Array {
  return concatBytes(
    titleBytes("coffer/wrap/v1"),
    record.vault,
    record.keyId,
    sized(commitment, 32, "commitment"),
    sized(headerPrefix, 44, "header prefix"),
  );
}
