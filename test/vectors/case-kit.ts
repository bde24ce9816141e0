/** How a case is written down: what the reader knows, what the service answers, and what comes of it. */
import type { CryptoErrorCode, CryptoStep, DataKey, EntryStatement, Metadata, SeenStatement, VersionStatement } from "@coffer/crypto";
import { base64 } from "../browser/pages/base64.ts";
import { FILE_ID, VAULT, type KeyName, type ViewName } from "./statement-fixture.ts";
import type { EntryCase, Refusal, SeenVector, VersionCase } from "./statement-vectors.ts";

/** A file and its statement. */
export interface AnsweredVersion {
  readonly dataKey: DataKey;
  readonly file: Uint8Array;
  readonly statement: Pick<VersionStatement, "bytes">;
  readonly content: string;
}

/** An entry's statement, its metadata as stored, and the record of its key. */
export interface AnsweredEntry {
  readonly statement: Pick<EntryStatement, "bytes">;
  readonly metadata: Uint8Array;
  readonly record: Uint8Array | null;
}

export const METADATA: Metadata = { name: "Bericht für März.pdf", contentType: "application/pdf", size: 18 };

export type Failure = readonly [CryptoErrorCode, CryptoStep];
type VersionKnown = Partial<Pick<VersionCase, "vault" | "entry" | "fileId" | "versionId" | "seen">> & { vaultKey?: KeyName; view?: ViewName };
type EntryKnown = Partial<Pick<EntryCase, "vault" | "kind" | "id" | "seen">> & { vaultKey?: KeyName; view?: ViewName };

export function accepted(name: string, written: AnsweredVersion, known: VersionKnown = {}): VersionCase {
  const { content, dataKey } = written;
  return { ...versionCase(name, written, known), expect: { dataKey: base64(dataKey.reveal()), content } };
}

export function refused(name: string, written: AnsweredVersion, failure: Failure, known: VersionKnown = {}): VersionCase {
  return { ...versionCase(name, written, known), expect: refusal(failure) };
}

function versionCase(name: string, { file, statement }: AnsweredVersion, known: VersionKnown): Omit<VersionCase, "expect"> {
  const reader = { vault: base64(VAULT), view: "now", fileId: FILE_ID, versionId: null, seen: null, entry: null };
  return { name, ...reader, vaultKey: "generation 5", ...known, statement: base64(statement.bytes), file: base64(file) };
}

export function acceptedEntry(name: string, written: AnsweredEntry, folderId: string | null, known: EntryKnown = {}): EntryCase {
  return { ...entryCase(name, written, known), expect: { metadata: METADATA, folderId } };
}

export function refusedEntry(name: string, written: AnsweredEntry, failure: Failure, known: EntryKnown = {}): EntryCase {
  return { ...entryCase(name, written, known), expect: refusal(failure) };
}

function entryCase(name: string, { metadata, record, statement }: AnsweredEntry, known: EntryKnown): Omit<EntryCase, "expect"> {
  const reader = { vault: base64(VAULT), view: "now", kind: "file", id: FILE_ID, seen: null } as const;
  const answer = { statement: base64(statement.bytes), metadata: base64(metadata) };
  return { name, ...reader, vaultKey: "generation 5", ...known, ...answer, record: record === null ? null : base64(record) };
}

function refusal([code, step]: Failure): Refusal {
  return { code, step };
}

export function seen({ after, generation, hash, number }: SeenStatement): SeenVector {
  return { number: String(number), generation: String(generation), after: String(after), hash: base64(hash) };
}

