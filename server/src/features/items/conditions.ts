/** Preconditions on entity tags (RFC 9110 §13.1). */
import { hash } from "node:crypto";
import { plainTag, SIGNED_TAG_TITLE, signedTag, type SharedEntry, type SharedFile } from "@coffer/contract";
import type { FileRow, FolderRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";

/** One tag of a list: optional weakness mark, then the opaque text in quotes (RFC 9110 §8.8.3). */
const TAG = /\s*(W\/)?("[\x21\x23-\x7e\x80-\xff]*")\s*(?:,|$)/y;

/**
 * If-Match with its strong comparison (RFC 9110 §13.1.1): a weak tag never matches. Throws `validation_failed` for
 * anything but a list of tags.
 */
export function ifMatchHolds(header: string, etag: string): boolean {
  return header.trim() === "*" || parseTags("if-match", header).some((tag) => !tag.weak && tag.text === etag);
}

/** Throws `precondition_failed` unless the condition is absent or holds. */
export function requireMatch(header: string | undefined, etag: string): void {
  if (header !== undefined && !ifMatchHolds(header, etag)) {
    throw new ServiceError("precondition_failed", "The content has changed: If-Match does not name its version");
  }
}

/** The same of a file or folder as it is, which If-Match names by its tag, and by `other`: its revision, or its content. */
export function requireUnchanged(
  header: string | undefined,
  row: FileRow | FolderRow,
  other: string = revisionTagOf(row),
): void {
  if (header === undefined || ifMatchHolds(header, other) || ifMatchHolds(header, tagOf(row))) return;
  throw new ServiceError("precondition_failed", "It has changed: If-Match does not name it as it is");
}

/** The same where the tag alone counts, which names content, name and place. The error has the present tag. */
export function requireTag(header: string, row: FileRow): void {
  const tag = tagOf(row);
  if (ifMatchHolds(header, tag)) return;
  throw new ServiceError("precondition_failed", "It has changed: ifMatch does not name it as it is", {
    headers: { ETag: tag },
  });
}

/** What a client computes of the item that this is (`signedTag`, `plainTag`): the same state has the same tag. */
function tagOf(row: FileRow | FolderRow): string {
  if (row.shared_json === null)
    return plainTag({ revision: row.revision, ...("version_id" in row ? { versionId: row.version_id } : {}) });
  const shared = JSON.parse(row.shared_json) as SharedEntry & Partial<Pick<SharedFile, "version">>;
  const statements = [shared.version, shared.entry].flatMap((text) =>
    text === undefined ? [] : [hash("sha256", Buffer.from(text, "base64"), "buffer")],
  );
  return signedTag(hash("sha256", Buffer.concat([Buffer.from(`${SIGNED_TAG_TITLE}\0`), ...statements]), "base64url"));
}

/** If-None-Match with the weak comparison (RFC 9110 §13.1.2): true when the client's copy is current. */
export function ifNoneMatchNames(header: string, etag: string): boolean {
  return header.trim() === "*" || parseTags("if-none-match", header).some((tag) => tag.text === etag);
}

/**
 * If-Range (RFC 9110 §13.1.5): whether the range may go out. A tag must match strongly. A date must be exactly
 * Last-Modified, and old enough to rule out a second change within the same second (§8.8.2.2).
 */
export function ifRangeHolds(header: string, content: { etag: string; modifiedAt: number }, now: number): boolean {
  const given = header.trim();
  if (given.startsWith('"') || given.startsWith("W/")) return given === content.etag;
  const sameSecond = Date.parse(given) === Math.floor(content.modifiedAt / 1000) * 1000;
  return sameSecond && now - content.modifiedAt >= 1000;
}

function parseTags(name: string, header: string): { weak: boolean; text: string }[] {
  const tags: { weak: boolean; text: string }[] = [];
  TAG.lastIndex = 0;
  while (TAG.lastIndex < header.length) {
    const match = TAG.exec(header);
    if (match?.[2] === undefined)
      throw new ServiceError("validation_failed", `headers.${name}: not a list of entity tags`);
    tags.push({ weak: match[1] !== undefined, text: match[2] });
  }
  if (tags.length === 0) throw new ServiceError("validation_failed", `headers.${name}: not a list of entity tags`);
  return tags;
}

/** The entity tag of a file or folder itself: what If-Match of a rename or move compares. */
export function revisionTagOf(row: { readonly revision: number }): string {
  return `"${row.revision}"`;
}
