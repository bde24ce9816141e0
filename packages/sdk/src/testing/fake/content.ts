/** Bytes in the fake: storing them as files and versions, conditions, digests and ranges. */
import { HEADERS, type File } from "@coffer/contract";
import { digestOf, toBase64, toHex } from "../../digest.ts";
import { Failure, Reply } from "../handlers.ts";
import { authorOf, noteEntry } from "./entries.ts";
import { requireBudgets, spendBudgets } from "./budgets.ts";
import { etagOf, refuseReplaced, refuseUnmatched } from "./content-tag.ts";
import { refuseTakenName, tagsOf } from "./items.ts";
import { putVersion, versionOf } from "./versions.ts";
import { findPlace, readRow, timestamp, type Caller, type FileRow, type State } from "./state.ts";

export interface NewContent {
  readonly bytes: Uint8Array;
  readonly contentType: string | undefined;
}

export async function createFile(
  state: State,
  caller: Caller,
  place: {
    readonly vaultId: string | undefined;
    readonly folderId: string | undefined;
    readonly name: string;
    readonly ifAbsent: boolean;
  },
  { bytes, contentType }: NewContent,
): Promise<File> {
  const { vaultId, folderId } = findPlace(state, caller, place.vaultId, place.folderId);
  refuseTakenName(
    state.files,
    { vaultId, place: folderId, name: place.name },
    null,
    place.ifAbsent ? "precondition_failed" : "name_exists",
  );
  const [createdAt, author] = [timestamp(state), authorOf(caller)];
  const sha256 = toHex(await digestOf(bytes));
  // From here on nothing waits, so that calls at once count each other.
  requireBudgets(state, caller, bytes.length);
  const file: File = {
    ...{
      id: crypto.randomUUID(),
      versionId: crypto.randomUUID(),
      revision: 1,
      name: place.name,
      size: bytes.length,
      contentType: contentType ?? "application/octet-stream",
    },
    ...{ sha256, vaultId, folderId, encrypted: false, shared: null, createdAt, updatedAt: createdAt, trashedAt: null },
    ...{ createdBy: author, updatedBy: author },
  };
  state.files.set(file.id, {
    accountId: caller.accountId,
    sequence: state.next(),
    value: file,
    bytes,
    versions: [
      versionOf(state, caller, { value: file, bytes }, { number: 1, how: "upload", storedBy: caller.key.budgets }),
    ],
    trashedWith: null,
  });
  noteEntry(state, caller, file, "create");
  spendBudgets(state, caller, bytes.length);
  return file;
}

export async function replaceContent(
  state: State,
  caller: Caller,
  fileId: string,
  ifMatch: string | null,
  { bytes, contentType }: NewContent,
  keep = true,
): Promise<File> {
  const row = readRow(state, state.files, caller, fileId, "File");
  if (row.value.trashedAt !== null) throw new Failure("trashed");
  refuseReplaced(row.value, ifMatch);
  const sha256 = toHex(await digestOf(bytes));
  const type = contentType ?? row.value.contentType;
  putVersion(state, caller, row, { bytes, sha256, contentType: type, how: "replace", keep });
  return row.value;
}

/** RFC 9530 `Content-Digest` and `Repr-Digest`: each SHA-256 in them must be that of the bytes. */
export async function checkDigests(bytes: Uint8Array, fields: readonly (string | undefined)[]): Promise<void> {
  const expected = toBase64(await digestOf(bytes));
  for (const field of fields) {
    const given = /(?:^|,)\s*sha-256=:([^:]*):/.exec(field ?? "")?.[1];
    if (given !== undefined && given !== expected) throw new Failure("digest_mismatch");
  }
}

interface Conditions {
  readonly range?: string | undefined;
  readonly "if-range"?: string | undefined;
  readonly "if-none-match"?: string | undefined;
  readonly "if-match"?: string | undefined;
}

/** The answer to GET of a content: whole, one range, or 304. */
export async function answerContent(
  row: FileRow,
  conditions: Conditions,
): Promise<Reply<Uint8Array> | Reply<undefined>> {
  const { value: file, bytes } = row;
  if (file.trashedAt !== null) throw new Failure("trashed");
  refuseUnmatched(file, conditions["if-match"] ?? null);
  const headers = contentHeaders(file, toBase64(await digestOf(bytes)));
  const none = conditions["if-none-match"];
  if (none !== undefined && (none === "*" || tagsOf(none.replaceAll("W/", "")).includes(headers.etag)))
    return new Reply(undefined, { status: 304, headers });
  const fits = conditions["if-range"] === undefined || conditions["if-range"] === headers.etag;
  const span = fits ? parseRange(conditions.range, bytes.length) : null;
  if (span === null) return new Reply(bytes, { headers: { ...headers, "content-length": String(bytes.length) } });
  const part = bytes.subarray(span.first, span.last + 1);
  const contentRange = `bytes ${String(span.first)}-${String(span.last)}/${String(bytes.length)}`;
  return new Reply(part, {
    status: 206,
    headers: { ...headers, "content-range": contentRange, "content-length": String(part.length) },
  });
}

function contentHeaders(file: File, digest: string) {
  return {
    etag: etagOf(file),
    "repr-digest": `sha-256=:${digest}:`,
    "content-type": file.contentType,
    "accept-ranges": "bytes",
    "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}`,
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    [HEADERS.fileId]: file.id,
  };
}

/** RFC 9110 §14.1.2, one range; null when the field is to be ignored. */
function parseRange(field: string | undefined, size: number): { first: number; last: number } | null {
  const match = /^bytes=(\d*)-(\d*)$/.exec(field ?? "");
  const [from = "", to = ""] = [match?.[1], match?.[2]];
  if (match === null || (from === "" && to === "")) return null;
  const first = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  if (from !== "" && to !== "" && Number(to) < first) return null;
  if (first >= size || last < first)
    throw new Failure("range_not_satisfiable", undefined, { "content-range": `bytes */${String(size)}` });
  return { first, last };
}
