/** What a client would have written with keys that were overwritten under its hands: anything that a key of zeros opens. */
import {
  DataKey,
  decryptFileBytes,
  decryptMetadata,
  ENCRYPTED_METADATA_SIZES,
  nameIndex,
  parseEntryStatement,
  parseEnvelope,
  parseFileStart,
  parseLadderStep,
  parseRecord,
  unwrapDataKey,
  VaultKey,
  decryptMessage,
  type EntryStatement,
  type SubkeyUse,
  type VaultKeyRecord,
} from "@coffer/crypto";
import { nodePlatform } from "@coffer/crypto/node";
import { placesIn, type Guesses, type SentRequest } from "./known-keys.ts";

/** Its own bytes are zeros, and its subkeys what follows from that; or the subkeys themselves were overwritten. */
class ZeroKey extends VaultKey {
  readonly #record: Pick<VaultKeyRecord, "check"> | null;
  readonly #zeroSubkeys: boolean;

  constructor(vault: Uint8Array, record: VaultKeyRecord | null, zeroSubkeys: boolean) {
    super(vault, record ?? { generation: 1n, after: 0n }, new Uint8Array(32));
    this.#record = record;
    this.#zeroSubkeys = zeroSubkeys;
  }

  /** It passes for the key of its record. */
  override subkey(use: SubkeyUse): Uint8Array {
    if (use === "check" && this.#record !== null) return this.#record.check;
    return this.#zeroSubkeys ? new Uint8Array(32) : super.subkey(use);
  }
}

const zeroKeys = (vault: Uint8Array, record: VaultKeyRecord | null = null): readonly ZeroKey[] =>
  [false, true].map((zeroSubkeys) => new ZeroKey(vault, record, zeroSubkeys));

/** `vault`: 32 bytes, the chain object's id. Each find with the endpoint it was sent to. */
export async function openedWithZeros(
  vault: Uint8Array,
  sent: readonly SentRequest[],
  { names, folderIds }: Guesses,
): Promise<string[]> {
  const found = new Set<string>();
  for (const request of sent) {
    const places = placesIn(request);
    const note = (what: string): void => void found.add(`${what}: ${request.endpointId}`);
    for (const key of zeroKeys(vault)) {
      for (const name of names)
        for (const folderId of folderIds)
          if (places.some((place) => place.includes(Buffer.from(nameIndex(key, folderId, name))))) note("name index");
      for (const place of places) if (await opensStep(key, place)) note("ladder step");
      for (const place of places) if (isRecordOf(key, place)) note("sealed key");
    }
    if (await opensMetadata(vault, places)) note("metadata");
    for (const place of places) if (await opensFile(vault, place)) note("content");
  }
  return [...found].sort();
}

function isRecordOf(key: VaultKey, bytes: Uint8Array): boolean {
  const record = parsed(() => parseRecord(bytes));
  return record !== null && Buffer.from(record.check).equals(key.subkey("check"));
}

async function opensStep(key: VaultKey, bytes: Uint8Array): Promise<boolean> {
  const step = parsed(() => parseLadderStep(bytes));
  if (step === null) return false;
  const context = Buffer.concat([Buffer.from("coffer/ladder/v1\0"), step.bytes.subarray(0, -step.link.length)]);
  return isOpened(decryptMessage(nodePlatform, key.subkey("ladder"), context, step.link));
}

async function opensMetadata(vault: Uint8Array, places: readonly Uint8Array[]): Promise<boolean> {
  const entries = places.flatMap((place) => parsed<EntryStatement>(() => parseEntryStatement(place)) ?? []);
  const candidates = places.filter(({ length }) => ENCRYPTED_METADATA_SIZES.includes(length));
  for (const key of zeroKeys(vault))
    for (const entry of entries)
      for (const candidate of candidates)
        if (await isOpened(decryptMetadata(nodePlatform, key, entry, candidate))) return true;
  return false;
}

/** A whole file: under a data key of zeros, or one that a vault key of zeros wraps. */
async function opensFile(vault: Uint8Array, bytes: Uint8Array): Promise<boolean> {
  const start = parsed(() => parseFileStart(bytes));
  const envelope = start && parsed(() => parseEnvelope(start.envelope));
  if (start === null || envelope === null) return false;
  if (await isOpened(decryptFileBytes(nodePlatform, bytes, () => ({ dataKey: new DataKey(new Uint8Array(32)) }))))
    return true;
  const { record, wrapped } = envelope;
  for (const key of zeroKeys(vault, record))
    if (await isOpened(unwrapDataKey(nodePlatform, record, key, wrapped, start))) return true;
  return false;
}

function parsed<Value>(parse: () => Value): Value | null {
  try {
    return parse();
  } catch {
    return null;
  }
}

function isOpened(opening: Promise<unknown>): Promise<boolean> {
  return opening.then(
    () => true,
    () => false,
  );
}
