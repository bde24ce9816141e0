/** Bytes in the fake: storing them as files and new contents, conditions, digests and ranges. */
import { HEADERS, type File } from "@coffer/contract";
import { digestOf, toBase64, toHex } from "../../transfer/digest.ts";
import { Failure, Reply } from "../handlers.ts";
import { announce, describeFile } from "./events.ts";
import { refuseChanged, refuseTakenName, tagsOf } from "./items.ts";
import { authorOf, findPlace, readFile, timestamp, type Caller, type FileRow, type State } from "./state.ts";

export interface NewContent {
  readonly bytes: Uint8Array;
  readonly contentType: string | undefined;
}

export interface NewPlace {
  readonly vaultId: string | undefined;
  readonly folderId: string | undefined;
  readonly name: string;
  readonly ifAbsent: boolean;
}

export async function createFile(
  state: State,
  caller: Caller,
  wanted: NewPlace,
  { bytes, contentType }: NewContent,
): Promise<File> {
  const sha256 = toHex(await digestOf(bytes));
  // From here on nothing waits: of two calls for one name, one is second.
  const { vaultId, folderId } = requireFreePlace(state, caller, wanted);
  const createdAt = timestamp(state);
  const file: File = {
    id: crypto.randomUUID(),
    versionId: crypto.randomUUID(),
    revision: 1,
    name: wanted.name,
    size: bytes.length,
    contentType: contentType ?? "application/octet-stream",
    sha256,
    vaultId,
    folderId,
    encrypted: false,
    shared: null,
    createdAt,
    updatedAt: createdAt,
    createdBy: authorOf(caller),
    updatedBy: authorOf(caller),
    trashedAt: null,
  };
  const { accountId } = caller;
  state.files.set(file.id, { accountId, sequence: state.next(), value: file, bytes, trashedWith: null });
  announce(state, caller, "file.uploaded", describeFile(file));
  return file;
}

/** Where a new file will be. Throws `name_exists`, or `precondition_failed` if the caller expected nothing there. */
export function requireFreePlace(
  state: State,
  caller: Caller,
  { name, ifAbsent, ...wanted }: NewPlace,
): { readonly vaultId: string; readonly folderId: string | null } {
  const place = findPlace(state, caller, wanted.vaultId, wanted.folderId);
  const code = ifAbsent ? "precondition_failed" : "name_exists";
  refuseTakenName(state.files, { vaultId: place.vaultId, place: place.folderId, name }, null, code);
  return place;
}

export async function replaceContent(
  state: State,
  caller: Caller,
  fileId: string,
  ifMatch: string | undefined,
  { bytes, contentType }: NewContent,
): Promise<File> {
  const sha256 = toHex(await digestOf(bytes));
  const row = requireReplaceable(state, caller, fileId, ifMatch);
  row.bytes = bytes;
  row.value = {
    ...row.value,
    versionId: crypto.randomUUID(),
    size: bytes.length,
    sha256,
    contentType: contentType ?? row.value.contentType,
    updatedAt: timestamp(state),
    updatedBy: authorOf(caller),
  };
  announce(state, caller, "file.updated", describeFile(row.value));
  return row.value;
}

/** The file whose content may be replaced. It may be named by the tag of its content, too. */
export function requireReplaceable(state: State, caller: Caller, fileId: string, ifMatch: string | undefined): FileRow {
  const row = readFile(state, caller, fileId);
  if (row.value.trashedAt !== null) throw new Failure("trashed");
  refuseChanged(row.value, ifMatch, [etagOf(row.value)]);
  return row;
}

/** RFC 9530 `Content-Digest` and `Repr-Digest`: each SHA-256 in them must be that of the bytes. */
export async function checkDigests(bytes: Uint8Array, fields: readonly (string | undefined)[]): Promise<void> {
  const expected = toBase64(await digestOf(bytes));
  for (const field of fields) {
    const given = /(?:^|,)\s*sha-256=:([^:]*):/.exec(field ?? "")?.[1];
    if (given !== undefined && given !== expected) throw new Failure("digest_mismatch");
  }
}

/** The answer to GET of a content: whole, or one range. */
export async function answerContent(
  { value: file, bytes }: FileRow,
  { range, "if-match": ifMatch }: { readonly range?: string | undefined; readonly "if-match"?: string | undefined },
): Promise<Reply<Uint8Array>> {
  if (file.trashedAt !== null) throw new Failure("trashed");
  if (ifMatch !== undefined && !tagsOf(ifMatch).includes(etagOf(file))) throw new Failure("precondition_failed");
  const headers = { ...contentHeaders(file), "repr-digest": `sha-256=:${toBase64(await digestOf(bytes))}:` };
  const span = parseRange(range, bytes.length);
  if (span === null) return new Reply(bytes, { headers });
  const contentRange = `bytes ${String(span.first)}-${String(span.last)}/${String(bytes.length)}`;
  const part = bytes.subarray(span.first, span.last + 1);
  return new Reply(part, { status: 206, headers: { ...headers, "content-range": contentRange } });
}

function contentHeaders(file: File): Record<string, string> {
  return {
    etag: etagOf(file),
    "content-type": file.contentType,
    "accept-ranges": "bytes",
    "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}`,
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    [HEADERS.fileId]: file.id,
  };
}

function etagOf(file: File): string {
  const bytes = Uint8Array.from(file.sha256.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return `"sha256-${toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace("=", "")}"`;
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
