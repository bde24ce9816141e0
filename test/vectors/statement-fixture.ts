/** A vault, its people and its keys, the same in every run: what the statement vectors are about. */
import {
  ed25519StatementSigner,
  END_STEP_MS,
  NO_END,
  signRecord,
  VaultKey,
  type Author,
  type CryptoPlatform,
  type KeyOrigin,
  type ListedEntry,
  type VaultKeyRecord,
  type VaultView,
} from "@coffer/crypto";
import { nodePlatform } from "@coffer/crypto/node";
import { sha256Of } from "../kit/bytes.ts";

export const VAULT = bytesOf("the vault's object id", 32);
export const OTHER_VAULT = bytesOf("another vault's object id", 32);
export const FILE_ID = "0197b6f0-0000-7000-8000-00000000f11e";
export const FOLDER_ID = "0197b6f0-0000-7000-8000-00000000f01d";
export const VERSION_1 = "0197b6f0-0000-7000-8000-000000000001";
export const VERSION_2 = "0197b6f0-0000-7000-8000-000000000002";
export const TIME = 1_795_000_000_000;
/** The last quarter of an hour before it: when the membership of `ended` ended. */
export const END = (BigInt(TIME) / END_STEP_MS) * END_STEP_MS;

export interface Person extends Author {
  readonly seed: Uint8Array;
}

export const PEOPLE = {
  owner: person("owner"),
  member: person("member"),
  /** Was a member in generations 2 to 4. */
  removed: person("removed"),
  stranger: person("stranger"),
  /** A member from generation 3 on, until {@link END}. */
  ended: person("ended"),
};

export const KEYS = {
  "generation 4": new VaultKey(VAULT, { generation: 4n, after: 0n }, bytesOf("vault key 4", 32)),
  "generation 5": new VaultKey(VAULT, { generation: 5n, after: 0n }, bytesOf("vault key 5", 32)),
  "generation 5, after an end": new VaultKey(VAULT, { generation: 5n, after: END }, bytesOf("vault key 5 later", 32)),
  "another vault's": new VaultKey(OTHER_VAULT, { generation: 5n, after: 0n }, bytesOf("vault key of another vault", 32)),
};

export type KeyName = keyof typeof KEYS;

const NOW: VaultView = {
  vault: VAULT,
  generation: 5n,
  floor: 2n,
  base: 2n,
  time: BigInt(TIME),
  plainNames: false,
  owner: entryOf(PEOPLE.owner, 1n),
  members: [entryOf(PEOPLE.member, 3n)],
  former: [{ ...entryOf(PEOPLE.removed, 2n), until: 4n }],
};

const ENDED = { ...entryOf(PEOPLE.ended, 3n), endsAt: END };

export const VIEWS = {
  now: NOW,
  "in generation 4": { ...NOW, generation: 4n, members: [...NOW.members, entryOf(PEOPLE.removed, 2n)], former: [] },
  "floor 5": { ...NOW, floor: 5n },
  "base 5": { ...NOW, base: 5n },
  "an export of generation 4": { ...NOW, upTo: { generation: 4n, after: 0n } },
  "plain names": { ...NOW, plainNames: true },
  "before an end": { ...NOW, members: [...NOW.members, ENDED], time: END - 1n },
  "after an end": { ...NOW, members: [...NOW.members, ENDED] },
  "an end marked": { ...NOW, generation: 6n, members: [...NOW.members, { ...ENDED, until: 5n }] },
  "another vault": { ...NOW, vault: OTHER_VAULT },
} satisfies Record<string, VaultView>;

export type ViewName = keyof typeof VIEWS;

/** A record of a key; what stands for its sealed key tells nobody anything. `making`: of a record that it seals again. */
export function recordOf(
  name: KeyName,
  creator: Author,
  signer = creator.signer,
  origin?: KeyOrigin,
): Promise<VaultKeyRecord> {
  const key = KEYS[name];
  const sealedKey = bytesOf(`sealed ${name}`, 40);
  const { generation, after, vault } = key;
  const fields = { vault, generation, after, creator: creator.address, check: key.subkey("check"), sealedKey };
  return signRecord({ ...fields, ...(origin !== undefined && { origin }) }, signer);
}

/** Node's, with "random" bytes that depend on the seed alone. */
export function seeded(seed: string): CryptoPlatform {
  let calls = 0;
  return { ...nodePlatform, randomBytes: (length) => bytesOf(`${seed} ${++calls}`, length) };
}

/** SHA-256 of the text and a counter, block after block. */
export function bytesOf(text: string, length: number): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(length / 32) * 32);
  for (let block = 0; block * 32 < length; block += 1)
    bytes.set(Buffer.from(sha256Of(Buffer.from(`${text}\0${block}`)), "hex"), block * 32);
  return bytes.slice(0, length);
}

function person(name: string): Person {
  const seed = bytesOf(`seed of ${name}`, 32);
  return { seed, address: bytesOf(`address of ${name}`, 32), signer: ed25519StatementSigner(seed) };
}

function entryOf({ address, signer }: Author, since: bigint): ListedEntry {
  return { address, signingKey: signer.publicKey, since, endsAt: NO_END, until: null };
}
