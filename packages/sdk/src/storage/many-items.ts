/** Changes of many files and folders at once. */
import { itemActsGroup, type SharedEntry } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import { ContractError, SdkError } from "../http/errors.ts";
import type { CallOptions, ConditionedItem, Connection, PlaceOptions } from "../connection/options.ts";
import { type ItemOutcome, partErrorOf } from "../http/part-error.ts";
import { sharedCode } from "../connection/shared-code.ts";
import { MOVE, refuseUndefinedPlaces } from "../http/required-fields.ts";

/** Ids of one request. With the longest entries its body stays below the service's limit of 1 MiB. */
const REQUEST_IDS = 500;

type Acts = typeof itemActsGroup;
type Act = Acts[keyof Acts];

interface SignedMove {
  readonly id: string;
  readonly shared: SharedEntry;
}

/** The ids of one request, with what belongs to them, and a key of its own. */
interface Part {
  readonly ids: string[];
  /** Tags that some of the items must still have. */
  readonly conditions?: { readonly id: string; readonly ifMatch: string }[];
  readonly options: CallOptions;
}

type Send = (part: Part) => Promise<{ readonly results: readonly PartResult[] }>;

interface PartResult {
  readonly id: string;
  readonly error: { readonly code: string; readonly message: string } | null;
}

type Many = Iterable<string | ConditionedItem>;

export async function trashMany(connection: Connection, items: Many, options?: CallOptions): Promise<ItemOutcome[]> {
  const { trashMany: endpoint } = itemActsGroup;
  return inRequests(connection, endpoint, conditioned(items), options, ({ options: own, ...body }) =>
    callOn(connection, endpoint, { body }, own),
  );
}

export async function restoreMany(connection: Connection, items: Many, options?: CallOptions): Promise<ItemOutcome[]> {
  const { restoreMany: endpoint } = itemActsGroup;
  const all = conditioned(items);
  const outcomes = await inRequests(connection, endpoint, all, options, ({ options: own, ...body }) =>
    callOn(connection, endpoint, { body }, own),
  );
  if (connection.sharedVaults === null) return outcomes;
  return (await sharedCode(connection)).restoreUnderNewEntries(connection, all, outcomes, options);
}

export async function moveMany(
  connection: Connection,
  items: Many,
  folderId: string | null,
  placeOptions: PlaceOptions = {},
): Promise<ItemOutcome[]> {
  const { moveMany: endpoint } = itemActsGroup;
  refuseUndefinedPlaces(endpoint.id, placeOptions, MOVE);
  const { vaultId: _, ...options } = placeOptions;
  const send = (some: readonly ConditionedItem[], signed?: ReadonlyMap<string, SharedEntry>) => {
    // What is signed is its own condition.
    const plain = some.map((item) => (signed?.has(item.id) === true ? { id: item.id } : item));
    return inRequests(connection, endpoint, plain, options, ({ options: own, ...part }) => {
      const moves = part.ids.map((id) => ({ id, shared: signed?.get(id) }));
      const entries = moves.filter((entry): entry is SignedMove => entry.shared !== undefined);
      const body = { ...part, folderId, ...(entries.length === 0 ? {} : { entries }) };
      return callOn(connection, endpoint, { body }, own);
    });
  };
  if (connection.sharedVaults === null) return send(conditioned(items));
  return (await sharedCode(connection)).moveSigned(connection, conditioned(items), folderId, send, placeOptions);
}

function conditioned(items: Many): ConditionedItem[] {
  return Array.from(items, (item) => (typeof item === "string" ? { id: item } : item));
}

/** A request that fails as a whole is the outcome of its ids and of all after them. Rejects when the signal aborts. */
async function inRequests(
  connection: Connection,
  { id: endpoint }: Act,
  all: readonly ConditionedItem[],
  options: CallOptions = {},
  send: Send,
): Promise<ItemOutcome[]> {
  const { idempotencyKey, signal } = options;
  const outcomes: ItemOutcome[] = [];
  for (let at = 0; at < all.length; at += REQUEST_IDS) {
    const items = all.slice(at, at + REQUEST_IDS);
    const some = items.map(({ id }) => id);
    const conditions = items.flatMap(({ id, ifMatch }) => (ifMatch === undefined ? [] : [{ id, ifMatch }]));
    // Each request is one of its own: the service would take the second one for a repeat of the first.
    const key = idempotencyKey === undefined || at === 0 ? idempotencyKey : `${idempotencyKey}#${String(at)}`;
    const part = { ids: some, ...(conditions.length === 0 ? {} : { conditions }) };
    try {
      const { results } = await send({ ...part, options: { ...options, idempotencyKey: key } });
      if (results.length !== some.length || results.some(({ id }, place) => id !== some[place]))
        throw new ContractError("response", endpoint, ["body.results: other ids than were sent"]);
      for (const { id, error } of results)
        outcomes.push({ id, error: error === null ? null : await partErrorOf(error, connection) });
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof SdkError) || all.length <= REQUEST_IDS) throw error;
      return [...outcomes, ...all.slice(at).map(({ id }) => ({ id, error }))];
    }
  }
  return outcomes;
}
