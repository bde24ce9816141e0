/** A file's bytes and the headers that go with them (RFC 9110 §8, §13, §14). */
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../http/errors.ts";
import { type OutgoingBytes, type Principal, Reply } from "../../http/handlers.ts";
import type { BlobRange } from "../../ports/blob-store.ts";
import type { FileRow } from "../../ports/tables.ts";
import { visible } from "../acting.ts";
import { ifNoneMatchNames, ifRangeHolds, requireMatch } from "./conditions.ts";
import { renderReprDigest } from "./digests.ts";
import { renderDisposition } from "./disposition.ts";
import { parseRange } from "./ranges.ts";
import { etagOf } from "./rules.ts";
import { findFile } from "./store.ts";

type ContentDeps = Pick<Deps, "database" | "blobs" | "clock">;

export interface ContentRequest {
  readonly fileId: string;
  readonly headers: {
    readonly range?: string | undefined;
    readonly "if-range"?: string | undefined;
    readonly "if-none-match"?: string | undefined;
    readonly "if-match"?: string | undefined;
  };
}

interface Selected {
  readonly row: FileRow;
  /** null: the whole. */
  readonly range: BlobRange | null;
  /** The caller's copy is current. */
  readonly unchanged: boolean;
}

/** 200, 206 or 304 with its headers; bytes for the first two. */
export async function sendContent(
  deps: ContentDeps,
  principal: Principal,
  request: ContentRequest,
): Promise<Reply<OutgoingBytes> | Reply<undefined>> {
  const selected = await select(deps, principal, request);
  if (selected.unchanged) return new Reply(undefined, { status: 304, headers: validators(selected.row) });
  const { row, range } = selected;
  const stream = await deps.blobs.open(row.blob_key, range ?? undefined);
  if (stream === null) return sendReplaced(deps, principal, request, row);
  return new Reply(stream, { status: range === null ? 200 : 206, headers: contentHeaders(row, range) });
}

/** Range is defined for GET alone (RFC 9110 §14.2): HEAD describes the whole content. */
export async function describeContent(
  deps: ContentDeps,
  principal: Principal,
  request: ContentRequest,
): Promise<Reply<undefined>> {
  const { range: _range, "if-range": _ifRange, ...headers } = request.headers;
  const { row, unchanged } = await select(deps, principal, { ...request, headers });
  return unchanged
    ? new Reply(undefined, { status: 304, headers: validators(row) })
    : new Reply(undefined, { status: 200, headers: contentHeaders(row, null) });
}

/** Preconditions in the order of RFC 9110 §13.2.2: If-Match, If-None-Match, then Range with If-Range. */
async function select(deps: ContentDeps, principal: Principal, { fileId, headers }: ContentRequest): Promise<Selected> {
  const row = visible(principal, await findFile(deps.database, { id: fileId, accountId: principal.accountId }), "File");
  // What is in the trash is not handed out, to its owner neither: restoring comes first, and is recorded.
  if (row.trashed_at !== null) throw new ServiceError("trashed", "The file is in the trash");
  const etag = etagOf(row);
  requireMatch(headers["if-match"], etag);
  const ifNoneMatch = headers["if-none-match"];
  if (ifNoneMatch !== undefined && ifNoneMatchNames(ifNoneMatch, etag)) return { row, range: null, unchanged: true };
  const ifRange = headers["if-range"];
  const ranged = ifRange === undefined || ifRangeHolds(ifRange, { etag, modifiedAt: row.updated_at }, deps.clock.now());
  return { row, range: ranged ? parseRange(headers.range, row.size) : null, unchanged: false };
}

/** Between reading the row and opening the blob a new version may have taken its place: then that one is answered. */
async function sendReplaced(deps: ContentDeps, principal: Principal, request: ContentRequest, missing: FileRow) {
  const { row } = await select(deps, principal, request);
  if (row.blob_key !== missing.blob_key) return sendContent(deps, principal, request);
  throw new Error(`the content of file ${row.id} is not in the blob store`);
}

/** What also goes with a 304 (RFC 9110 §15.4.5). `no-cache`: a copy is asked about before each use, so revoking works. */
function validators(row: FileRow): Record<string, string> {
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
function contentHeaders(row: FileRow, range: BlobRange | null): Record<string, string> {
  const headers: Record<string, string> = {
    ...validators(row),
    "Content-Type": row.content_type,
    "Content-Length": String(range?.length ?? row.size),
    "Accept-Ranges": "bytes",
    "Repr-Digest": renderReprDigest(row.sha256),
    "Content-Disposition": renderDisposition(row.name),
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
  };
  if (range !== null) headers["Content-Range"] = `bytes ${range.offset}-${range.offset + range.length - 1}/${row.size}`;
  return headers;
}
