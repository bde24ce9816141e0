/** The steps of `uploadFolder`, `downloadFolder` and `syncFolder`: look, compare, plan, then do. */
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { connectionOf, type Client } from "../../client.ts";
import { ContractError } from "../../http/errors.ts";
import type { Connection } from "../../connection/options.ts";
import { sharedCode } from "../../connection/shared-code.ts";
import { requirePublic } from "../../transfer/plain-codec.ts";
import { type Fields, refuseUndefinedPlaces, refuseUnknownFields } from "../../http/required-fields.ts";
import { fileErrorCode } from "../store/durable-file.ts";
import { fileStore } from "../store/file-store.ts";
import { trashLocal, recordDeletions, planDeletions } from "./trash-local.ts";
import { requireFewDeletions } from "./deletion-limit.ts";
import { downloadAll } from "./download-tree.ts";
import { realDirectory } from "./held-directory.ts";
import { walk, type LocalFile, type LocalTree } from "./local-tree.ts";
import type { FolderPlan, FolderResult, SyncFolderOptions } from "./options.ts";
import { Outcome, parentOf } from "./outcome.ts";
import { planTransfers } from "./transfer-plan.ts";
import { listTree, type RemotePlace } from "./remote-tree.ts";
import { recordRemovals, planRemovals, trashRemote } from "./trash-remote.ts";
import { uploadAll } from "./upload-tree.ts";
import { FolderState } from "./state.ts";
import { clearTrash, TrashRun, type Losses } from "./trash.ts";
import { ProgressCount, type Plan, type FolderJob } from "./folder-job.ts";

export type FolderCall = "uploadFolder" | "downloadFolder" | "syncFolder";

const DOWN: Fields<Omit<SyncFolderOptions, "direction" | "delete" | "maxDelete" | "padded">> = {
  vaultId: true,
  folderId: true,
  overwrite: true,
  dryRun: true,
  lanes: true,
  store: true,
  signal: true,
  onProgress: true,
  filter: true,
  full: true,
};
const FIELDS: Readonly<Record<FolderCall, object>> = {
  uploadFolder: { ...DOWN, padded: true },
  downloadFolder: DOWN,
  syncFolder: { ...DOWN, padded: true, direction: true, delete: true, maxDelete: true },
};
const PLACES = { vaultId: "never: name the vault", folderId: "for the top of the vault" };
const DEFAULT_LANES = 4;
const MOST_LANES = 32;

export async function runFolder(
  client: Client,
  call: FolderCall,
  directory: string,
  options: SyncFolderOptions,
): Promise<FolderResult> {
  requireOptions(call, options);
  const result =
    (await runOnce(client, call, directory, options)) ??
    (await runOnce(client, call, directory, { ...options, full: true }));
  if (result === null) throw new Error("a full pass removes by a list of before it");
  return result;
}

/** null: it would remove what a list of an earlier call and the change feed do not show, and nothing is done. */
async function runOnce(
  client: Client,
  call: FolderCall,
  directory: string,
  options: SyncFolderOptions,
): Promise<FolderResult | null> {
  const { direction, dryRun = false, signal } = options;
  const connection = connectionOf(client);
  const root = await realRoot(resolve(directory), direction === "down", dryRun);
  const outcome = new Outcome();
  const top = root ?? resolve(directory);
  await using state = await openState(connection, top, options);
  const { folderId, vaultId } = options;
  const place = { vaultId, ...(folderId === undefined ? {} : { folderId }) };
  const lanes = options.lanes ?? DEFAULT_LANES;
  const refuse = direction === "down" ? outcome : null;
  const isRepeated = call === "syncFolder";
  const listing = { lanes, signal, refuse, isRepeated, ...(options.full === true && { listedSince: Date.now() }) };
  const [here, there] = await Promise.all([
    root === null ? EMPTY_TREE : walk(root, { outcome, signal, removeLeftovers: direction === "down" && !dryRun }),
    listTree(client, place, listing),
  ]);
  const filtered = new Set<string>();
  const { filter } = options;
  const local = excludeFiltered(here, filter, filtered, { file: ({ place: at }) => at, folder: (at) => at });
  const below = (_: unknown, path: string): string => join(top, path);
  const remote = { ...there, ...excludeFiltered(there, filter, filtered, { file: below, folder: below }) };
  for (const path of filtered) outcome.recordFiltered(path);
  const job: FolderJob = {
    client,
    direction,
    place,
    root: top,
    local,
    remote,
    state,
    outcome,
    lanes,
    signal,
    dryRun,
    isPublic: await isPublic(connection, place, signal),
    going: new Set(),
    progress: new ProgressCount(options.onProgress),
    overwrite: typeof options.overwrite === "function" ? options.overwrite : () => options.overwrite === true,
    replaceKnown: call === "syncFolder",
    padded: options.padded === true,
    store: options.store ?? fileStore(),
  };
  const removals = await (options.delete === true ? REMOVALS[direction](job) : NO_REMOVALS);
  const removed = removals.files.length + removals.folders.length;
  if (direction === "down" && removed > 0 && !there.isListed) return null;
  for (const path of [...removals.files, ...removals.folders]) job.going.add(path);
  const plan = await planTransfers(job);
  const counts = countsOf(job, plan, removed);
  job.progress.start(plan.transfers.length, counts.bytes);
  if (dryRun) recordPlan(job, plan, removals);
  else {
    const [sending, receiving] = direction === "up" ? [local, remote] : [remote, local];
    const sizes = { sending: sending.files.size, receiving: receiving.files.size };
    requireFewDeletions({ direction, removed: removals.files.length, ...sizes }, options.maxDelete);
    await execute(job, plan, removals);
  }
  const { failed, files, folders, skipped } = outcome;
  return { dryRun, plan: counts, files, folders, skipped, failed };
}

interface Tree<File, Folder> {
  readonly files: ReadonlyMap<string, File>;
  readonly folders: ReadonlyMap<string, Folder>;
}

/** The tree without what the filter leaves out; `left` gets the paths, without those below a folder that is left out. */
function excludeFiltered<File, Folder>(
  tree: Tree<File, Folder>,
  filter: SyncFolderOptions["filter"],
  filtered: Set<string>,
  placeOf: {
    readonly file: (file: File, path: string) => string;
    readonly folder: (folder: Folder, path: string) => string;
  },
): Tree<File, Folder> {
  if (filter === undefined) return tree;
  const isBelow = (path: string): boolean => {
    for (let at = parentOf(path); at !== ""; at = parentOf(at)) if (filtered.has(at)) return true;
    return false;
  };
  const stays = (path: string, kind: "file" | "folder", place: string): boolean => {
    if (isBelow(path) || filtered.has(path)) return false;
    if (filter(path, kind, place)) return true;
    filtered.add(path);
    return false;
  };
  const folders = new Map(
    [...tree.folders].filter(([path, each]) => stays(path, "folder", placeOf.folder(each, path))),
  );
  return {
    folders,
    files: new Map([...tree.files].filter(([path, each]) => stays(path, "file", placeOf.file(each, path)))),
  };
}

async function execute(job: FolderJob, plan: Plan, removals: RemovalSteps): Promise<void> {
  // What is stored before anything goes is never missing; only what stands in the way of a new file or folder goes first.
  const isInTheWay = [...plan.folders, ...plan.transfers.map(({ path }) => path)].some((path) => job.going.has(path));
  if (job.direction === "up") {
    if (isInTheWay) await removals.run(null);
    await uploadAll(job, plan);
    if (!isInTheWay) await removals.run(null);
    return;
  }
  const losses = lossesOf(job, plan, removals);
  const isNone = losses.files.length + losses.folders.length === 0;
  await using trash = isNone ? null : await TrashRun.open(job.root, losses, Date.now());
  if (isInTheWay) await removals.run(trash);
  await downloadAll(job, plan, trash);
  if (!isInTheWay) await removals.run(trash);
  if (job.replaceKnown) await clearTrash(job.root, Date.now());
}

/** What the directory loses by the service's word: all of it goes to the trash. */
function lossesOf({ local, replaceKnown }: FolderJob, { transfers }: Plan, { files, folders }: RemovalSteps): Losses {
  const replaced = replaceKnown ? transfers.filter(({ act }) => act === "replaced").map(({ path }) => path) : [];
  return {
    files: [...files, ...replaced]
      .map((path) => local.files.get(path))
      .filter((file): file is LocalFile => file !== undefined),
    folders: folders.map((path) => local.folders.get(path)).filter((place) => place !== undefined),
  };
}

/** What the receiving side is to lose. */
interface RemovalSteps {
  readonly files: readonly string[];
  readonly folders: readonly string[];
  /** `trash`: null for the way up, and for nothing. */
  run(trash: TrashRun | null): Promise<void>;
  /** The receipts of a dry run. */
  recordReceipts(): void;
}

const NO_REMOVALS: RemovalSteps = {
  files: [],
  folders: [],
  run: () => Promise.resolve(),
  recordReceipts: () => undefined,
};

const REMOVALS: Readonly<
  Record<SyncFolderOptions["direction"], (job: FolderJob) => RemovalSteps | Promise<RemovalSteps>>
> = {
  up: (job) => {
    const removals = planRemovals(job);
    const [files, folders] = [job.remote.files, job.remote.folders].map((items) =>
      removals.all.map(({ path }) => path).filter((path) => items.has(path)),
    );
    return {
      files: files ?? [],
      folders: folders ?? [],
      run: () => trashRemote(job, removals),
      recordReceipts: () => recordRemovals(job, removals.all),
    };
  },
  down: async (job) => {
    const deletions = await planDeletions(job);
    return {
      ...deletions,
      run: async (trash) => {
        if (trash !== null) await trashLocal(job, deletions, trash);
      },
      recordReceipts: () => recordDeletions(job, deletions),
    };
  },
};

const EMPTY_TREE: LocalTree = { files: new Map(), folders: new Map() };

function requireOptions(call: FolderCall, options: SyncFolderOptions): void {
  refuseUnknownFields(call, options, { ...FIELDS[call], direction: true });
  refuseUndefinedPlaces(call, options, PLACES);
  const { direction, lanes = DEFAULT_LANES, maxDelete = 0 } = options;
  const issues = [
    ...(typeof options.vaultId === "string" ? [] : ["vaultId: expected the id of a vault"]),
    ...(["up", "down"].includes(direction) ? [] : ["direction: expected up or down"]),
    ...(Number.isInteger(lanes) && lanes >= 1 && lanes <= MOST_LANES ? [] : ["lanes: expected 1 to 32"]),
    ...(Number.isSafeInteger(maxDelete) && maxDelete >= 0 ? [] : ["maxDelete: expected a whole number"]),
  ];
  if (issues.length > 0) throw new ContractError("request", call, issues);
}

/** The real path. null: a dry run of a download into a directory that is not there. */
async function realRoot(directory: string, isMade: boolean, dryRun: boolean): Promise<string | null> {
  try {
    if (isMade && !dryRun) await mkdir(directory, { recursive: true, mode: 0o700 });
    return await realDirectory(directory);
  } catch (error) {
    if (isMade && dryRun && fileErrorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/** Whether an earlier call went between the directory and the folder: its state is kept. */
export async function knowsFolder(
  client: Client,
  directory: string,
  options: Pick<SyncFolderOptions, "folderId" | "vaultId">,
): Promise<boolean> {
  const purpose = purposeOf(connectionOf(client), await realDirectory(directory), options);
  return await FolderState.exists(fileStore(), purpose);
}

function openState(connection: Connection, root: string, options: SyncFolderOptions): Promise<FolderState> {
  const { dryRun, store = fileStore() } = options;
  const purpose = purposeOf(connection, root, options);
  return dryRun === true ? FolderState.openReadOnly(store, purpose) : FolderState.open(store, purpose);
}

function purposeOf(
  connection: Connection,
  root: string,
  { folderId, vaultId }: Pick<SyncFolderOptions, "folderId" | "vaultId">,
): string {
  // What one member's client verified is not another's to rely on.
  const signer = connection.sharedVaults?.signer.chainAddress;
  return JSON.stringify({ baseUrl: connection.baseUrl, signer, vaultId, folderId: folderId ?? null, root });
}

/**
 * By the pin of the vault: the service's word decides nothing here. A client without a chain key has public vaults alone.
 * @throws VaultError `shared_vault`.
 */
async function isPublic(connection: Connection, place: RemotePlace, signal: AbortSignal | undefined): Promise<boolean> {
  if (connection.sharedVaults === null) {
    await requirePublic(connection, { kind: "file", name: null, ...place }, signal);
    return true;
  }
  const { findPlace } = await sharedCode(connection);
  return (await findPlace(connection, place, { signal }))?.vault == null;
}

function countsOf({ outcome }: FolderJob, { folders, transfers }: Plan, remove: number): FolderPlan {
  const count = (act: string): number => transfers.filter((transfer) => transfer.act === act).length;
  return {
    create: count("created"),
    replace: count("replaced"),
    unchanged: outcome.files.length,
    remove,
    folders: folders.length,
    bytes: transfers.reduce((sum, { size }) => sum + size, 0),
  };
}

/** The receipts of a dry run. */
function recordPlan(job: FolderJob, { folders, transfers }: Plan, removals: RemovalSteps): void {
  const { outcome, remote } = job;
  for (const path of folders)
    outcome.folders.push({ path, act: "created", folderId: remote.folders.get(path)?.id ?? null });
  for (const { act, path, size } of transfers) {
    const there = remote.files.get(path);
    const isThere = there !== undefined && (job.direction === "down" || act === "replaced");
    const versionId = job.direction === "down" ? (there?.versionId ?? null) : null;
    outcome.files.push({ path, act, fileId: isThere ? there.id : null, versionId, size, sha256: null });
  }
  removals.recordReceipts();
}
