/** One signature for a version and its entry, and places after the end of a membership: what holds, and what was forged. */
import {
  encryptMetadata,
  makeUploadStatements,
  seenVersion,
  signEntryStatement,
  signStatement,
  signVersionStatement,
  type Author,
  type EntryFields,
  type UploadStatements,
  type VersionFields,
} from "@coffer/crypto";
import { base64 } from "../browser/pages/base64.ts";
import { sha256Of } from "../kit/bytes.ts";
import { accepted, acceptedEntry, METADATA, refused, refusedEntry, seen, type AnsweredVersion } from "./case-kit.ts";
import { END, FILE_ID, KEYS, OTHER_VAULT, PEOPLE, recordOf, seeded, TIME, VERSION_2, VIEWS } from "./statement-fixture.ts";
import type { EntryCase, VersionCase } from "./statement-vectors.ts";
import { write, type Written } from "./version-cases.ts";

const { ended, member, stranger } = PEOPLE;

/** A file with both of its statements under one signature. */
interface Uploaded extends Written, UploadStatements {
  readonly metadata: Uint8Array;
}

async function upload(content: string): Promise<Uploaded> {
  const written = await write(content);
  const { plan, record } = written;
  const place = { kind: "file", id: FILE_ID, revision: 1n, keyId: record.keyId } as const;
  const metadata = await encryptMetadata(seeded(`${content} metadata`), KEYS["generation 5"], place, METADATA);
  const version = {
    record, header: plan.header, envelope: plan.envelope, commitment: plan.keys.commitment,
    messageLength: written.statement.messageLength, digest: written.statement.digest, previous: null, time: TIME,
  };
  const entry = { kind: "file", id: FILE_ID, folderId: null, metadata, record, previous: null, time: TIME } as const;
  const signed = await makeUploadStatements(VIEWS.now, member, version, entry);
  return { ...written, ...signed, statement: signed.version, metadata };
}

/** Both statements with these fields, signed together by whoever it is: a package would not. */
async function forge(
  of: Uploaded,
  fields: { readonly version?: Partial<VersionFields>; readonly entry?: Partial<EntryFields> },
  { signer }: Author,
): Promise<{ readonly version: Uint8Array; readonly entry: Uint8Array }> {
  const lone = await signVersionStatement({ ...of.version, ...fields.version }, signer);
  const entry = await signEntryStatement({ ...of.entry, ...fields.entry }, signer);
  const [bodies, digests] = [
    [lone.bytes.subarray(0, -64), entry.bytes.subarray(0, -64)] as const,
    [digestOf("version", lone.bytes.subarray(0, -64)), digestOf("entry", entry.bytes.subarray(0, -64))] as const,
  ];
  const signature = await signStatement("coffer/upload/v1", Buffer.concat(digests), signer);
  return {
    version: Uint8Array.from(Buffer.concat([bodies[0], digests[1], signature])),
    entry: Uint8Array.from(Buffer.concat([bodies[1], digests[0], signature])),
  };
}

function digestOf(kind: "version" | "entry", body: Uint8Array): Uint8Array {
  return Buffer.from(sha256Of(Buffer.concat([Buffer.from(`coffer/${kind}/v1\0`), body])), "hex");
}

/** Fields, sibling and signature of a statement that was signed with another one. */
function partsOf(bytes: Uint8Array): readonly [Uint8Array, Uint8Array, Uint8Array] {
  return [bytes.subarray(0, -96), bytes.subarray(-96, -64), bytes.subarray(-64)];
}

const join = (...parts: readonly Uint8Array[]): { readonly bytes: Uint8Array } => ({ bytes: Buffer.concat(parts) });

export async function makeActCases(): Promise<{ readonly versions: VersionCase[]; readonly entries: EntryCase[] }> {
  const joint = await makeJointCases();
  return { versions: [...joint.versions, ...(await makePlaceCases())], entries: joint.entries };
}

async function makeJointCases(): Promise<{ readonly versions: VersionCase[]; readonly entries: EntryCase[] }> {
  const [made, other] = [await upload("Both at once."), await upload("Both at once, again.")];
  const [fields, sibling, signature] = partsOf(made.version.bytes);
  const [entryFields, entrySibling] = partsOf(made.entry.bytes);
  const lone = await signVersionStatement(made.version, member.signer);
  const byStranger = await forge(made, {}, stranger);
  const besideStranger = await forge(made, { entry: { signer: stranger.address } }, member);
  const elsewhere = await forge(made, { entry: { vault: OTHER_VAULT } }, member);
  const later = await forge(made, { entry: { after: END } }, member);
  const version = (statement: { readonly bytes: Uint8Array }): AnsweredVersion => ({ ...made, statement });
  const entry = (bytes: Uint8Array) => ({ statement: { bytes }, metadata: made.metadata, record: made.record.bytes });
  const damaged = ["damaged", "statement"] as const;
  const ids = ["damaged", "ids"] as const;
  const shown = (bytes: Uint8Array) => ({ entry: base64(bytes) });
  return {
    versions: [
      accepted("signed together with its entry", made, shown(made.entry.bytes)),
      accepted("the same, shown with an entry that came later", made, shown(other.entry.bytes)),
      refused("signed together, cut to one signed alone", version(join(fields, signature)), damaged),
      refused("signed alone, with a sibling put in", version(join(fields, sibling, lone.signature)), damaged),
      refused("with another upload's sibling", version(join(fields, partsOf(other.version.bytes)[1], signature)), damaged),
      refused("with its own digest for a sibling", version(join(fields, entrySibling, signature)), damaged),
      refused("with another upload's signature", version(join(fields, sibling, other.version.signature)), damaged),
      refused("signed together by a stranger, under a member's name", version({ bytes: byStranger.version }), damaged),
      refused("signed beside an entry under another's name", version({ bytes: besideStranger.version }), ids, shown(besideStranger.entry)),
      refused("signed beside an entry of another vault", version({ bytes: elsewhere.version }), ids, shown(elsewhere.entry)),
      refused("signed beside an entry of another place", version({ bytes: later.version }), ids, shown(later.entry)),
    ],
    entries: [
      acceptedEntry("signed together with its version", entry(made.entry.bytes), null),
      refusedEntry("signed together, cut to one signed alone", entry(join(entryFields, signature).bytes), ["damaged", "entry"]),
      refusedEntry("with another upload's sibling", entry(join(entryFields, partsOf(other.entry.bytes)[1], signature).bytes), ["damaged", "entry"]),
      refusedEntry("signed together by a stranger, under a member's name", entry(byStranger.entry), ["damaged", "entry"]),
      refusedEntry("under another's name, beside a member's version", entry(besideStranger.entry), ["damaged", "entry"]),
    ],
  };
}

async function makePlaceCases(): Promise<VersionCase[]> {
  const before = await write("Before the end.", { author: ended, view: "before an end" });
  const after = await write("After the end.", {
    key: "generation 5, after an end", view: "after an end", versionId: VERSION_2,
  });
  const by = async (fields: Partial<VersionFields>, { address, signer }: Author, of = before): Promise<Written> => ({
    ...of,
    statement: await signVersionStatement({ ...of.statement, signer: address, ...fields }, signer),
  });
  const odd = Uint8Array.from(after.statement.bytes);
  odd[163] = (odd[163] ?? 0) ^ 1;
  const [damaged, laterKey] = [["damaged", "statement"] as const, "generation 5, after an end" as const];
  const view = "after an end";
  const forged = await recordOf(laterKey, ended);
  return [
    accepted("by whose membership has ended, of before", before, { view }),
    accepted("the same, after the end was marked", before, { view: "an end marked" }),
    accepted("of a place after an end", after, { view, vaultKey: laterKey }),
    refused("by whose membership has ended, of its end", await by({ after: END }, ended), damaged, { view }),
    refused("by whose membership has ended, of a later generation", await by({ generation: 6n }, ended), damaged, { view: "an end marked" }),
    refused("of an end that is not there yet", after, damaged, { view: "before an end", vaultKey: laterKey }),
    refused("of a time that is no end", { ...after, statement: { ...after.statement, bytes: odd } }, damaged, { view, vaultKey: laterKey }),
    refused("with the record of a place before", await by({ after: END }, member), ["damaged", "record"], { view }),
    refused("with a record by whose membership had ended", await by({ after: END, keyId: forged.keyId }, member), ["damaged", "record"], { view }),
    refused("of an earlier place than what was seen", await by({ sequence: 2n, previous: sha256(after.statement.bytes) }, member), ["rolled_back", "statement"], {
      view, seen: seen(seenVersion(after.statement)),
    }),
  ];
}

function sha256(bytes: Uint8Array): Uint8Array {
  return Buffer.from(sha256Of(bytes), "hex");
}
