/**
 * The checks of a sealed vault key before any key server is asked (encryption design §2). The key comes from the
 * service, and SealClient skips much: bytes behind the object, unknown servers, the associated data.
 */
import { CryptoError, MAX_SEALED_KEY_BYTES, type SealedVaultKey } from "@coffer/crypto";
import { EncryptedObject } from "@mysten/seal";
import { fromHex } from "@mysten/sui/utils";
import type { KeyServerSet, NetworkConfiguration } from "../network.ts";
import { associatedData, equalBytes, IDENTITY_BYTES, identityStart } from "./sealed-key-binding.ts";

/** 32 bytes of key and the tag of AES-GCM. */
const BLOB_BYTES = 48;

/** A sealed key that may be sent to the key servers of `set`. */
export interface CheckedKey {
  readonly sealedKey: Uint8Array;
  readonly identity: Uint8Array;
  readonly vault: Uint8Array;
  /** The accepted set it was sealed for. */
  readonly set: KeyServerSet;
}

/** Whether it is well-formed, and for the key servers for which keys are sealed now. It says nothing about whether it opens. */
export function isSealedForWriting(item: SealedVaultKey, network: Accepted): boolean {
  try {
    return parseSealedKey(item, network).set === network.keyServerSets[0];
  } catch (error) {
    if (error instanceof CryptoError) return false;
    throw error;
  }
}

type SealedObject = ReturnType<typeof EncryptedObject.parse>;
type Accepted = Pick<NetworkConfiguration, "originalPackageId" | "keyServerSets">;

/** @throws CryptoError `damaged` at step `record`, which says what is wrong. */
export function parseSealedKey({ sealedKey, place }: SealedVaultKey, network: Accepted): CheckedKey {
  const sealed = decode(sealedKey);
  if (sealed.version !== 0) throw refuse("another version of Seal");
  if (sealed.packageId !== network.originalPackageId) throw refuse("another package");
  const identity = fromHex(sealed.id);
  if (identity.length !== IDENTITY_BYTES) throw refuse("an identity of another length");
  const start = identityStart(place);
  if (!equalBytes(identity.subarray(0, start.length), start)) throw refuse("another vault or generation");
  checkCiphertext(sealed, associatedData(place));
  return { sealedKey, identity, vault: place.vault, set: findSet(sealed, network.keyServerSets) };
}

/** One text for one object: the parser ignores trailing bytes and accepts lengths that are written too long. */
function decode(bytes: Uint8Array): SealedObject {
  if (bytes.length === 0 || bytes.length > MAX_SEALED_KEY_BYTES) throw refuse("of another size");
  try {
    const sealed = EncryptedObject.parse(bytes);
    if (equalBytes(EncryptedObject.serialize(sealed).toBytes(), bytes)) return sealed;
  } catch {
    // Refused below; the parser's own words may quote the bytes.
  }
  throw refuse("not one well-formed object");
}

function checkCiphertext({ ciphertext }: SealedObject, aad: Uint8Array): void {
  const gcm = ciphertext.$kind === "Aes256Gcm" ? ciphertext.Aes256Gcm : null;
  if (gcm === null) throw refuse("another cipher");
  if (gcm.blob.length !== BLOB_BYTES) throw refuse("a key of another length");
  if (gcm.aad === null || !equalBytes(new Uint8Array(gcm.aad), aad)) throw refuse("bound to another place");
}

function findSet(sealed: SealedObject, sets: readonly KeyServerSet[]): KeyServerSet {
  const { services, threshold, encryptedShares } = sealed;
  if (encryptedShares.$kind !== "BonehFranklinBLS12381") throw refuse("another encryption of the shares");
  if (encryptedShares.BonehFranklinBLS12381.encryptedShares.length !== services.length)
    throw refuse("as many shares as servers are not there");
  const indices = new Set(services.map(([, index]) => index));
  if (indices.size !== services.length || services.some(([, index]) => index < 1 || index > services.length))
    throw refuse("shares numbered in another way");
  const matching = sets.filter((set) => holdsShares(set, services));
  if (matching.length === 0) throw refuse("key servers that are not accepted");
  const set = matching.find((candidate) => candidate.threshold === threshold);
  if (set === undefined) throw refuse("another threshold");
  return set;
}

/** Whether the servers are those of the set, each as often as it has weight. */
function holdsShares(set: KeyServerSet, services: SealedObject["services"]): boolean {
  const weight = set.servers.reduce((sum, server) => sum + server.weight, 0);
  const count = (objectId: string): number => services.filter(([service]) => service === objectId).length;
  return services.length === weight && set.servers.every((server) => count(server.objectId) === server.weight);
}

function refuse(what: string): CryptoError {
  return new CryptoError("damaged", "record", `The vault key is not sealed as it must be: ${what}`);
}
