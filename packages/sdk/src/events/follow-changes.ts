/** The change feed in pages, and followed for as long as somebody reads. */
import { changesGroup, MAX_WAIT, type Change as ListedChange } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import { SdkError } from "../http/errors.ts";
import type { CallOptions, Connection } from "../connection/options.ts";
import type { Query } from "../connection/call-fields.ts";
import { FILES, FOLDERS, type Item } from "../storage/items.ts";
import { itemCalls } from "../storage/item-calls.ts";
import type { Author, Change } from "../connection/result-types.ts";
import { retryDelay } from "../http/retry.ts";
import { pause } from "../http/time-limit.ts";

type ChangeQuery = Query<typeof changesGroup.list>;

/** Options of `changes.list`. */
export interface ChangeListOptions extends CallOptions {
  /** false: `name` and `author` stay null, which spares a request for each file and folder. Default: true. */
  readonly names?: boolean | undefined;
}

/** For `changes.follow`. */
export interface ChangeFollowOptions {
  /** UUID of the vault to follow. Members of another account need it. Default: every vault. */
  readonly vaultId?: string | undefined;
  /** Follows only what lies in this folder. Default: every folder. */
  readonly folderId?: string | undefined;
  /** Follows only this kind or group, such as `file.uploaded` or `file`. Default: every kind. */
  readonly kind?: string | undefined;
  /** Follows only this actor: the UUID of a key or session, or a chain address. Default: every actor. */
  readonly by?: string | undefined;
  /** The `sequence` that you handled last. Default: the feed begins with changes from now on. */
  readonly after?: number | undefined;
  /** A `nextCursor`, or what {@link ChangeFollowOptions.onPlace} got. It wins over `after`. Default: `after` counts. */
  readonly cursor?: string | undefined;
  /** Gets a cursor whenever all changes up to it were taken; keep it to go on from there. Default: no function. */
  readonly onPlace?: ((cursor: string) => void) | undefined;
  /** As for `changes.list`. Default: true. */
  readonly names?: boolean | undefined;
  /** The connection was lost, and the next try begins after `waitMs`; for a log. Default: no function. */
  readonly onReconnect?: ((error: SdkError, waitMs: number) => void) | undefined;
  /** Ends the feed when it aborts. Default: it goes on. */
  readonly signal?: AbortSignal | undefined;
}

/** Milliseconds that an answer may take beyond the wait that it was asked for. */
const BEYOND_WAIT = 15_000;
const LONGEST_PAUSE = 30_000;

export async function listChanges(
  connection: Connection,
  query: ChangeQuery,
  { names = true, ...options }: ChangeListOptions = {},
): Promise<{ changes: Change[]; nextCursor: string | null }> {
  const needed = (query.wait ?? 0) * 1000 + BEYOND_WAIT;
  const { attemptMs = Math.max(needed, connection.timeouts.attemptMs) } = options;
  const { totalMs = Math.max(needed, connection.timeouts.totalMs) } = options;
  const page = await callOn(connection, changesGroup.list, { query }, { ...options, attemptMs, totalMs });
  const resolved = names ? await resolveAll(connection, page.changes, options) : page.changes.map(withoutName);
  return { changes: resolved, nextCursor: page.nextCursor };
}

export async function* followChanges(
  connection: Connection,
  { after, cursor, onPlace, onReconnect, names, signal, ...filters }: ChangeFollowOptions = {},
): AsyncGenerator<Change, void, undefined> {
  let place: string | null | undefined = cursor;
  let failures = 0;
  while (!isAborted(signal)) {
    let page;
    try {
      const start = place == null ? firstQuery(after) : { cursor: place, wait: MAX_WAIT };
      page = await listChanges(connection, { ...filters, ...start }, { names, signal });
    } catch (error) {
      if (isAborted(signal)) return;
      if (!(error instanceof SdkError) || !error.retryable || (place == null && failures === 0)) throw error;
      failures += 1;
      await waitAfter(connection, error, { failures, onReconnect, signal });
      continue;
    }
    failures = 0;
    for (const change of page.changes) {
      if (isAborted(signal)) return;
      yield change;
    }
    place = page.nextCursor;
    if (place !== null) onPlace?.(place);
  }
}

/** Nothing is older than the end of time: so the first answer is empty, and its cursor is where the feed is now. */
function firstQuery(after: number | undefined): ChangeQuery {
  return after === undefined ? { since: LAST_TIME, wait: 0 } : { after, wait: MAX_WAIT };
}

const LAST_TIME = "9999-12-31T23:59:59.999Z";

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

async function waitAfter(
  { clock, retry }: Connection,
  error: SdkError,
  {
    failures,
    onReconnect,
    signal,
  }: Pick<ChangeFollowOptions, "onReconnect" | "signal"> & { readonly failures: number },
): Promise<void> {
  const longest = Math.min(LONGEST_PAUSE, 1000 * 2 ** failures);
  const waitMs = Math.round(
    Math.max(
      retryDelay(retry, 1, error, () => 0),
      longest * (0.5 + clock.random() / 2),
    ),
  );
  onReconnect?.(error, waitMs);
  await pause(clock, waitMs, signal).catch((failure: unknown) => {
    if (!isAborted(signal)) throw failure;
  });
}

const LANES = 8;

type Found = Item | null;

/** Each file and folder is read once for all its changes of the page. */
async function resolveAll(
  connection: Connection,
  changes: readonly ListedChange[],
  options: CallOptions,
): Promise<Change[]> {
  const wanted = new Map(changes.map(({ object }) => [`${object.type} ${object.id}`, object]));
  const found = new Map<string, Found>();
  const calls = { file: itemCalls(connection, FILES), folder: itemCalls(connection, FOLDERS) };
  const left = [...wanted].values();
  const lane = async (): Promise<void> => {
    for (const [key, { type, id }] of left) {
      if (type === "file") found.set(key, await orGone(calls.file.get(id, options)));
      if (type === "folder") found.set(key, await orGone(calls.folder.get(id, options)));
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return changes.map((change) => resolve(change, found.get(`${change.object.type} ${change.object.id}`) ?? null));
}

/** null: it was deleted for good, or this client may not see it now. */
async function orGone<Kind extends Item>(read: Promise<Kind>): Promise<Kind | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof SdkError && error.code === "not_found") return null;
    throw error;
  }
}

function withoutName(change: ListedChange): Change {
  return { ...change, name: null, author: null };
}

/** The kinds of change that come with a signature in shared vaults. */
const SIGNED: ReadonlySet<string> = new Set(["file.uploaded", "file.updated", "folder.created", "folder.updated"]);

/** The item's present signer proves the change if it is the actor, and the content is still that of the change. */
function resolve(change: ListedChange, item: Found): Change {
  if (item === null || item.vaultId !== change.object.vaultId) return withoutName(change);
  const isPresent = !("versionId" in item) || item.versionId === change.object.versionId;
  const authors: readonly (Author | null)[] = [item.updatedBy, item.createdBy];
  const signer = authors.find(
    (author) => author?.verified === true && author.chainAddress === change.actor.chainAddress,
  );
  const author = isPresent && SIGNED.has(change.kind) ? (signer ?? null) : null;
  return { ...change, name: item.name === "" ? null : item.name, author };
}
