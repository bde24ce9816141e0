/** Which version of a file a reader gets. */
import type { Deps } from "../../deps.ts";
import type { FileRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { notFound } from "../acting.ts";
import type { SeenFile } from "../reach/items.ts";
import { findKeptVersion } from "./kept-versions-store.ts";

/** The source of a content answer. */
export type Version = Pick<
  FileRow,
  "id" | "version_id" | "blob_key" | "size" | "sha256" | "name" | "content_type" | "updated_at" | "shared_json"
>;

/**
 * Without an id the current version. What is in the trash is not handed out, to its owner neither: restoring comes first, and is
 * recorded. But a rotation covers the trash: the owner of a shared vault reads there by a version's id.
 * @throws ServiceError `trashed`, `not_found`.
 */
export async function findVersion(
  { database, clock }: Pick<Deps, "database" | "clock">,
  { row, vault }: SeenFile,
  versionId: string | undefined,
): Promise<Version> {
  if (row.trashed_at !== null && (versionId === undefined || vault?.standing !== "owner"))
    throw new ServiceError("trashed", "The file is in the trash");
  if (versionId === undefined || versionId === row.version_id) return row;
  const kept = await findKeptVersion(database, { fileId: row.id, versionId, now: clock.now() });
  if (kept === null) throw notFound("Version");
  const { version_id, blob_key, size, sha256, created_at } = kept;
  const content_type = kept.shared_json === null ? kept.content_type : row.content_type;
  return { ...row, version_id, blob_key, size, sha256, content_type, updated_at: created_at };
}
