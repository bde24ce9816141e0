/**
 * The ladder (encryption design §7): one vault key opens the keys of lower places. So a vault costs its key servers
 * one identity whatever its age. Nobody signs a step. The AEAD, and the `check` that the lower key's record signs,
 * show whether it is true.
 */
import { concatBytes, equalBytes } from "./bytes.ts";
import { decryptMessage, encryptMessage } from "./cobblestone.ts";
import { CryptoError, damaged } from "./errors.ts";
import { FieldReader, titleBytes } from "./fields.ts";
import type { VaultView } from "./membership.ts";
import { comparePlaces, encodePlace, readPlace, type Place } from "./place.ts";
import type { CryptoPlatform } from "./platform/platform.ts";
import { parseRecord, verifyRecord, type VaultKeyRecord } from "./vault-key-record.ts";
import { VAULT_KEY_BYTES, VaultKey } from "./vault-key.ts";
import type { OpenedVaultKey } from "./vault-key-sealer.ts";
import { requireKeyOf } from "./data-key-wrap.ts";

/** A step's fields before its link. Nobody signs them. */
interface StepFields {
  /** 32 bytes: the vault object's id. */
  readonly vault: Uint8Array;
  /** The place of the key that opens the link. */
  readonly from: Place;
  /** The lower place, whose key is in the link. */
  readonly to: Place;
  /** 32 bytes: the subkey `check` of the key in the link. */
  readonly check: Uint8Array;
}

export interface LadderStep extends StepFields {
  /** The lower key: one Cobblestone message under the subkey `ladder` of the higher one. */
  readonly link: Uint8Array;
  /** The whole step: {@link LADDER_STEP_BYTES}. */
  readonly bytes: Uint8Array;
}

/** In bytes: vault, two places, check. */
const FIELDS_BYTES = 32 + 16 + 16 + 32;

/** In bytes: salt, commitment, key, tag. */
const LINK_BYTES = 24 + 32 + VAULT_KEY_BYTES + 16;

/** In bytes. */
export const LADDER_STEP_BYTES = FIELDS_BYTES + LINK_BYTES;

/**
 * The step from one key down to another one. Any holder of both can make it. Throws CryptoError `wrong_key` at step
 * `ladder` unless `to` is of the same vault and its place is lower, and KeyDisposedError. Holds both meanwhile.
 */
export async function makeLadderStep(platform: CryptoPlatform, from: VaultKey, to: VaultKey): Promise<LadderStep> {
  if (!equalBytes(from.vault, to.vault)) throw wrong("the two keys are of different vaults");
  const fields = { vault: to.vault, from, to, check: to.subkey("check") };
  if (comparePlaces(fields.to, fields.from) >= 0) throw wrong("a step leads to a lower place");
  const head = encodeFields(fields);
  const link = await from.whileHeld(() =>
    to.whileHeld(() => encryptMessage(platform, from.subkey("ladder"), contextOf(head), to.reveal())),
  );
  return parseLadderStep(concatBytes(head, link));
}

/**
 * Reads one step and nothing after it. Throws CryptoError `damaged` at step `ladder`. Only opening the step shows
 * whether it is true.
 */
export function parseLadderStep(bytes: Uint8Array): LadderStep {
  if (bytes.length !== LADDER_STEP_BYTES)
    throw damaged("ladder", `a step of the ladder has ${LADDER_STEP_BYTES} bytes`);
  const reader = new FieldReader(bytes);
  const vault = reader.read(32);
  const [from, to] = [readPlace(reader, "ladder"), readPlace(reader, "ladder")];
  if (comparePlaces(to, from) >= 0) throw damaged("ladder", "a step of the ladder leads to a lower place");
  return { vault, from, to, check: reader.read(32), link: reader.read(LINK_BYTES), bytes: Uint8Array.from(bytes) };
}

/**
 * The key of `target`, opened by that of `higher`. It believes nothing in the step. The higher key must match its
 * record, the target's record is verified by itself, and the resulting key must match that record. Throws CryptoError
 * `vault_changed`, `damaged` and `wrong_key` at step `record` for one of the records. At step `ladder` it throws
 * `damaged` for places that the step must not join. Such places are below `base` or the floor, upwards, or not those
 * of the two records. It throws `wrong_key` for a link that does not open, or holds another key. The caller disposes
 * the key that it gets.
 */
export async function openLadderStep(
  platform: CryptoPlatform,
  view: VaultView,
  higher: OpenedVaultKey,
  step: LadderStep,
  target: VaultKeyRecord,
): Promise<OpenedVaultKey> {
  // Reads again what was parsed elsewhere: fields and bytes must not differ.
  const { vault, from, to, check, link, bytes } = parseLadderStep(step.bytes);
  const [above, record] = [parseRecord(higher.record.bytes), parseRecord(target.bytes)];
  await verifyRecord(view, above);
  requireKeyOf(above, higher.key);
  const isFrom = equalBytes(vault, above.vault) && comparePlaces(from, above) === 0;
  if (!isFrom) throw damaged("ladder", "the step begins at another key");
  if (!isOnLadder(view, to)) throw damaged("ladder", "the step leads below what the vault's last rotation left open");
  await verifyRecord(view, record);
  const isTo = comparePlaces(to, record) === 0 && equalBytes(check, record.check);
  if (!isTo) throw damaged("ladder", "the step leads to another key");
  const context = contextOf(bytes.subarray(0, FIELDS_BYTES));
  const key = await higher.key.whileHeld(async () => {
    const bytes = await decryptMessage(platform, higher.key.subkey("ladder"), context, link).catch(refuse);
    try {
      if (bytes.length !== VAULT_KEY_BYTES) throw wrong("what the step holds is not a vault key");
      return new VaultKey(record.vault, record, bytes);
    } finally {
      bytes.fill(0);
    }
  });
  if (!equalBytes(key.subkey("check"), record.check)) {
    key.dispose();
    throw wrong("the step holds another key than the record names");
  }
  return { record, key };
}

/** Whether a step may lead to keys of this place: not below the last rotation, nor below the floor. */
export function isOnLadder({ base, floor }: VaultView, { generation }: Pick<Place, "generation">): boolean {
  return generation >= base && generation >= floor;
}

function encodeFields({ vault, from, to, check }: StepFields): Uint8Array {
  return concatBytes(vault, encodePlace(from), encodePlace(to), check);
}

/** "coffer/ladder/v1" ‖ 00 ‖ all fields before the link */
function contextOf(fields: Uint8Array): Uint8Array {
  return concatBytes(titleBytes("coffer/ladder/v1"), fields);
}

function refuse(error: unknown): never {
  if (!(error instanceof CryptoError)) throw error;
  throw new CryptoError("wrong_key", "ladder", "the step does not open with the higher key", { cause: error });
}

function wrong(message: string): CryptoError {
  return new CryptoError("wrong_key", "ladder", message);
}
