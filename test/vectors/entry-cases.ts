/** Entries as a service may answer with them: in order, and every way out of order that file-format §10 names. */
import {
  encodeMetadata,
  encryptMetadata,
  makeEntryStatement,
  seenEntry,
  signEntryStatement,
  type EntryStatement,
} from "@coffer/crypto";
import { base64 } from "../browser/pages/base64.ts";
import { acceptedEntry, METADATA, refusedEntry, seen, type AnsweredEntry } from "./case-kit.ts";
import { FILE_ID, FOLDER_ID, KEYS, OTHER_VAULT, PEOPLE, recordOf, seeded, TIME, VIEWS } from "./statement-fixture.ts";
import type { EntryCase } from "./statement-vectors.ts";

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

interface WrittenEntry extends AnsweredEntry {
  readonly statement: EntryStatement;
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
