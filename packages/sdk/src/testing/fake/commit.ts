/** Several changes of a vault's files in the fake: all of them, or none. */
import { HEADERS, MAX_COMMIT_BYTES, plainTag, type api } from "@coffer/contract";
import { digestOf, toHex } from "../../transfer/digest.ts";
import { Failure, type GroupHandlers, type Input } from "../handlers.ts";
import { announce, describeFile } from "./events.ts";
import { tagsOf, trashItem } from "./items.ts";
import {
  authorOf,
  findPlace,
  notFound,
  readFile,
  readVault,
  timestamp,
  type Caller,
  type FileRow,
  type State,
  type UploadRow,
} from "./state.ts";

type Change = Input<typeof api.files.commit>["body"]["changes"][number];

/** A change that is allowed by itself, and where its file will be. */
interface Planned {
  readonly change: Change;
  readonly row: FileRow;
  readonly name: string;
  readonly folderId: string | null;
  readonly upload: UploadRow | null;
}

export function commitHandler(state: State): GroupHandlers<typeof api.files, Caller>["commit"] {
  return async ({ body: { vaultId, changes } }, caller) => {
    const digests = new Map<string, string>();
    for (const { uploadId } of changes) {
      const upload = uploadId === undefined ? undefined : state.uploads.get(uploadId);
      if (upload !== undefined) digests.set(upload.id, toHex(await digestOf(upload.bytes)));
    }
    // From here on nothing waits: of two commits of one file, one is second.
    readVault(state, caller, vaultId);
    const planned = changes.map((change, at) =>
      about(change.id, () => {
        if (changes.findIndex(({ id }) => id === change.id) < at)
          throw new Failure("validation_failed", "The file stands in another change, too");
        return plan(state, caller, vaultId, change);
      }),
    );
    const bytes = planned.reduce((sum, { upload }) => sum + (upload?.length ?? 0), 0);
    if (bytes > MAX_COMMIT_BYTES)
      throw new Failure("validation_failed", `body.changes: a commit takes at most ${String(MAX_COMMIT_BYTES)} bytes`);
    for (const one of planned) about(one.change.id, () => refuseTaken(state, planned, one));
    for (const { change, row } of planned) if (change.trash === true) trashItem(state, caller, row, undefined);
    for (const one of planned) if (one.change.trash !== true) apply(state, caller, one, digests);
    return { files: planned.map(({ row }) => row.value) };
  };
}

function plan(state: State, caller: Caller, vaultId: string, change: Change): Planned {
  const row = readFile(state, caller, change.id);
  const { value } = row;
  if (value.vaultId !== vaultId) throw new Failure("different_vault");
  if (value.trashedAt !== null) throw new Failure("trashed");
  const tag = plainTag(value);
  if (change.ifMatch !== "*" && !tagsOf(change.ifMatch).includes(tag))
    throw new Failure("precondition_failed", undefined, { etag: tag });
  const { name = value.name, folderId: wanted = value.folderId } = change;
  const isPlaced = change.name !== undefined || change.folderId !== undefined;
  const says = [change.uploadId, isPlaced || undefined, change.trash].filter((one) => one !== undefined);
  if (says.length === 0 || (change.trash !== undefined && says.length > 1))
    throw new Failure("validation_failed", "The change says nothing, or trash does not come alone");
  if (change.shared !== undefined) throw new Failure("validation_failed", "A public vault takes no signed entries");
  const { folderId } = findPlace(state, caller, vaultId, wanted);
  return { change, row, name, folderId, upload: findHeld(state, caller, change) };
}

function findHeld(state: State, caller: Caller, { id, uploadId }: Change): UploadRow | null {
  if (uploadId === undefined) return null;
  const upload = state.uploads.get(uploadId);
  if (upload?.accountId !== caller.accountId || upload.fileId !== null) throw notFound("Upload");
  if (!upload.metadata.has("held") || upload.metadata.get("fileId") !== id)
    throw new Failure("validation_failed", "uploadId: it is no held upload of this file");
  if (upload.bytes.length < upload.length)
    throw new Failure("validation_failed", "uploadId: its bytes have not all come yet");
  return upload;
}

/** By what the commit as a whole leaves. */
function refuseTaken(state: State, planned: readonly Planned[], one: Planned): void {
  if (one.change.trash === true) return;
  const ids = new Set(planned.map(({ row }) => row.value.id));
  const isSame = (name: string, folderId: string | null): boolean => name === one.name && folderId === one.folderId;
  const others = planned.filter((other) => other !== one && other.change.trash !== true);
  const isTaken =
    others.some(({ name, folderId }) => isSame(name, folderId)) ||
    [...state.files.values()].some(
      ({ value }) =>
        value.vaultId === one.row.value.vaultId &&
        value.trashedAt === null &&
        !ids.has(value.id) &&
        isSame(value.name, value.folderId),
    );
  if (isTaken) throw new Failure("name_exists");
}

function apply(
  state: State,
  caller: Caller,
  { row, name, folderId, upload }: Planned,
  digests: ReadonlyMap<string, string>,
): void {
  const { value } = row;
  const isPlaced = name !== value.name || folderId !== value.folderId;
  if (!isPlaced && upload === null) return;
  const content =
    upload === null
      ? {}
      : {
          versionId: crypto.randomUUID(),
          size: upload.length,
          sha256: digests.get(upload.id) ?? "",
          contentType: upload.metadata.get("filetype") ?? value.contentType,
        };
  const place = isPlaced ? { name, folderId, revision: value.revision + 1 } : {};
  const touched = { updatedAt: timestamp(state), updatedBy: authorOf(caller) };
  row.value = { ...value, ...content, ...place, ...touched };
  if (upload !== null) {
    row.bytes = upload.bytes;
    upload.fileId = value.id;
  }
  announce(state, caller, "file.updated", describeFile(row.value));
}

function about<Result>(id: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure(error.code, error.message, { ...error.headers, [HEADERS.itemId]: id });
  }
}
