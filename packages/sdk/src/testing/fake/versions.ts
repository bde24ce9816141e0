/** Versions of files in the fake: each content stays for as long as its vault says, and may come back. */
import type { api, FileVersion } from "@coffer/contract";
import { Failure, Reply, type GroupHandlers } from "../handlers.ts";
import { record } from "./audit.ts";
import { authorOf, bounded, endOf } from "./entries.ts";
import { refuseReplaced } from "./content-tag.ts";
import { requireBudgets, spendBudgets } from "./budgets.ts";
import type { Budget } from "./row.ts";
import { pageOf, readRow, timestamp, type Caller, type FileRow, type KeptVersion, type State } from "./state.ts";

/** The file's current content as a version that `caller` makes now. */
export function versionOf(
  state: State,
  caller: Caller,
  file: Pick<FileRow, "value" | "bytes">,
  {
    storedBy = [],
    ...more
  }: Pick<FileVersion, "number" | "how"> & { readonly storedBy: readonly Budget[] | undefined },
): KeptVersion {
  const { versionId, size, sha256, contentType } = file.value;
  const made = { author: authorOf(caller), createdAt: timestamp(state), expiresAt: null, shared: null };
  return { ...file, value: { ...more, versionId, size, contentType, sha256, ...made }, replacedAt: null, storedBy };
}

/** The file gets the content as its newest version; `keep` decides about the one before. */
export function putVersion(
  state: State,
  caller: Caller,
  row: FileRow,
  content: Pick<FileVersion, "sha256" | "contentType" | "how"> & {
    readonly bytes: Uint8Array;
    readonly keep: boolean;
    /** Whose stored bytes they are. Default: the caller's, who wrote them. */
    readonly storedBy?: readonly Budget[];
  },
): void {
  const { bytes, keep, how, sha256, contentType, storedBy = caller.key.budgets } = content;
  const [current, ...older] = liveVersions(state, row);
  const written = content.storedBy === undefined ? bytes.length : 0;
  // What is not kept makes room first.
  if (!keep) row.versions = older;
  try {
    requireBudgets(state, caller, written);
  } catch (error) {
    if (current !== undefined) row.versions = [current, ...older];
    throw error;
  }
  spendBudgets(state, caller, written);
  const { expiresAt } = endOf(state, row.value.vaultId, state.now());
  const past = current !== undefined && keep ? [{ ...current, value: { ...current.value, expiresAt } }] : [];
  const updatedAt = timestamp(state);
  const versionId = crypto.randomUUID();
  const updatedBy = authorOf(caller);
  row.value = { ...row.value, versionId, size: bytes.length, sha256, contentType, updatedAt, updatedBy };
  row.bytes = bytes;
  const number = (current?.value.number ?? 0) + 1;
  const made = versionOf(state, caller, row, { number, how, storedBy });
  const replaced = past.map((version) => ({ ...version, replacedAt: state.now() }));
  row.versions = bounded([made, ...replaced, ...older], made.value.author);
}

/** After the vault's days changed. */
export function keepAsVaultSays(state: State, vaultId: string): void {
  for (const row of state.files.values()) {
    if (row.value.vaultId !== vaultId) continue;
    row.versions = row.versions.map((version) =>
      version.replacedAt === null
        ? version
        : { ...version, value: { ...version.value, ...endOf(state, vaultId, version.replacedAt) } },
    );
  }
}

/** Newest first, the current one too. */
export function liveVersions(state: Pick<State, "now">, row: FileRow): readonly KeptVersion[] {
  return row.versions.filter(({ value }) => value.expiresAt === null || value.expiresAt > timestamp(state));
}

/** The file as it was with that content. Throws `not_found`. */
export function atVersion(state: State, row: FileRow, versionId: string | undefined): FileRow {
  if (versionId === undefined) return row;
  const { bytes, value } = findVersion(state, row, versionId);
  const { size, sha256, contentType, createdAt: updatedAt } = value;
  return { ...row, bytes, value: { ...row.value, versionId, size, sha256, contentType, updatedAt } };
}

function findVersion(state: State, row: FileRow, versionId: string): KeptVersion {
  const found = liveVersions(state, row).find(({ value }) => value.versionId === versionId);
  if (found === undefined) throw new Failure("not_found", "Version not found");
  return found;
}

type VersionHandlers = Pick<GroupHandlers<typeof api.files, Caller>, "versions" | "restoreVersion" | "deleteVersion">;

export function versionHandlers(state: State): VersionHandlers {
  const read = (caller: Caller, id: string): FileRow => readRow(state, state.files, caller, id, "File");
  const note = (caller: Caller, row: FileRow, action: string): void => {
    const { id, vaultId } = row.value;
    record(state, caller, caller.accountId, action, { type: "file", id, vaultId });
  };
  return {
    versions: ({ params, query }, caller) => {
      const row = read(caller, params.fileId);
      const rows = liveVersions(state, row).map(({ value }) => ({ ...row, sequence: value.number, value }));
      const { items, nextCursor } = pageOf(rows, query);
      return { versions: items, nextCursor };
    },
    restoreVersion: ({ params: { fileId, sourceId }, headers }, caller) => {
      const row = read(caller, fileId);
      if (row.value.trashedAt !== null) throw new Failure("trashed");
      refuseReplaced(row.value, headers["if-match"]);
      const { bytes, value, storedBy } = findVersion(state, row, sourceId);
      if (bytes !== row.bytes) {
        const { sha256, contentType } = value;
        putVersion(state, caller, row, { bytes, sha256, contentType, how: "restore", keep: true, storedBy });
        note(caller, row, "file.updated");
      }
      return { file: row.value };
    },
    deleteVersion: ({ params: { fileId, versionId } }, caller) => {
      const row = read(caller, fileId);
      if (versionId === row.value.versionId) throw new Failure("current_version");
      const found = findVersion(state, row, versionId);
      row.versions = row.versions.filter((version) => version !== found);
      note(caller, row, "file.version_deleted");
      return new Reply(undefined, { status: 204 });
    },
  };
}
