/** The change feed (specification §6), in pages, and followed for as long as somebody reads. */
import { changesGroup, MAX_WAIT, type api, type Change as ListedChange } from "@coffer/contract";
import type { CallOptions, Connection } from "../connection/options.ts";
import { callOn } from "../http/call.ts";
import { inLanes } from "../http/concurrency.ts";
import type { ListQuery, Query as QueryOf } from "../http/endpoint-types.ts";
import { SdkError } from "../http/errors.ts";
import { paged, type PagePromise } from "../http/pages.ts";
import type { Author } from "../storage/item-types.ts";
import { ItemCalls } from "../storage/item-calls.ts";
import { FILES, FOLDERS, orGone, type Item } from "../storage/items.ts";
import { LONGEST_WAIT_MS, waitToReconnect } from "./reconnect.ts";

type Query = QueryOf<typeof changesGroup.list>;

/** Input of `changes.list`. */
export interface ChangeListQuery extends ListQuery<typeof api.changes.list> {}

/** A change of an account, as ids. */
export interface Change extends Readonly<ListedChange> {
  /** Name of the file or folder as it is now. null: it has none, is gone, or this client cannot read it. */
  readonly name: string | null;
  /** In a shared vault: the actor, if its signature on the object as it is now proves that. null: nothing does. */
  readonly author: Author | null;
}

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
  /** A `nextCursor`, or what {@link ChangeFollowOptions.onCursor} got. It wins over `after`. Default: `after` counts. */
  readonly cursor?: string | undefined;
  /** Gets a cursor whenever all changes up to it were taken; keep it to go on from there. Default: no function. */
  readonly onCursor?: ((cursor: string) => void) | undefined;
  /** As for `changes.list`. Default: true. */
  readonly names?: boolean | undefined;
  /** The connection was lost, and the next try begins after `waitMs`; for a log. Default: no function. */
  readonly onReconnect?: ((error: SdkError, waitMs: number) => void) | undefined;
  /** Ends the feed when it aborts. Default: it goes on. */
  readonly signal?: AbortSignal | undefined;
}

export interface ChangeResource {
  /**
   * Lists changes of the account, oldest first: who did what to which object, as ids. Agents see what lies in their
   * vaults. Members of another account name the shared vault. `author` is what this client has verified; `actor` is
   * the service's word. `cursor_expired`: changes before the cursor are no longer kept, so list your files again.
   */
  list(query?: ChangeListQuery, options?: ChangeListOptions): PagePromise<"changes", Change>;
  /**
   * Follows changes as they happen: each once and in order. Pass the `sequence` that you handled last as `after` to go
   * on where a program stopped. Ends when `signal` aborts.
   *
   * @example
   * ```ts
   * for await (const { sequence, kind, name } of client.changes.follow({ signal: AbortSignal.timeout(60_000) })) {
   *   console.log(sequence, kind, name);
   * }
   * ```
   */
  follow(options?: ChangeFollowOptions): AsyncGenerator<Change, void, undefined>;
}

export function changeResource(connection: Connection): ChangeResource {
  return {
    list: (query = {}, options) => paged("changes", query, (page) => listChanges(connection, page, options)),
    follow: (options) => followChanges(connection, options),
  };
}

/** Milliseconds that an answer may take beyond the wait that it was asked for. */
const BEYOND_WAIT = 15_000;

export async function listChanges(
  connection: Connection,
  query: Query,
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
  { after, cursor, onCursor, onReconnect, names, signal, ...filters }: ChangeFollowOptions = {},
): AsyncGenerator<Change, void, undefined> {
  let next: string | null | undefined = cursor;
  let failures = 0;
  while (!isAborted(signal)) {
    let page;
    try {
      const start = next == null ? firstQuery(after) : { cursor: next, wait: MAX_WAIT };
      page = await listChanges(connection, { ...filters, ...start }, { names, signal });
    } catch (error) {
      if (isAborted(signal)) return;
      if (!(error instanceof SdkError) || !error.retryable || (next == null && failures === 0)) throw error;
      failures += 1;
      const atMostMs = Math.min(LONGEST_WAIT_MS, 1000 * 2 ** failures);
      await waitToReconnect(connection, { error, atMostMs, onReconnect, signal });
      continue;
    }
    failures = 0;
    for (const change of page.changes) {
      if (isAborted(signal)) return;
      yield change;
    }
    next = page.nextCursor;
    if (next !== null) onCursor?.(next);
  }
}

/** Nothing is older than the end of time: so the first answer is empty, and its cursor is where the feed is now. */
function firstQuery(after: number | undefined): Query {
  return after === undefined ? { since: LAST_TIME, wait: 0 } : { after, wait: MAX_WAIT };
}

const LAST_TIME = "9999-12-31T23:59:59.999Z";

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

const LANES = 8;

/** Each file and folder is read once for all its changes of the page. */
async function resolveAll(
  connection: Connection,
  changes: readonly ListedChange[],
  options: CallOptions,
): Promise<Change[]> {
  const objects = new Map(changes.map(({ object }) => [keyOf(object), object]));
  const items = new Map<string, Item | null>();
  const calls = { file: new ItemCalls(connection, FILES), folder: new ItemCalls(connection, FOLDERS) };
  await inLanes(objects, LANES, async ([key, { type, id }]) => {
    if (type === "file" || type === "folder") items.set(key, await orGone<Item>(calls[type].get(id, options)));
  });
  return changes.map((change) => resolve(change, items.get(keyOf(change.object)) ?? null));
}

function keyOf({ type, id }: ListedChange["object"]): string {
  return `${type} ${id}`;
}

function withoutName(change: ListedChange): Change {
  return { ...change, name: null, author: null };
}

/** The kinds of change that come with a signature in shared vaults. */
const SIGNED: ReadonlySet<string> = new Set(["file.uploaded", "file.updated", "folder.created", "folder.updated"]);

/** The item's present signer proves the change if it is the actor, and the content is still that of the change. */
function resolve(change: ListedChange, item: Item | null): Change {
  if (item === null || item.vaultId !== change.object.vaultId) return withoutName(change);
  const isPresent = !("versionId" in item) || item.versionId === change.object.versionId;
  const authors: readonly (Author | null)[] = [item.updatedBy, item.createdBy];
  const signer = authors.find(
    (author) => author?.verified === true && author.chainAddress === change.actor.chainAddress,
  );
  const author = isPresent && SIGNED.has(change.kind) ? (signer ?? null) : null;
  return { ...change, name: item.name === "" ? null : item.name, author };
}
