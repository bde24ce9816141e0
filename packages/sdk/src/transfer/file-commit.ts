/** Several changes of one vault's files at once: contents first, as held uploads, and then one request that does all or nothing. */
import { fileCommitGroup, MAX_COMMIT_BYTES, MAX_COMMIT_CHANGES, type api } from "@coffer/contract";
import type { Connection } from "../connection/options.ts";
import { sharedCode } from "../connection/shared-code.ts";
import { callOn } from "../http/call.ts";
import { inLanes } from "../http/concurrency.ts";
import type { Body } from "../http/endpoint-types.ts";
import { ContractError, SdkError } from "../http/errors.ts";
import { unlessStored } from "../http/repeated-change.ts";
import { mayHaveBeenDone } from "../http/retry.ts";
import { type Fields, MOVE, refuseUndefinedPlaces, refuseUnknownFields } from "../http/required-fields.ts";
import type { WireFile } from "../storage/file.ts";
import {
  aboutItem,
  type CommitItem,
  type CommitKind,
  type CommittedFile,
  type FileCommitChange,
  type FileCommitOptions,
  type OpenChange,
  withCurrentTag,
} from "./commit-changes.ts";
import { freeHeld, type HeldContent, sendHeld } from "./held-sender.ts";
import { PlainCommit } from "./plain-commit.ts";
import { openSource } from "./source.ts";
import { requireSameBytes } from "./sender.ts";
import type { Progress } from "./upload-options.ts";
import { UPLOAD_OPTIONS } from "./upload.ts";

/** How often a commit is prepared: each round sends all its contents again. */
const COMMIT_ROUNDS = 3;
/** Contents that are sent, and changes that are signed, at the same time. */
const LANES = 4;

const CHANGE_FIELDS: Fields<FileCommitChange> = {
  id: true,
  ifMatch: true,
  body: true,
  size: true,
  contentType: true,
  name: true,
  folderId: true,
  trash: true,
};

/** All changes, or none. The files are in the order of the changes. */
export async function commitFiles(
  connection: Connection,
  vaultId: string,
  changes: Iterable<FileCommitChange>,
  options: FileCommitOptions = {},
): Promise<CommittedFile[]> {
  refuseUnknownFields(fileCommitGroup.commit.id, options, UPLOAD_OPTIONS);
  const all = [...changes];
  requireSense(all);
  if (all.length === 0) return [];
  const opened: OpenChange[] = [];
  try {
    for (const { body, size, ...change } of all) {
      const source = body === undefined ? null : openSource(body, size, fileCommitGroup.commit.id);
      opened.push({ ...change, source });
    }
    requireFitting(opened.reduce((sum, { source }) => sum + (source?.size ?? 0), 0));
    const kind = await openKind(connection, vaultId, opened, options);
    return await runRounds(connection, vaultId, kind, options);
  } finally {
    for (const { source } of opened) await source?.close();
  }
}

async function openKind(
  connection: Connection,
  vaultId: string,
  changes: readonly OpenChange[],
  options: FileCommitOptions,
): Promise<CommitKind> {
  if (connection.sharedVaults !== null) {
    const shared = await (await sharedCode(connection)).openSharedCommit(connection, vaultId, changes, options);
    if (shared !== null) return shared;
  }
  return PlainCommit.open(connection, vaultId, changes, options);
}

async function runRounds(
  connection: Connection,
  vaultId: string,
  kind: CommitKind,
  options: FileCommitOptions,
): Promise<CommittedFile[]> {
  for (let round = 1; ; round += 1) {
    const holds = new Set<string>();
    let sent: SentCommit | null = null;
    let files: readonly WireFile[];
    try {
      await kind.start();
      sent = await sendContents(connection, kind.items, options, holds);
      const commit = callOn(
        connection,
        fileCommitGroup.commit,
        { body: { vaultId, changes: [...sent.changes] } },
        { signal: options.signal, retries: options.retries, idempotencyKey: kind.idempotencyKey },
      );
      ({ files } = await unlessStored(commit, () => findStored(kind.items)));
    } catch (error) {
      // A caller that has named the commit may repeat it, and then the service must find the same uploads in it. Otherwise: should the
      // request still be on its way there, it finds nothing to commit. What is committed keeps its bytes.
      const mayBeRepeated = sent !== null && kind.idempotencyKey !== undefined && mayHaveBeenDone(error);
      if (!mayBeRepeated) await freeHeld(connection, holds);
      if (round < COMMIT_ROUNDS && error instanceof SdkError && !error.perhapsDone && (await kind.recover(error)))
        continue;
      throw await withCurrentTag(kind, error);
    }
    return receiptsOf(kind.items, sent, files);
  }
}

interface SentCommit {
  readonly changes: readonly Body<typeof api.files.commit>["changes"][number][];
  /** By the id of the file. */
  readonly contents: ReadonlyMap<string, HeldContent>;
}

/** The changes in their order, with the uploads that hold their contents. `holds` gets each of those as soon as it exists. */
async function sendContents(
  connection: Connection,
  items: readonly CommitItem[],
  options: FileCommitOptions,
  holds: Set<string>,
): Promise<SentCommit> {
  const contents = new Map<string, HeldContent>();
  const changes: SentCommit["changes"][number][] = [];
  const progress = new CommitProgress(options.onProgress);
  let size = 0;
  await inLanes(items.entries(), Math.min(LANES, items.length), ([at, item]) =>
    aboutItem(item.id, async () => {
      options.signal?.throwIfAborted();
      const { change, upload } = await item.prepare();
      changes[at] = change;
      if (upload === null) return;
      size += upload.bytes.size ?? 0;
      requireFitting(size);
      const held = await sendHeld(connection, upload, { ...options, onProgress: progress.of(item.id) }, (uploadId) =>
        holds.add(uploadId),
      );
      contents.set(item.id, held);
      changes[at] = { ...change, uploadId: held.uploadId };
    }),
  );
  progress.end();
  return { changes, contents };
}

/** The bytes of all contents together. How many there are in all is known at the end. */
class CommitProgress {
  readonly #report: ((progress: Progress) => void) | undefined;
  readonly #each = new Map<string, Progress>();

  constructor(report: ((progress: Progress) => void) | undefined) {
    this.#report = report;
  }

  of(id: string): ((progress: Progress) => void) | undefined {
    const report = this.#report;
    if (report === undefined) return undefined;
    return (progress) => {
      this.#each.set(id, progress);
      report({ ...this.#sum(), total: null });
    };
  }

  end(): void {
    const sum = this.#sum();
    this.#report?.({ ...sum, total: sum.bytes });
  }

  #sum(): { readonly bytes: number; readonly storedBytes: number } {
    const each = [...this.#each.values()];
    const sumOf = (count: (progress: Progress) => number): number => each.reduce((sum, one) => sum + count(one), 0);
    return { bytes: sumOf(({ bytes }) => bytes), storedBytes: sumOf(({ storedBytes = 0 }) => storedBytes) };
  }
}

/** All that was signed is stored, or nothing of it; null: the service does not show which. */
async function findStored(items: readonly CommitItem[]): Promise<{ files: WireFile[] } | false | null> {
  const files: (WireFile | false | null)[] = [];
  for (const item of items) files.push(await item.findStored());
  if (files.every((file) => file === false)) return false;
  const stored = files.filter((file): file is WireFile => file !== false && file !== null);
  return stored.length === items.length ? { files: stored } : null;
}

async function receiptsOf(
  items: readonly CommitItem[],
  { contents }: SentCommit,
  files: readonly WireFile[],
): Promise<CommittedFile[]> {
  if (files.length !== items.length || files.some(({ id }, at) => id !== items[at]?.id))
    throw new ContractError("response", fileCommitGroup.commit.id, ["body.files: other files than were sent"]);
  const receipts: CommittedFile[] = [];
  for (const [at, item] of items.entries()) {
    const [file, held] = [files[at], contents.get(item.id)];
    if (file === undefined) throw new Error("a change has no file");
    if (held !== undefined) requireSameBytes(file, held.bytes, held.sha256);
    receipts.push(await aboutItem(item.id, () => item.receipt(file)));
  }
  return receipts;
}

/** @throws ContractError `invalid_request`, before anything is sent. */
function requireSense(changes: readonly FileCommitChange[]): void {
  const issues: string[] = [];
  const ids = new Set<string>();
  if (changes.length > MAX_COMMIT_CHANGES)
    issues.push(`changes: at most ${String(MAX_COMMIT_CHANGES)}, and ${String(changes.length)} were given`);
  for (const [at, change] of changes.entries()) {
    refuseUnknownFields(fileCommitGroup.commit.id, change, CHANGE_FIELDS);
    refuseUndefinedPlaces(fileCommitGroup.commit.id, change, MOVE);
    const problem = ids.has(change.id) ? "the file stands in another change, too" : problemOf(change);
    if (problem !== null) issues.push(`changes[${String(at)}]: ${problem}`);
    ids.add(change.id);
  }
  if (issues.length > 0) throw new ContractError("request", fileCommitGroup.commit.id, issues);
}

function problemOf({ ifMatch, body, size, contentType, name, folderId, trash }: FileCommitChange): string | null {
  if (typeof ifMatch !== "string") return "ifMatch: the file's tag is required";
  if (body === undefined && (size !== undefined || contentType !== undefined))
    return "size and contentType come with a body";
  const isPlaced = name !== undefined || folderId !== undefined;
  if (trash !== undefined) return body !== undefined || isPlaced ? "trash comes alone" : null;
  return body === undefined && !isPlaced ? "it says no change" : null;
}

function requireFitting(bytes: number): void {
  if (bytes <= MAX_COMMIT_BYTES) return;
  const issue = `changes: their contents have more than ${String(MAX_COMMIT_BYTES)} bytes together`;
  throw new ContractError("request", fileCommitGroup.commit.id, [issue]);
}
