/** A file's bytes and the headers that go with them (RFC 9110 §8, §13, §14). */
import { type File, HEADERS } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { type OutgoingBytes, type Principal, Reply, type RequestContext } from "../../handler.ts";
import type { BlobRange } from "../../ports/blob-store.ts";
import { readFileFor } from "../reach/items.ts";
import { requireMember } from "../reach/access.ts";
import { watchMembership } from "../reach/watching.ts";
import { ifNoneMatchNames, ifRangeHolds, requireMatch } from "../items/conditions.ts";
import { renderReprDigest } from "./digests.ts";
import { renderDisposition } from "./disposition.ts";
import { parseRange } from "./ranges.ts";
import { etagOf, sharedOf, shownName, toFile } from "./rules.ts";
import { findVersion, type Version } from "./version-reader.ts";

type ContentDeps = Pick<Deps, "database" | "blobs" | "clock" | "chain">;

export interface ContentRequest {
  readonly fileId: string;
  /** undefined: the current one. */
  readonly versionId: string | undefined;
  readonly headers: {
    readonly range?: string | undefined;
    readonly "if-range"?: string | undefined;
    readonly "if-none-match"?: string | undefined;
    readonly "if-match"?: string | undefined;
    readonly "coffer-content-origins"?: string | undefined;
  };
}

interface Selected {
  readonly row: Version;
  readonly isShared: boolean;
  /** null: the whole. */
  readonly range: BlobRange | null;
  /** The caller's copy is current. */
  readonly unchanged: boolean;
  /** In a shared vault, when no version was named: what a reader verifies the bytes with, and would have to ask for. */
  readonly shown: File | null;
}

/** 200, 206, 304 or 307 with its headers; bytes for the first two. */
export async function sendContent(
  deps: ContentDeps,
  context: RequestContext<Principal>,
  request: ContentRequest,
): Promise<Reply<OutgoingBytes> | Reply<undefined>> {
  const selected = await select(deps, context, request);
  if (selected.unchanged) return new Reply(undefined, { status: 304, headers: validators(selected.row) });
  const { row, range } = selected;
  const address = await addressFor(deps.blobs, selected, request.headers["coffer-content-origins"]);
  if (address !== null) return new Reply(undefined, { status: 307, headers: redirectHeaders(selected, address) });
  const stream = await deps.blobs.open(row.blob_key, range ?? undefined);
  if (stream === null) return sendReplaced(deps, context, request, row);
  const headers = { ...contentHeaders(row, range), ...fileHeader(selected.shown) };
  return new Reply(stream, { status: range === null ? 200 : 206, headers });
}

/** Where a client that follows reads the content itself; null: the server sends it. The server checks members of a shared vault until the last byte. */
async function addressFor(
  blobs: ContentDeps["blobs"],
  { row, isShared }: Selected,
  origins: string | undefined,
): Promise<string | null> {
  if (origins === undefined || isShared || row.size === 0) return null;
  return (await blobs.addressOf?.(row.blob_key, origins.split(" "))) ?? null;
}

/** Content-Range is the range that the client takes from the store: If-Range has been looked at here. */
function redirectHeaders({ row, range }: Selected, address: string): Record<string, string> {
  const { "Content-Length": _length, ...headers } = contentHeaders(row, range);
  return { ...headers, Location: address, "Cache-Control": "private, no-store", "Referrer-Policy": "no-referrer" };
}

function fileHeader(shown: File | null): Record<string, string> {
  return shown === null ? {} : { [HEADERS.file]: Buffer.from(JSON.stringify(shown)).toString("base64") };
}

/** Range is defined for GET alone (RFC 9110 §14.2): HEAD describes the whole content. */
export async function describeContent(
  deps: ContentDeps,
  context: RequestContext<Principal>,
  request: ContentRequest,
): Promise<Reply<undefined>> {
  const { range: _range, "if-range": _ifRange, ...headers } = request.headers;
  const { row, unchanged } = await select(deps, context, { ...request, headers });
  return unchanged
    ? new Reply(undefined, { status: 304, headers: validators(row) })
    : new Reply(undefined, { status: 200, headers: contentHeaders(row, null) });
}

/** Preconditions in the order of RFC 9110 §13.2.2: If-Match, If-None-Match, then Range with If-Range. */
async function select(
  deps: ContentDeps,
  context: RequestContext<Principal>,
  { fileId, versionId, headers }: ContentRequest,
): Promise<Selected> {
  const { principal } = context;
  const seen = await readFileFor(deps.database, principal, fileId);
  if (seen.vault !== null) {
    await requireMember(deps, principal, seen.vault);
    watchMembership(deps, context, seen.vault);
  }
  const row = await findVersion(deps, seen, versionId);
  const etag = etagOf(row);
  const isShared = seen.vault !== null;
  const shown = isShared && versionId === undefined ? toFile(seen.row, context.principal) : null;
  requireMatch(headers["if-match"], etag);
  const ifNoneMatch = headers["if-none-match"];
  if (ifNoneMatch !== undefined && ifNoneMatchNames(ifNoneMatch, etag))
    return { row, isShared, range: null, unchanged: true, shown };
  const ifRange = headers["if-range"];
  const ranged = ifRange === undefined || ifRangeHolds(ifRange, { etag, modifiedAt: row.updated_at }, deps.clock.now());
  const range = ranged ? parseRange(headers.range, row.size) : null;
  return { row, isShared, range, unchanged: false, shown };
}

/** A new version may have replaced it between reading the row and opening the blob: the answer then has that one. */
async function sendReplaced(
  deps: ContentDeps,
  context: RequestContext<Principal>,
  request: ContentRequest,
  missing: Version,
): Promise<Reply<OutgoingBytes> | Reply<undefined>> {
  const { row } = await select(deps, context, request);
  if (row.blob_key !== missing.blob_key) return sendContent(deps, context, request);
  throw new Error(`the content of file ${row.id} is not in the blob store`);
}

/** What also goes with a 304 (RFC 9110 §15.4.5). `no-cache`: a copy is asked about before each use, so revoking works. */
function validators(row: Version): Record<string, string> {
  return {
    ETag: etagOf(row),
    "Last-Modified": new Date(row.updated_at).toUTCString(),
    "Cache-Control": "private, no-cache",
  };
}

/**
 * Content of strangers comes from our own origin: it is never rendered, guessed at or run there (`nosniff`, sandbox,
 * attachment; OWASP ASVS 5.0 §5.4).
 */
function contentHeaders(row: Version, range: BlobRange | null): Record<string, string> {
  const headers: Record<string, string> = {
    ...validators(row),
    "Content-Type": row.content_type,
    "Content-Length": String(range?.length ?? row.size),
    "Accept-Ranges": "bytes",
    "Repr-Digest": renderReprDigest(row.sha256),
    "Content-Disposition": renderDisposition(shownName(row, sharedOf(row)) || row.id),
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
  };
  if (range !== null) headers["Content-Range"] = `bytes ${range.offset}-${range.offset + range.length - 1}/${row.size}`;
  return headers;
}
