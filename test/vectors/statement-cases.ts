/** Files and entries as a service may answer with them: in order, and every way out of order that file-format §10 names. */
import {
  DataKey,
  encodeEnvelope,
  encodeFileStart,
  encodeHeader,
  encodeMetadata,
  encryptMetadata,
  makeEntryStatement,
  makeEnvelope,
  makeVersionStatement,
  newFilePlan,
  seenEntry,
  seenVersion,
  signEntryStatement,
  signVersionStatement,
  wrapDataKey,
  type Author,
  type CryptoErrorCode,
  type CryptoStep,
  type EntryStatement,
  type FilePlan,
  type SeenStatement,
  type VaultKeyRecord,
  type VersionFields,
  type VersionStatement,
  type EntryKind,
  type Metadata,
} from "@coffer/crypto";
import { sha256Of } from "../kit/bytes.ts";
import {
  base64,
  FILE_ID,
  FOLDER_ID,
  KEYS,
  OTHER_VAULT,
  PEOPLE,
  recordOf,
  seeded,
  TIME,
  VAULT,
  VERSION_1,
  VERSION_2,
  VIEWS,
  type KeyName,
  type ViewName,
  type Refusal,
} from "./statement-fixture.ts";

interface Written {
  readonly plan: FilePlan;
  readonly dataKey: DataKey;
  readonly record: VaultKeyRecord;
  readonly file: Uint8Array;
  readonly statement: VersionStatement;
  readonly content: string;
}

interface ToWrite {
  readonly key?: KeyName;
  readonly view?: ViewName;
  readonly author?: Author;
  readonly versionId?: string;
  readonly previous?: VersionStatement | null;
  readonly withDigest?: boolean;
}

async function write(content: string, toWrite: ToWrite = {}): Promise<Written> {
  const { author = PEOPLE.member, key = "generation 5", previous = null, versionId = VERSION_1 } = toWrite;
  const platform = seeded(content);
  const record = await recordOf(key, author);
  let dataKey = new DataKey(new Uint8Array(32));
  const plan = await newFilePlan(platform, {
    fileId: FILE_ID,
    versionId,
    contentSize: content.length,
    padded: false,
    envelopeOf: (request) => {
      dataKey = request.dataKey;
      return makeEnvelope(platform, record, KEYS[key], request);
    },
  });
  const chunks = await plan.keys.encrypt(Buffer.from(content), 0, true);
  const file = Buffer.concat([encodeFileStart(plan), chunks]);
  const message = file.subarray(plan.payloadOffset);
  const statement = await makeVersionStatement(VIEWS[toWrite.view ?? "now"], author, {
    record,
    header: plan.header,
    envelope: plan.envelope,
    commitment: plan.keys.commitment,
    messageLength: message.length,
    digest: toWrite.withDigest === false ? null : sha256(message),
    previous,
    time: TIME,
  });
  return { plan, dataKey, record, file, statement, content };
}

export async function makeVersionCases(): Promise<VersionCase[]> {
  const first = await write("The first version.");
  const second = await write("The second.", { versionId: VERSION_2, previous: first.statement, withDigest: false });
  const older = await write("By who is gone.", { author: PEOPLE.removed, key: "generation 4", view: "in generation 4" });
  const foreign = await write("Elsewhere.", { key: "another vault's", view: "another vault" });
  return [
    accepted("the first version", first),
    accepted("the second, after the first was seen", second, { seen: seen(seenVersion(first.statement)) }),
    accepted("the first again, asked for by its id", first, { versionId: VERSION_1 }),
    accepted("by a member of then who is none now", older, { vaultKey: "generation 4" }),
    refused("the first, after the second was seen", first, ["rolled_back", "statement"], {
      seen: seen(seenVersion(second.statement)),
    }),
    refused("below the floor", older, ["rolled_back", "statement"], { vaultKey: "generation 4", view: "floor 5" }),
    refused("another vault's", foreign, ["vault_changed", "pins"], { vaultKey: "another vault's" }),
    refused("a view of another vault", first, ["vault_changed", "pins"], { view: "another vault" }),
    refused("another file than asked for", first, ["damaged", "ids"], { fileId: FOLDER_ID }),
    refused("another version than asked for", first, ["damaged", "ids"], { versionId: VERSION_2 }),
    refused("the statement of another version", { ...first, statement: second.statement }, ["damaged", "ids"]),
    refused("a byte less", { ...first, file: first.file.subarray(0, -1) }, ["damaged", "length"]),
    refused("a vault key that is not the record's", first, ["wrong_key", "record"], { vaultKey: "generation 4" }),
    ...(await forgedStatements(first, older)),
    ...(await forgedStarts(first, second)),
  ];
}

/** What somebody signs who may not, or signs otherwise. */
async function forgedStatements(first: Written, older: Written): Promise<VersionCase[]> {
  const { member, removed, stranger } = PEOPLE;
  const by = async (fields: Partial<VersionFields>, { signer }: Author, of = first): Promise<Written> => ({
    ...of,
    statement: await signVersionStatement({ ...of.statement, ...fields }, signer),
  });
  const edited = (bytes: Uint8Array): Written => ({ ...first, statement: { ...first.statement, bytes } });
  const flipped = Uint8Array.from(first.statement.bytes);
  flipped[300] = (flipped[300] ?? 0) ^ 1;
  const damaged = ["damaged", "statement"] as const;
  return [
    refused("signed by a stranger", await by({ signer: stranger.address }, stranger), damaged),
    refused("signed by a stranger in a member's name", await by({ signer: member.address }, stranger), damaged),
    refused("signed after the removal", await by({ generation: 5n }, removed, older), damaged, { vaultKey: "generation 4" }),
    refused("of a generation that is still to come", await by({ generation: 6n }, member), damaged),
    refused("a flipped bit of the signature", edited(flipped), damaged),
    refused("a statement cut short", edited(first.statement.bytes.subarray(0, 363)), damaged),
    refused("another digest of header and envelope", await by({ startDigest: VAULT }, member), ["damaged", "start"]),
    refused("another key id", await by({ keyId: VAULT }, member), ["damaged", "record"]),
    refused("another generation than the record's", await by({ generation: 4n }, member), ["damaged", "record"]),
    refused("another commitment", await by({ commitment: VAULT }, member), ["wrong_key", "wrap"]),
    refused("another length", await by({ messageLength: first.statement.messageLength + 1 }, member), ["damaged", "length"]),
    refused("another digest of the message", await by({ digest: VAULT }, member), ["damaged", "digest"]),
  ];
}

/** A member's statement over a start that is out of order, or a start that the service exchanged. */
async function forgedStarts(first: Written, second: Written): Promise<VersionCase[]> {
  const { member, stranger } = PEOPLE;
  const key = KEYS["generation 5"];
  const { commitment } = first.plan.keys;
  const headerPrefix = first.plan.header.subarray(0, 44);
  const wrapped = (record: VaultKeyRecord, place = { commitment, headerPrefix }): Promise<Uint8Array> =>
    wrapDataKey(seeded("wrapped again"), record, key, { dataKey: first.dataKey, ...place });
  const byStranger = await recordOf("generation 5", stranger);
  const inName = await recordOf("generation 5", member, stranger.signer);
  const elsewhere = { commitment: second.plan.keys.commitment, headerPrefix };
  const otherHeader = { commitment, headerPrefix: second.plan.header.subarray(0, 44) };
  const exchanged = Buffer.concat([first.file.subarray(0, first.plan.payloadOffset), Buffer.from(second.file.subarray(second.plan.payloadOffset))]);
  const damagedRecord = ["damaged", "record"] as const;
  return [
    refused("a record by a stranger", await withEnvelope(first, byStranger, await wrapped(byStranger)), damagedRecord),
    refused("a record in a member's name", await withEnvelope(first, inName, await wrapped(inName)), damagedRecord),
    refused("a data key wrapped for another message", await withEnvelope(first, first.record, await wrapped(first.record, elsewhere)), ["wrong_key", "wrap"]),
    refused("a data key wrapped for another header", await withEnvelope(first, first.record, await wrapped(first.record, otherHeader)), ["wrong_key", "wrap"]),
    refused("another envelope under the statement", { ...(await withEnvelope(first, byStranger, await wrapped(byStranger))), statement: first.statement }, ["damaged", "start"]),
    refused("another message under the start", { ...first, file: exchanged }, ["damaged", "commitment"]),
  ];
}

async function withEnvelope(written: Written, record: VaultKeyRecord, wrapped: Uint8Array): Promise<Written> {
  const { file, plan, statement } = written;
  const envelope = encodeEnvelope({ record, wrapped });
  const header = encodeHeader({ fileId: FILE_ID, versionId: VERSION_1, padded: false, envelopeLength: envelope.length });
  const start = Buffer.concat([header, envelope]);
  return {
    ...written,
    file: Buffer.concat([start, file.subarray(plan.payloadOffset)]),
    statement: await signVersionStatement({ ...statement, startDigest: sha256(start), keyId: record.keyId }, PEOPLE.member.signer),
  };
}

const METADATA = { name: "Bericht für März.pdf", contentType: "application/pdf", size: 18 };

export async function makeEntryCases(): Promise<EntryCase[]> {
  const [first, second] = await writeEntries();
  const plain = await writePlainEntry();
  const stranger = await recordOf("generation 5", PEOPLE.stranger);
  const bySigner = await signEntryStatement({ ...first.statement, signer: PEOPLE.stranger.address }, PEOPLE.stranger.signer);
  const moved = await signEntryStatement({ ...second.statement, metadataDigest: first.statement.metadataDigest }, PEOPLE.owner.signer);
  return [
    acceptedEntry("a file's entry", first, null),
    acceptedEntry("the next one, in another folder", second, FOLDER_ID, { seen: seen(seenEntry(first.statement)) }),
    acceptedEntry("plain names", plain, null, { view: "plain names" }),
    refusedEntry("the first, after the second was seen", first, ["rolled_back", "entry"], { seen: seen(seenEntry(second.statement)) }),
    refusedEntry("another vault's", first, ["vault_changed", "pins"], { vault: base64(OTHER_VAULT) }),
    refusedEntry("signed by a stranger", { ...first, statement: bySigner }, ["damaged", "entry"]),
    refusedEntry("plain where names are encrypted", plain, ["damaged", "entry"]),
    refusedEntry("encrypted where names are plain", first, ["damaged", "entry"], { view: "plain names" }),
    refusedEntry("another entry than asked for", first, ["damaged", "ids"], { id: FOLDER_ID }),
    refusedEntry("a folder where a file was asked for", first, ["damaged", "ids"], { kind: "folder" }),
    refusedEntry("a record by a stranger", { ...first, record: stranger.bytes }, ["damaged", "record"]),
    refusedEntry("no record", { ...first, record: null }, ["damaged", "record"]),
    refusedEntry("the metadata of another revision", { ...second, metadata: first.metadata }, ["damaged", "metadata"]),
    refusedEntry("the same, signed by a member", { ...second, metadata: first.metadata, statement: moved }, ["wrong_key", "metadata"]),
  ];
}

interface WrittenEntry {
  readonly statement: EntryStatement;
  readonly metadata: Uint8Array;
  readonly record: Uint8Array | null;
}

async function writeEntries(): Promise<[WrittenEntry, WrittenEntry]> {
  const record = await recordOf("generation 5", PEOPLE.member);
  const platform = seeded("metadata");
  const common = { kind: "file", id: FILE_ID, record, time: TIME } as const;
  const encrypt = (revision: bigint): Promise<Uint8Array> =>
    encryptMetadata(platform, KEYS["generation 5"], { ...common, revision, keyId: record.keyId }, METADATA);
  const [one, two] = [await encrypt(1n), await encrypt(2n)];
  const first = await makeEntryStatement(VIEWS.now, PEOPLE.member, { ...common, metadata: one, folderId: null, previous: null });
  const second = await makeEntryStatement(VIEWS.now, PEOPLE.owner, { ...common, metadata: two, folderId: FOLDER_ID, previous: first });
  return [
    { statement: first, metadata: one, record: record.bytes },
    { statement: second, metadata: two, record: record.bytes },
  ];
}

async function writePlainEntry(): Promise<WrittenEntry> {
  const metadata = encodeMetadata("file", METADATA);
  const entry = { kind: "file", id: FILE_ID, folderId: null, metadata, record: null, previous: null, time: TIME } as const;
  return { statement: await makeEntryStatement(VIEWS["plain names"], PEOPLE.member, entry), metadata, record: null };
}

type Failure = readonly [CryptoErrorCode, CryptoStep];
type VersionKnown = Partial<Pick<VersionCase, "vault" | "fileId" | "versionId" | "seen">> & { vaultKey?: KeyName; view?: ViewName };
type EntryKnown = Partial<Pick<EntryCase, "vault" | "kind" | "id" | "seen">> & { view?: ViewName };

function accepted(name: string, written: Written, known: VersionKnown = {}): VersionCase {
  const { content, dataKey } = written;
  return { ...versionCase(name, written, known), expect: { dataKey: base64(dataKey.reveal()), content } };
}

function refused(name: string, written: Written, failure: Failure, known: VersionKnown = {}): VersionCase {
  return { ...versionCase(name, written, known), expect: refusal(failure) };
}

function versionCase(name: string, { file, statement }: Written, known: VersionKnown): Omit<VersionCase, "expect"> {
  const reader = { vault: base64(VAULT), view: "now", fileId: FILE_ID, versionId: null, seen: null };
  return { name, ...reader, vaultKey: "generation 5", ...known, statement: base64(statement.bytes), file: base64(file) };
}

function acceptedEntry(name: string, written: WrittenEntry, folderId: string | null, known: EntryKnown = {}): EntryCase {
  return { ...entryCase(name, written, known), expect: { metadata: METADATA, folderId } };
}

function refusedEntry(name: string, written: WrittenEntry, failure: Failure, known: EntryKnown = {}): EntryCase {
  return { ...entryCase(name, written, known), expect: refusal(failure) };
}

function entryCase(name: string, { metadata, record, statement }: WrittenEntry, known: EntryKnown): Omit<EntryCase, "expect"> {
  const reader = { vault: base64(VAULT), view: "now", kind: "file", id: FILE_ID, seen: null } as const;
  const answer = { statement: base64(statement.bytes), metadata: base64(metadata) };
  return { name, ...reader, vaultKey: "generation 5", ...known, ...answer, record: record === null ? null : base64(record) };
}

function refusal([code, step]: Failure): Refusal {
  return { code, step };
}

function seen({ generation, hash, number }: SeenStatement): SeenVector {
  return { number: String(number), generation: String(generation), hash: base64(hash) };
}

function sha256(bytes: Uint8Array): Uint8Array {
  return Buffer.from(sha256Of(bytes), "hex");
}

export interface EntryCase {
  readonly name: string;
  readonly vault: string;
  readonly view: string;
  readonly kind: EntryKind;
  readonly id: string;
  readonly seen: SeenVector | null;
  readonly vaultKey: string;
  readonly statement: string;
  readonly metadata: string;
  readonly record: string | null;
  readonly expect: { readonly metadata: Metadata; readonly folderId: string | null } | Refusal;
}

export interface SeenVector {
  readonly number: string;
  readonly generation: string;
  readonly hash: string;
}

export interface VersionCase {
  readonly name: string;
  /** What the reader knows. */
  readonly vault: string;
  readonly view: string;
  readonly fileId: string;
  readonly versionId: string | null;
  readonly seen: SeenVector | null;
  /** By name; what unwrapping the record's sealed key would give. */
  readonly vaultKey: string;
  /** What the service answers. */
  readonly statement: string;
  readonly file: string;
  readonly expect: { readonly dataKey: string; readonly content: string } | Refusal;
}
