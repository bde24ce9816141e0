/**
 * TEST ONLY: files of shared vaults as clients make them, except that nothing in them is really encrypted: the service
 * cannot see that.
 */
import { hash, randomBytes, randomUUID } from "node:crypto";
import type { File, SharedEntry } from "@coffer/contract";
import { allOf, collect } from "../../../../test/kit/bytes.ts";
import {
  addMember,
  addPerson,
  openSharedVault,
  publishKey,
  type TestPerson,
  type TestSharedVault,
} from "../shared-vaults/vaults.test-kit.ts";
import {
  type EntryToSign,
  headerOf,
  signEntry,
  signTogether,
  signVersion,
  type VersionToSign,
} from "../shared-vaults/statements.test-kit.ts";
import { Reply } from "../../handler.ts";
import { answerOf, bodyOf, contextOf, type TestService } from "../service.test-kit.ts";

/** The content, its writer, and the key. */
export interface Writing {
  readonly shared: TestSharedVault;
  readonly by: TestPerson;
  readonly keyId: string;
  readonly generation?: number;
  /** With the generation the place. */
  readonly after?: number;
}

export interface EncryptedFile {
  readonly fileId: string;
  readonly versionId: string;
  readonly bytes: Buffer;
  readonly startDigest: string;
  readonly messageLength: number;
}

/** Header, envelope and message of a version. */
export function encryptedFile({
  fileId = randomUUID(),
  versionId = randomUUID(),
  envelope = randomBytes(300),
  message = randomBytes(200),
}: {
  readonly fileId?: string;
  readonly versionId?: string;
  readonly envelope?: Buffer;
  readonly message?: Buffer;
} = {}): EncryptedFile {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(envelope.length);
  const start = Buffer.concat([headerOf({ fileId, versionId }), length, envelope]);
  const startDigest = hash("sha256", start, "hex");
  return { fileId, versionId, bytes: Buffer.concat([start, message]), startDigest, messageLength: message.length };
}

export function versionOf(
  { shared, by, keyId, generation = 1, after = 0 }: Writing,
  file: EncryptedFile,
  more: Partial<VersionToSign> = {},
): string {
  const { fileId, versionId, startDigest, messageLength } = file;
  const fields = { vault: shared.objectId, fileId, versionId, startDigest, messageLength, generation, after, keyId };
  return signVersion(by, { ...fields, ...more });
}

/** Equal names have equal indexes under one key. */
export function indexOf(keyId: string, name: string): string {
  return hash("sha256", `${keyId} ${name}`, "hex").slice(0, 32);
}

export function entryOf(
  { shared, by, keyId, generation = 1, after = 0 }: Writing,
  name: string,
  entry: Pick<EntryToSign, "kind" | "id"> & Partial<EntryToSign>,
): SharedEntry {
  const metadata = randomBytes(136).toString("base64");
  const signed = signEntry(by, { vault: shared.objectId, generation, after, keyId, metadata, ...entry });
  return { entry: signed, metadata, nameIndex: indexOf(keyId, name) };
}

export function headersOf(version: string, shared?: SharedEntry) {
  if (shared === undefined) return { "coffer-version": version };
  const { entry, metadata, nameIndex } = shared;
  return {
    "coffer-version": version,
    "coffer-entry": entry,
    "coffer-metadata": metadata,
    "coffer-name-index": nameIndex,
  };
}

export interface Upload {
  readonly file: EncryptedFile;
  readonly version: string;
  readonly entry: SharedEntry;
  readonly folderId?: string;
}

/** A new file of that name, ready to be sent. */
export function newUpload(writing: Writing, name: string, more: { readonly folderId?: string } = {}): Upload {
  return tied(writing, loneUpload(writing, name, more));
}

/** The same upload with one signature over its version and its entry, by the writer unless another signer is given. */
export function tied({ by }: Writing, upload: Upload, signer: Parameters<typeof signTogether>[0] = by): Upload {
  const both = signTogether(signer, { version: upload.version, entry: upload.entry.entry });
  return { ...upload, version: both.version, entry: { ...upload.entry, entry: both.entry } };
}

/** The same with a signature for each statement: either can be exchanged for another one, and `tied` again. */
export function loneUpload(writing: Writing, name: string, more: { readonly folderId?: string } = {}): Upload {
  const file = encryptedFile();
  const entry = entryOf(writing, name, { kind: "file", id: file.fileId, folderId: more.folderId ?? null });
  return { file, version: versionOf(writing, file), entry, ...more };
}

export async function send(service: TestService, { shared, by }: Writing, upload: Upload, bytes = upload.file.bytes) {
  const query = { vaultId: shared.vaultId, ...(upload.folderId === undefined ? {} : { folderId: upload.folderId }) };
  const input = { query, headers: headersOf(upload.version, upload.entry), body: bodyOf(bytes, { chunk: 97 }) };
  return answerOf(await service.handlers.files.upload(input, contextOf(by.principal))).file;
}

/** A stored file of that name. */
export function put(service: TestService, writing: Writing, name: string, more: { readonly folderId?: string } = {}) {
  return send(service, writing, newUpload(writing, name, more));
}

/** The version that follows the file's current one. */
export function nextVersion(writing: Writing, file: File, sequence = 2): { file: EncryptedFile; version: string } {
  const next = encryptedFile({ fileId: file.id });
  const previous = file.shared?.version ?? "";
  return { file: next, version: versionOf(writing, next, { sequence, previous }) };
}

/** The entry that follows what the item has. */
export function nextEntry(
  writing: Writing,
  name: string,
  item: { readonly id: string; readonly shared: SharedEntry | null },
  more: Partial<EntryToSign> = {},
): SharedEntry {
  const previous = item.shared?.entry ?? "";
  return entryOf(writing, name, { kind: "file", id: item.id, revision: 2, previous, ...more });
}

export async function replace(
  service: TestService,
  { by }: Writing,
  { file, version }: { readonly file: EncryptedFile; readonly version: string },
  more: { readonly entry?: SharedEntry; readonly ifMatch?: string; readonly restores?: string } = {},
) {
  const conditions = more.ifMatch === undefined ? {} : { "if-match": more.ifMatch };
  const headers = { ...headersOf(version, more.entry), ...conditions, "coffer-restores": more.restores };
  const input = { params: { fileId: file.fileId }, query: {}, headers, body: bodyOf(file.bytes) };
  return answerOf(await service.handlers.files.replace(input, contextOf(by.principal))).file;
}

export async function countBlobs(service: TestService): Promise<number> {
  return (await allOf(service.blobs.list())).length;
}

export async function usageOf(service: TestService, accountId: string) {
  const { build } = service.database;
  return service.database.first(
    build.selectFrom("accounts").select(["usage_bytes as bytes", "usage_files as files"]).where("id", "=", accountId),
  );
}

/** A vault with a member of another account and a vault key. */
export async function openWriting(
  service: TestService,
  more: { plainNames?: boolean } = {},
): Promise<Writing & { member: TestPerson }> {
  const shared = await openSharedVault(service, more);
  const member = await addPerson(service);
  await addMember(service, shared, member);
  const keyId = await publishKey(service, shared, shared.owner);
  return { shared, by: shared.owner, keyId, member };
}

export async function contentOf(service: TestService, person: TestPerson, fileId: string, versionId?: string) {
  const query = versionId === undefined ? {} : { versionId };
  const answer = await service.handlers.files.content(
    { params: { fileId }, query, headers: {} },
    contextOf(person.principal),
  );
  const headers = answer instanceof Reply ? answer.headers : {};
  return { headers, bytes: await collect(answerOf<AsyncIterable<Uint8Array>>(answer)) };
}
