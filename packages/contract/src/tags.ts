/**
 * Entity tags of files and folders as they are: what a change names in `If-Match`. The client computes the tag of what it
 * shows, and the service that of what it has.
 */

/** In a public vault: raised by every rename, move, trash and restore; a file's content has an id of its own. */
export function plainTag({ revision, versionId }: { readonly revision: number; readonly versionId?: string }): string {
  return versionId === undefined ? `"${String(revision)}"` : `"${String(revision)}.${versionId}"`;
}

/** What is hashed for {@link signedTag}: this, a zero byte, and the SHA-256 of each signed statement, a file's version first. */
export const SIGNED_TAG_TITLE = "coffer/tag/v1";

/** In a shared vault: over the signed statements (file-format §8). `digest`: SHA-256 in base64url. */
export function signedTag(digest: string): string {
  return `"signed-${digest}"`;
}
