/**
 * Several changes of one vault's files as one act of its account: all of them, or none (encryption design §9.3). Contents lie in the blob
 * store already, as held uploads. Each change is planned as the same change by itself would be, and then all are written.
 */
import { type api, HEADERS, MAX_COMMIT_BYTES, type HandlerInput, type Output } from "@coffer/contract";
import type { CreationContext, IncomingBytes, OutgoingBytes, Principal, Recorded } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import type { FileRow, UploadRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { notFound } from "../acting.ts";
import { deleteHoldsOfUpload } from "../budgets/store.ts";
import { parseLoneEntry } from "../folder-names/entries.ts";
import { type Changing, planChange, planTrash, requireWritten, type Writing, writeItem } from "../items/changing.ts";
import { requireTag } from "../items/conditions.ts";
import { parkName } from "../items/store.ts";
import { readVaultFor, requireWriter, type SeenVault } from "../reach/access.ts";
import { readFileFor } from "../reach/items.ts";
import type { ExpectedWrite } from "../reach/permits.ts";
import { comparePlaces, type Place } from "../reach/places.ts";
import { verifyAhead } from "../shared-vaults/statement-rules.ts";
import { FILES } from "./file-kind.ts";
import { toFile } from "./rules.ts";
import { commit, type PlannedVersion, planVersion, writePlannedVersion } from "./upload/commit.ts";
import { readUploadFor } from "./upload/resumable/access.ts";
import { expiryOf, readSigned } from "./upload/resumable/rules.ts";
import { changeUnfinished } from "./upload/resumable/store.ts";
import type { SignedUpload } from "./upload/signed-upload.ts";
import type { UploadDeps } from "./upload/verifier.ts";

type Commit = HandlerInput<typeof api.files.commit, IncomingBytes>["body"];
type Change = Commit["changes"][number];
type Answer = Output<typeof api.files.commit, OutgoingBytes>;

/** Bytes that wait, and what was signed of them. */
interface HeldContent {
  readonly upload: UploadRow;
  readonly sha256: string;
  readonly signed: SignedUpload | null;
}

/** What a change has to write. */
type Planned =
  | { readonly kind: "none"; readonly row: FileRow }
  | { readonly kind: "trash" | "place"; readonly writing: Writing<"file"> }
  | { readonly kind: "version"; readonly version: PlannedVersion; readonly upload: UploadRow };

export async function commitFiles(
  deps: UploadDeps,
  { vaultId, changes }: Commit,
  context: CreationContext<Principal>,
): Promise<Recorded<Answer>> {
  const { principal } = context;
  requireSense(changes);
  const vault = await readVaultFor(deps.database, principal, vaultId);
  const contents = await readContents(deps, deps.database, principal, changes);
  const write = await expectWrite(deps, principal, vault, changes, contents);
  await context.recheck();
  return commit(deps, principal, { accountId: vault.account_id, write }, async (changing) => {
    const rows = await applyChanges(changing, vaultId, changes);
    return context.record(changing.act, { files: rows.map((row) => toFile(row, principal)) });
  });
}

/** Throws `validation_failed` for changes that contradict themselves or one another. */
function requireSense(changes: readonly Change[]): void {
  const ids = new Set<string>();
  for (const [at, change] of changes.entries()) {
    const problem = ids.has(change.id) ? "the file stands in another change, too" : problemOf(change);
    if (problem === null) ids.add(change.id);
    else throw ofItem(change.id, new ServiceError("validation_failed", `body.changes[${at}]: ${problem}`));
  }
}

function problemOf({ uploadId, name, folderId, shared, trash }: Change): string | null {
  const isPlaced = name !== undefined || folderId !== undefined || shared !== undefined;
  if (trash !== undefined) return isPlaced || uploadId !== undefined ? "trash comes alone" : null;
  if (uploadId === undefined) return isPlaced ? null : "it says no change";
  return shared === undefined ? null : "shared: the upload has brought what was signed";
}

/** The contents of a commit, by their file's id. Also asked before there is an act, so that most refusals come early. */
async function readContents(
  deps: Pick<UploadDeps, "clock">,
  queries: Queries,
  principal: Principal,
  changes: readonly Change[],
): Promise<ReadonlyMap<string, HeldContent>> {
  const contents = new Map<string, HeldContent>();
  let bytes = 0;
  for (const { id, uploadId } of changes) {
    if (uploadId === undefined) continue;
    const content = await within(id, () => readContent(deps, queries, principal, { id, uploadId }));
    contents.set(id, content);
    bytes += content.upload.length;
  }
  if (bytes <= MAX_COMMIT_BYTES) return contents;
  const message = `body.changes: their contents have ${bytes} bytes, and a commit takes at most ${MAX_COMMIT_BYTES}`;
  throw new ServiceError("validation_failed", message);
}

/** Only the credential that has brought the bytes may commit them: they count for its budgets. */
async function readContent(
  { clock }: Pick<UploadDeps, "clock">,
  queries: Queries,
  principal: Principal,
  { id, uploadId }: { readonly id: string; readonly uploadId: string },
): Promise<HeldContent> {
  const upload = await readUploadFor(queries, principal, uploadId);
  if (upload.key_id !== principal.keyId) throw notFound("Upload");
  if (upload.held !== 1 || upload.file_id !== id)
    throw new ServiceError("validation_failed", "uploadId: it is no held upload of this file");
  if (upload.finished_file_id !== null) throw notFound("Upload");
  if (expiryOf(upload) <= clock.now()) throw new ServiceError("upload_expired");
  if (upload.held_sha256 === null)
    throw new ServiceError("validation_failed", "uploadId: its bytes have not all come yet");
  return { upload, sha256: upload.held_sha256, signed: readSigned(upload) };
}

/**
 * Everything that is signed is of one place, so that one permit is enough. Signatures of versions are looked at here, in the thread pool: the
 * act that holds the account finds them done.
 */
async function expectWrite(
  deps: UploadDeps,
  principal: Principal,
  vault: SeenVault,
  changes: readonly Change[],
  contents: ReadonlyMap<string, HeldContent>,
): Promise<ExpectedWrite | null> {
  if (vault.type !== "shared") return null;
  let first: Place | null = null;
  for (const { id, shared } of changes) {
    const sent = contents.get(id)?.signed?.version ?? null;
    const place =
      sent ?? (shared === undefined ? null : await within(id, async () => parseLoneEntry(shared).statement));
    if (place === null) continue;
    first ??= place;
    if (comparePlaces(first, place) !== 0)
      throw ofItem(id, new ServiceError("statement_invalid", "All statements of a commit are of one place"));
  }
  if (first === null) return null;
  const versions = [...contents.values()].flatMap(({ signed }) => (signed === null ? [] : [signed.version]));
  const writer = await requireWriter(deps, principal, vault, { place: first });
  await verifyAhead(writer, versions);
  return { vault, place: first };
}

/** The files, in the order of the changes. */
async function applyChanges(changing: Changing, vaultId: string, changes: readonly Change[]): Promise<FileRow[]> {
  const { act, deps, principal } = changing;
  act.requireAccount((await readVaultFor(act, principal, vaultId)).account_id);
  const contents = await readContents(deps, act, principal, changes);
  const planned = new Map<string, Planned>();
  for (const change of changes) {
    const plan = () => planOne(changing, vaultId, change, contents.get(change.id) ?? null);
    planned.set(change.id, await within(change.id, plan));
  }
  const written = await writeAll(changing, planned);
  return changes.map(({ id }) => {
    const row = written.get(id);
    if (row === undefined) throw new Error(`change of file ${id} was not written`);
    return row;
  });
}

async function planOne(
  changing: Changing,
  vaultId: string,
  { id, ifMatch, name, folderId, shared, trash }: Change,
  content: HeldContent | null,
): Promise<Planned> {
  const seen = await readFileFor(changing.act, changing.principal, id);
  const { row } = seen;
  if (row.vault_id !== vaultId) throw new ServiceError("different_vault", "The file lies in another vault");
  if (row.trashed_at !== null) throw new ServiceError("trashed", "The file is in the trash");
  requireTag(ifMatch, row);
  if (trash !== undefined) {
    changing.permits.use(seen.vault);
    return { kind: "trash", writing: planTrash(changing, FILES, seen) };
  }
  if (content === null) {
    const writing = await planChange(changing, FILES, seen, { name, folderId, shared });
    return writing === null ? { kind: "none", row } : { kind: "place", writing };
  }
  const { upload, sha256, signed } = content;
  const version = {
    kind: "version",
    fileId: id,
    ifMatch: undefined,
    name,
    folderId,
    keep: true,
    contentType: upload.content_type,
    signed,
  } as const;
  const stored = { blobKey: upload.blob_key, size: upload.length, sha256 };
  return { kind: "version", version: await planVersion(changing, seen, version, stored), upload };
}

/**
 * Names are free or taken by what the commit as a whole leaves: first goes what gives its name up for good, then all that gets another name
 * or place loses its present one, and then each takes its new one.
 */
async function writeAll(
  changing: Changing,
  planned: ReadonlyMap<string, Planned>,
): Promise<ReadonlyMap<string, FileRow>> {
  const { act } = changing;
  const all = [...planned];
  const written = new Map<string, FileRow>();
  const writeEach = async (some: readonly (readonly [string, Planned])[]): Promise<void> => {
    for (const [id, one] of some) written.set(id, await within(id, () => writeOne(changing, one)));
  };
  for (const [, one] of all) if (one.kind === "version") await deleteHoldsOfUpload(act, one.upload.id);
  await writeEach(all.filter(([, { kind }]) => kind === "trash"));
  for (const [, one] of all) {
    const row = rowToPark(one);
    if (row !== null) await parkName(act, row);
  }
  await writeEach(all.filter(([, { kind }]) => kind !== "trash"));
  return written;
}

/** null: it keeps its name and place, or has given them up. */
function rowToPark(planned: Planned): FileRow | null {
  if (planned.kind === "place") return planned.writing.old;
  if (planned.kind !== "version") return null;
  const { old, next } = planned.version;
  return next.columns.name === old.name && next.columns.folder_id === old.folder_id ? null : old;
}

async function writeOne(changing: Changing, planned: Planned): Promise<FileRow> {
  if (planned.kind === "none") return planned.row;
  if (planned.kind !== "version") return writeItem(changing, FILES, planned.writing);
  const { upload, version } = planned;
  const row = await writePlannedVersion(changing, version);
  const used = { id: upload.id, blobKey: upload.blob_key };
  // Its sender may have given it up meanwhile.
  requireWritten((await changeUnfinished(changing.act, used, { finished_file_id: row.id })) === 1);
  return row;
}

/** A refusal says which file it is about. */
async function within<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ServiceError ? ofItem(id, error) : error;
  }
}

function ofItem(id: string, { code, message, status, headers, cause }: ServiceError): ServiceError {
  return new ServiceError(code, `File ${id}: ${message}`, {
    headers: { ...headers, [HEADERS.itemId]: id },
    status,
    cause,
  });
}
