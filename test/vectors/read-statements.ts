/** What the root entry of @coffer/crypto makes of the vectors of statements, keys and names (file-format §6 to §12), here or in a browser. */
import {
  CryptoError,
  decryptFile,
  ed25519StatementSigner,
  encodeMetadata,
  encodePaddedMetadata,
  nameIndex,
  openEntry,
  openLadderStep,
  parseFileStart,
  parseEntryStatement,
  parseLadderStep,
  parseMetadata,
  parsePaddedMetadata,
  parseRecord,
  plainNameIndex,
  signStatement,
  statementDigest,
  VaultKey,
  verifyEd25519,
  verifyExportStatement,
  verifyStatement,
  verifyVersion,
  type CryptoPlatform,
  type VaultView,
  NO_END,
} from "@coffer/crypto";
import { base64, bytesOf } from "../browser/pages/base64.ts";
import type { EntryCase, LadderCase, MemberVector, SeenVector, StatementVectors, VersionCase, ViewVector } from "./statement-vectors.ts";

/** Each in the order of the vectors. */
export interface StatementsRead {
  /** Digest and signature as made here; whether the vector's signature is taken. */
  readonly signatures: readonly (readonly [digest: string, signature: string, taken: boolean])[];
  /** Whether it is taken. */
  readonly forged: readonly boolean[];
  readonly subkeys: readonly (readonly string[])[];
  readonly metadata: readonly (readonly [encoded: string, padded: string, parsed: unknown, parsedPadded: unknown])[];
  readonly refusedMetadata: readonly unknown[];
  readonly names: readonly (readonly [index: string, plain: string])[];
  readonly versions: readonly unknown[];
  readonly entries: readonly unknown[];
  readonly exports: readonly unknown[];
  readonly ladder: readonly unknown[];
}

export async function readStatements(platform: CryptoPlatform, vectors: StatementVectors): Promise<StatementsRead> {
  const known = readPlace(platform, vectors);
  const each = <Item, Result>(items: readonly Item[], read: (item: Item) => Promise<Result>) =>
    Promise.all(items.map(read));
  return {
    signatures: await readSignatures(vectors),
    forged: await each(vectors.forgedSignatures, ({ message, publicKey, signature }) =>
      verifyEd25519(bytesOf(publicKey), bytesOf(message), bytesOf(signature)),
    ),
    subkeys: vectors.vaultKeys.map(({ name }) =>
      (["wrap", "metadata", "name-index", "ladder", "check"] as const).map((use) => base64(known.key(name).subkey(use))),
    ),
    metadata: vectors.metadata.map(({ encoded, kind, metadata, padded }) => [
      base64(encodeMetadata(kind, metadata)),
      base64(encodePaddedMetadata(kind, metadata)),
      parseMetadata(kind, bytesOf(encoded)),
      parsePaddedMetadata(kind, bytesOf(padded)),
    ]),
    refusedMetadata: await each(vectors.refusedMetadata, ({ encoded, kind }) =>
      outcomeOf(async () => parseMetadata(kind, bytesOf(encoded))),
    ),
    names: vectors.nameIndexes.map(({ folderId, name, vaultKey }) => [
      base64(nameIndex(known.key(vaultKey), folderId, name)),
      base64(plainNameIndex(folderId, name)),
    ]),
    versions: await each(vectors.versions, (version) => outcomeOf(() => readVersion(known, version))),
    entries: await each(vectors.entries, (entry) => outcomeOf(() => readEntry(known, entry))),
    exports: await each(vectors.exports, ({ manifest, statement, vault, view }) =>
      outcomeOf(async () => {
        const place = { vault: bytesOf(vault), view: known.view(view) };
        const { after, generation, signer, time } = await verifyExportStatement(place, bytesOf(manifest), bytesOf(statement));
        return { signer: base64(signer), generation: String(generation), after: String(after), time };
      }),
    ),
    ladder: await each(vectors.ladder, (step) => outcomeOf(() => readStep(known, step))),
  };
}

export interface Known {
  readonly platform: CryptoPlatform;
  key(name: string): VaultKey;
  view(name: string): VaultView;
}

/** The vault keys and views of the vectors, by name. */
export function readPlace(platform: CryptoPlatform, { vaultKeys, views }: StatementVectors): Known {
  const view = (name: string): VaultView => viewOf(views[name]!);
  const keys = new Map(
    vaultKeys.map(({ name, generation, after, key }) => {
      const { vault } = view(name === "another vault's" ? "another vault" : "now");
      return [name, new VaultKey(vault, { generation: BigInt(generation), after: BigInt(after) }, bytesOf(key))];
    }),
  );
  return { platform, view, key: (name) => keys.get(name)! };
}

function viewOf({ base, floor, former, generation, members, owner, plainNames, time, upTo, vault }: ViewVector): VaultView {
  const member = ({ address, endsAt, signingKey, since }: MemberVector) => ({
    address: bytesOf(address),
    signingKey: bytesOf(signingKey),
    since: BigInt(since),
    endsAt: endsAt === null ? NO_END : BigInt(endsAt),
  });
  return {
    vault: bytesOf(vault), plainNames, owner: member(owner),
    generation: BigInt(generation), floor: BigInt(floor), base: BigInt(base), time: BigInt(time),
    members: members.map((one) => ({ ...member(one), until: one.until === null ? null : BigInt(one.until) })),
    former: former.map((one) => ({ ...member(one), until: BigInt(one.until) })),
    ...(upTo !== null && { upTo: { generation: BigInt(upTo.generation), after: BigInt(upTo.after) } }),
  };
}

function readSignatures({ people, signatures }: StatementVectors): Promise<StatementsRead["signatures"]> {
  return Promise.all(
    signatures.map(async ({ body, person, signature, title }) => {
      const { publicKey, seed } = people.find(({ name }) => name === person)!;
      const signed = await signStatement(title, bytesOf(body), ed25519StatementSigner(bytesOf(seed)));
      const digest = statementDigest(title, bytesOf(body));
      const taken = await verifyStatement(title, bytesOf(body), bytesOf(publicKey), bytesOf(signature));
      // Without what is known of signatures that were made here.
      const holds = await verifyEd25519(bytesOf(publicKey), digest, bytesOf(signature));
      return [base64(digest), base64(signed), taken && holds] as const;
    }),
  );
}

async function readVersion(known: Known, version: VersionCase): Promise<unknown> {
  const { fileId, versionId } = version;
  const place = { vault: bytesOf(version.vault), view: known.view(version.view) };
  const file = bytesOf(version.file);
  const answer = { statement: bytesOf(version.statement), start: parseFileStart(file), fileSize: file.length };
  const shown = version.entry === null ? {} : { entry: parseEntryStatement(bytesOf(version.entry)) };
  const question = { ...place, fileId, versionId, seen: seenOf(version.seen), ...shown };
  const verified = await verifyVersion(known.platform, question, answer, () => known.key(version.vaultKey));
  // The reader disposes it.
  const dataKey = base64(verified.dataKey.reveal());
  let content = "";
  const decoder = new TextDecoder();
  for await (const piece of decryptFile(known.platform, new Blob([file]).stream(), { unlock: () => verified }))
    content += decoder.decode(piece, { stream: true });
  return { dataKey, content };
}

async function readEntry(known: Known, entry: EntryCase): Promise<unknown> {
  const { id, kind } = entry;
  const place = { vault: bytesOf(entry.vault), view: known.view(entry.view) };
  const record = entry.record === null ? null : bytesOf(entry.record);
  const answer = { statement: bytesOf(entry.statement), metadata: bytesOf(entry.metadata), record };
  const question = { ...place, kind, id, seen: seenOf(entry.seen) };
  const opened = await openEntry(known.platform, question, answer, () => known.key(entry.vaultKey));
  return { metadata: opened.metadata, folderId: opened.statement.folderId };
}

async function readStep(known: Known, { higher, higherKey, step, target, view }: LadderCase): Promise<unknown> {
  const opened = { record: parseRecord(bytesOf(higher)), key: known.key(higherKey) };
  const parsed = parseLadderStep(bytesOf(step));
  const { key } = await openLadderStep(known.platform, known.view(view), opened, parsed, parseRecord(bytesOf(target)));
  return { key: base64(key.reveal()) };
}

async function outcomeOf(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    return error instanceof CryptoError ? { code: error.code, step: error.step } : { thrown: String(error) };
  }
}

function seenOf(seen: SeenVector | null) {
  return seen === null
    ? null
    : { number: BigInt(seen.number), generation: BigInt(seen.generation), after: BigInt(seen.after), hash: bytesOf(seen.hash) };
}
