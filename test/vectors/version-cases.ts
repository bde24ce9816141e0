/** Files as a service may answer with them: in order, and every way out of order that file-format §10 names. */
import {
  DataKey,
  encodeEnvelope,
  encodeFileStart,
  encodeHeader,
  makeEnvelope,
  makeVersionStatement,
  newFilePlan,
  seenVersion,
  signVersionStatement,
  wrapDataKey,
  type Author,
  type FilePlan,
  type VaultKeyRecord,
  type VersionFields,
  type VersionStatement,
} from "@coffer/crypto";
import { sha256Of } from "../kit/bytes.ts";
import { accepted, refused, seen, type AnsweredVersion } from "./case-kit.ts";
import {
  END,
  FILE_ID,
  FOLDER_ID,
  KEYS,
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
} from "./statement-fixture.ts";
import type { VersionCase } from "./statement-vectors.ts";

export interface Written extends AnsweredVersion {
  readonly plan: FilePlan;
  readonly record: VaultKeyRecord;
  readonly statement: VersionStatement;
}

interface ToWrite {
  readonly key?: KeyName;
  readonly view?: ViewName;
  readonly author?: Author;
  readonly versionId?: string;
  readonly previous?: VersionStatement | null;
  readonly withDigest?: boolean;
}

export async function write(content: string, toWrite: ToWrite = {}): Promise<Written> {
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
      dataKey = new DataKey(request.dataKey.reveal());
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
    accepted("of the place that an export's statement names", older, { vaultKey: "generation 4", view: "an export of generation 4" }),
    refused("of a later place than an export's statement names", first, ["damaged", "statement"], { view: "an export of generation 4" }),
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
  flipped[308] = (flipped[308] ?? 0) ^ 1;
  const damaged = ["damaged", "statement"] as const;
  return [
    refused("signed by a stranger", await by({ signer: stranger.address }, stranger), damaged),
    refused("signed by a stranger in a member's name", await by({ signer: member.address }, stranger), damaged),
    refused("signed after the removal", await by({ generation: 5n }, removed, older), damaged, { vaultKey: "generation 4" }),
    refused("signed before the membership began", await by({ generation: 2n }, member), damaged),
    refused("of a generation that is still to come", await by({ generation: 6n }, member), damaged),
    refused("a flipped bit of the signature", edited(flipped), damaged),
    refused("a statement cut short", edited(first.statement.bytes.subarray(0, 371)), damaged),
    refused("another digest of header and envelope", await by({ startDigest: VAULT }, member), ["damaged", "start"]),
    refused("another key id", await by({ keyId: VAULT }, member), ["damaged", "record"]),
    refused("another generation than the record's", await by({ generation: 4n }, member), ["damaged", "record"]),
    refused("another place of the generation than the record's", await by({ after: END }, member), ["damaged", "record"], { view: "after an end" }),
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
  const { owner } = PEOPLE;
  const again = await recordOf("generation 5", owner, owner.signer, first.record);
  const madeByStranger = await recordOf("generation 5", member, member.signer, byStranger);
  const renamed = await recordOf("generation 5", owner, owner.signer, { ...first.record, maker: owner.address });
  const ofAnotherKey = await recordOf("generation 5", owner, owner.signer, await recordOf("generation 4", member));
  const under = async (record: VaultKeyRecord): Promise<Written> => withEnvelope(first, record, await wrapped(record));
  const elsewhere = { commitment: second.plan.keys.commitment, headerPrefix };
  const otherHeader = { commitment, headerPrefix: second.plan.header.subarray(0, 44) };
  const exchanged = Buffer.concat([first.file.subarray(0, first.plan.payloadOffset), Buffer.from(second.file.subarray(second.plan.payloadOffset))]);
  const damagedRecord = ["damaged", "record"] as const;
  return [
    refused("a record by a stranger", await withEnvelope(first, byStranger, await wrapped(byStranger)), damagedRecord),
    refused("a record in a member's name", await withEnvelope(first, inName, await wrapped(inName)), damagedRecord),
    accepted("a key that another member sealed again", await under(again)),
    refused("a key that a stranger made and a member sealed", await under(madeByStranger), damagedRecord),
    refused("a key sealed again in another maker's name", await under(renamed), damagedRecord),
    refused("a key sealed again with its maker's word for another key", await under(ofAnotherKey), damagedRecord),
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

function sha256(bytes: Uint8Array): Uint8Array {
  return Buffer.from(sha256Of(bytes), "hex");
}
