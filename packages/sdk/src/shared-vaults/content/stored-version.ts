/** Whether the service has stored a version whose answer was lost: the chain of the file's versions says it. */
import { filesGroup, versionsGroup, type File, type FileVersion } from "@coffer/contract";
import { parseVersionStatement, type VersionStatement } from "@coffer/crypto";
import type { Connection } from "../../connection/options.ts";
import { callOn } from "../../http/call.ts";
import { ApiError } from "../../http/errors.ts";
import { fromBase64 } from "../../transfer/digest.ts";
import { isStored, type Linked } from "../condition.ts";
import { openLatest } from "../names/latest-item.ts";
import type { OpenVault } from "../open-vault.ts";
import { readCurrent } from "./new-version.ts";
import type { SignedVersion } from "./version-journal.ts";

/** The file that the version has made, as it made it; false: it has not; null: the service does not show which. */
export async function findStoredVersion(
  connection: Connection,
  vault: OpenVault,
  { shared, statement, entry }: SignedVersion,
  signal: AbortSignal | undefined,
): Promise<File | false | null> {
  const { fileId, sequence: number, previous, bytes } = statement;
  const now = await readFile(connection, fileId, signal).catch((error: unknown) => {
    // A new file that was not made. One that is gone by now has a past which nobody shows.
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });
  if (now === null) return number === 1n ? false : null;
  return openLatest(
    now,
    () => readFile(connection, fileId, signal),
    async (file) => {
      if (file.shared?.version === shared.version) return file;
      const stored = await isStored({ number, previous, bytes }, versionsFrom(connection, vault, file));
      if (stored !== true) return stored;
      const row = await findRow(connection, statement);
      if (row === null) return null;
      const { versionId, size, sha256 } = row;
      return { ...file, versionId, size, sha256, folderId: entry.folderId, shared };
    },
  );
}

export async function readFile(connection: Connection, fileId: string, signal: AbortSignal | undefined): Promise<File> {
  return (await callOn(connection, filesGroup.get, { params: { fileId } }, { signal })).file;
}

/** The current version, verified, and those before it in the service's list. */
async function* versionsFrom(
  connection: Connection,
  vault: OpenVault,
  now: File,
): AsyncGenerator<Linked, void, undefined> {
  yield linked(await readCurrent(vault, now));
  for await (const { shared } of everyVersion(connection, now.id))
    yield linked(parseVersionStatement(fromBase64(shared?.version ?? "") ?? new Uint8Array(0)));
}

function linked({ sequence: number, previous, bytes }: VersionStatement): Linked {
  return { number, previous, bytes };
}

async function findRow(connection: Connection, { fileId, versionId }: VersionStatement): Promise<FileVersion | null> {
  for await (const version of everyVersion(connection, fileId)) if (version.versionId === versionId) return version;
  return null;
}

async function* everyVersion(connection: Connection, fileId: string): AsyncGenerator<FileVersion, void, undefined> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = cursor === undefined ? {} : { cursor };
    const page: { versions: FileVersion[]; nextCursor: string | null } = await callOn(
      connection,
      versionsGroup.versions,
      { params: { fileId }, query },
    );
    yield* page.versions;
    cursor = page.nextCursor;
  }
}
