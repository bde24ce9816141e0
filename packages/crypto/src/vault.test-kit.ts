/** A vault for tests: people in it and out of it, the same keys in every run, and a key wrap without a chain. */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, encodeText, equalBytes } from "./bytes.ts";
import { ed25519StatementSigner } from "./ed25519.ts";
import type { EntryFields } from "./entry-statement.ts";
import { damaged } from "./errors.ts";
import { encodeFileStart, newFilePlan, type EnvelopeRequest, type FilePlan } from "./file-plan.ts";
import { parseFileStart, type FileStart } from "./file-start.ts";
import type { KeyBinding, VaultKeyWrap } from "./key-wrap.ts";
import type { FormerEntry, ListedEntry, VaultView } from "./membership.ts";
import { encodePlace, NO_END, type Place } from "./place.ts";
import type { CryptoPlatform } from "./platform/platform.ts";
import type { Author } from "./statement-signer.ts";
import { newVaultKeyRecord, type OpenedVaultKey } from "./vault-key-sealer.ts";
import { makeEnvelope } from "./data-key-wrap.ts";
import { makeVersionStatement } from "./new-statements.ts";
import type { VersionStatement } from "./version-statement.ts";

export const VAULT = new Uint8Array(32).fill(0xaa);
export const FILE_ID = "0197b6f0-0000-7000-8000-00000000f11e";
export const FOLDER_ID = "0197b6f0-0000-7000-8000-00000000f01d";
export const TIME = 1_790_000_000_000;

/** The place in that generation before any membership ended. */
export function at(generation: bigint, after = 0n): Place {
  return { generation, after };
}

/** An address and an Ed25519 key that are the same in every run. */
export function person(name: string): Author {
  return { address: sha256(encodeText(`address of ${name}`)), signer: ed25519StatementSigner(seedOf(name)) };
}

export const OWNER = person("owner");
export const MEMBER = person("member");
/** Left after generation 4. */
export const REMOVED = person("removed");
/** Has no signing key. */
export const READER = person("reader");
export const STRANGER = person("stranger");

/** Generation 5, floor 2. */
export const VIEW: VaultView = {
  vault: VAULT,
  generation: 5n,
  floor: 2n,
  base: 2n,
  time: BigInt(TIME),
  plainNames: false,
  owner: entryOf(OWNER, 1n),
  members: [entryOf(MEMBER, 3n), { ...entryOf(READER, 3n), signingKey: new Uint8Array(0) }],
  former: [{ ...entryOf(REMOVED, 2n), until: 4n }],
};

/** A file's first entry, by the member. */
export const ENTRY: EntryFields = {
  vault: VAULT,
  kind: "file",
  id: FILE_ID,
  revision: 1n,
  previous: new Uint8Array(32),
  generation: 5n,
  after: 0n,
  keyId: new Uint8Array(32).fill(2),
  folderId: FOLDER_ID,
  metadataDigest: new Uint8Array(32).fill(3),
  signer: MEMBER.address,
  time: TIME,
};

/** The vault as it was in an older generation, as its members of then see it. */
export function viewIn(generation: bigint): VaultView {
  const wasOpen = ({ since, until }: FormerEntry): boolean => since <= generation && generation <= until;
  const back = VIEW.former.filter(wasOpen).map((entry) => ({ ...entry, until: null }));
  return { ...VIEW, generation, members: [...VIEW.members, ...back], former: [] };
}

export function entryOf({ address, signer }: Author, since: bigint): ListedEntry {
  return { address, signingKey: signer.publicKey, since, endsAt: NO_END, until: null };
}

function seedOf(name: string): Uint8Array {
  return sha256(encodeText(`seed of ${name}`));
}

export interface TestKeyWrap extends VaultKeyWrap {
  /** How many items each call of `unwrap` had. */
  readonly requests: number[];
}

/**
 * Keys that any holder of `secret` can unwrap: the key XOR one stream, and a MAC over key and place. Deterministic;
 * protects nothing.
 */
export function testKeyWrap(secret: string): TestKeyWrap {
  const requests: number[] = [];
  const mac = (use: string, ...parts: Uint8Array[]): Uint8Array =>
    hmac(sha256, encodeText(secret), concatBytes(encodeText(use), ...parts));
  const mask = (key: Uint8Array, place: KeyBinding): Uint8Array => {
    const stream = mac("stream", bytesOf(place));
    return key.map((byte, index) => byte ^ (stream[index % 32] ?? 0));
  };
  return {
    requests,
    wrap: async (key, place) => concatBytes(mask(key, place), mac("tag", bytesOf(place), key)),
    unwrap: async (items) => {
      const keys = items.map(({ place, sealedKey }) => {
        const key = mask(sealedKey.subarray(0, -32), place);
        if (sealedKey.length !== 64 || !equalBytes(mac("tag", bytesOf(place), key), sealedKey.subarray(-32)))
          throw damaged("record", "the key was not sealed for this place");
        return key;
      });
      if (items.length > 0) requests.push(items.length);
      return keys;
    },
  };
}

function bytesOf({ creator, vault, ...place }: KeyBinding): Uint8Array {
  return concatBytes(vault, encodePlace(place), creator);
}

export interface WrittenVersion {
  readonly statement: VersionStatement;
  readonly start: FileStart;
  readonly file: Uint8Array;
  readonly opened: OpenedVaultKey;
}

export interface VersionToWrite {
  readonly author?: Author;
  readonly view?: VaultView;
  readonly opened?: OpenedVaultKey;
  readonly fileId?: string;
  readonly versionId?: string;
  readonly previous?: VersionStatement | null;
  readonly content?: string;
}

export const WRAP = testKeyWrap("wrap");

/** A whole file with its statement, as a writer makes it. */
export async function writeVersion(platform: CryptoPlatform, version: VersionToWrite = {}): Promise<WrittenVersion> {
  const { author = MEMBER, view = VIEW, fileId = FILE_ID, previous = null } = version;
  const { content = "content", versionId = "0197b6f0-0000-7000-8000-000000000001" } = version;
  const opened = version.opened ?? (await newVaultKeyRecord(view, WRAP, author));
  const envelopeOf = (request: EnvelopeRequest): Promise<Uint8Array> =>
    makeEnvelope(platform, opened.record, opened.key, request);
  const bytes = encodeText(content);
  const plan = await newFilePlan(platform, { fileId, versionId, contentSize: bytes.length, padded: false, envelopeOf });
  const file = concatBytes(encodeFileStart(plan), await plan.keys.encrypt(bytes, 0, true));
  const statement = await stateVersion(view, author, opened, plan, file, previous);
  return { statement, start: parseFileStart(file), file, opened };
}

function stateVersion(
  view: VaultView,
  author: Author,
  { record }: OpenedVaultKey,
  { envelope, header, keys, payloadOffset }: FilePlan,
  file: Uint8Array,
  previous: VersionStatement | null,
): Promise<VersionStatement> {
  const message = file.subarray(payloadOffset);
  return makeVersionStatement(view, author, {
    record,
    header,
    envelope,
    commitment: keys.commitment,
    messageLength: message.length,
    digest: sha256(message),
    previous,
    time: TIME,
  });
}

/** Every way to flip one bit. */
export function* bitFlips(bytes: Uint8Array): Generator<Uint8Array> {
  for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
    const flipped = Uint8Array.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    yield flipped;
  }
}

/** The failure's `step code`, or the result if it did not fail. */
export async function failureOf(act: () => unknown): Promise<string> {
  try {
    await act();
    return "accepted";
  } catch (error) {
    const { code, step } = error as { code?: string; step?: string };
    return code === undefined ? `threw ${String(error)}` : `${String(step)} ${code}`;
  }
}
