/** Metadata as it is stored: encrypted for one entry, or plain in a vault with plain names (file-format §9). */
import { concatBytes, encodeUuid } from "./bytes.ts";
import { decryptMessage, encryptMessage } from "./cobblestone.ts";
import { ENTRY_KINDS, type EntryKind } from "./entry-statement.ts";
import { CryptoError, damaged } from "./errors.ts";
import { sized, titleBytes, u64, u8 } from "./fields.ts";
import { encodePaddedMetadata, METADATA_SIZES, parsePaddedMetadata, type Metadata } from "./metadata.ts";
import type { CryptoPlatform } from "./platform/platform.ts";
import type { VaultKey } from "./vault-key.ts";

/** The context of encrypted metadata besides the vault. */
export interface MetadataContext {
  readonly kind: EntryKind;
  /** UUID in lower case. */
  readonly id: string;
  readonly revision: bigint;
  /** 32 bytes. */
  readonly keyId: Uint8Array;
}

/** Salt, commitment and tag. */
const MESSAGE_OVERHEAD = 72;

/** The sizes of encrypted metadata: 136, 200, 328 and 584 bytes. */
export const ENCRYPTED_METADATA_SIZES: readonly number[] = METADATA_SIZES.map((size) => size + MESSAGE_OVERHEAD);

/** One message under the subkey `metadata`. RangeError for metadata that is impossible for its kind; KeyDisposedError. */
export async function encryptMetadata(
  platform: CryptoPlatform,
  vaultKey: VaultKey,
  place: MetadataContext,
  metadata: Metadata,
): Promise<Uint8Array> {
  const plaintext = encodePaddedMetadata(place.kind, metadata);
  const context = metadataContext(vaultKey.vault, place);
  return vaultKey.whileHeld(() => encryptMessage(platform, vaultKey.subkey("metadata"), context, plaintext));
}

/** Throws CryptoError at step `metadata`: `wrong_key` for another key, entry or revision, `damaged`; and KeyDisposedError. */
export async function decryptMetadata(
  platform: CryptoPlatform,
  vaultKey: VaultKey,
  place: MetadataContext,
  encrypted: Uint8Array,
): Promise<Metadata> {
  if (!ENCRYPTED_METADATA_SIZES.includes(encrypted.length))
    throw damaged("metadata", "encrypted metadata does not have this length");
  const context = metadataContext(vaultKey.vault, place);
  const plaintext = await vaultKey
    .whileHeld(() => decryptMessage(platform, vaultKey.subkey("metadata"), context, encrypted))
    .catch(refuse);
  return parsePaddedMetadata(place.kind, plaintext);
}

function refuse(error: unknown): never {
  if (!(error instanceof CryptoError)) throw error;
  throw new CryptoError(error.code, "metadata", "the metadata was not encrypted for this entry under this vault key", {
    cause: error,
  });
}

/** "coffer/metadata/v1" ‖ 00 ‖ vault ‖ keyId ‖ kind ‖ id ‖ revision */
function metadataContext(vault: Uint8Array, { id, keyId, kind, revision }: MetadataContext): Uint8Array {
  return concatBytes(
    titleBytes("coffer/metadata/v1"),
    vault,
    sized(keyId, 32, "key id"),
    u8(ENTRY_KINDS[kind]),
    encodeUuid(id),
    u64(revision),
  );
}
