/** The calls that change many files and folders at once. */
import { itemActsGroup } from "@coffer/contract/item-acts";
import type { SharedEntry } from "@coffer/contract";
import { callOn } from "../call.ts";
import { ContractError, SdkError } from "../errors.ts";
import type { CallOptions, Connection, PlaceOptions } from "../options.ts";
import { type ItemOutcome, partErrorOf } from "../part-error.ts";
import { sharedCode } from "../shared-code.ts";
import { MOVE, refuseUndefinedPlaces } from "../undefined-place.ts";

/** Ids of one request. With the longest entries its body stays below the service's limit of 1 MiB. */
const REQUEST_IDS = 500;

type Acts = typeof itemActsGroup;
type Act = Acts[keyof Acts];

interface SignedMove {
  readonly id: string;
  readonly shared: SharedEntry;
}

/** Sends the ids of one request with what belongs to them. */
type Send = (ids: string[]) => Promise<{ readonly results: readonly PartResult[] }>;

interface PartResult {
  readonly id: string;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export function manyCalls(connection: Connection) {
  const { trashMany, restoreMany, moveMany } = itemActsGroup;
  return {
    trashMany: (ids: Iterable<string>, options?: CallOptions) =>
      inRequests(connection, trashMany, ids, options, (some) =>
        callOn(connection, trashMany, { body: { ids: some } }, options),
      ),
    restoreMany: async (ids: Iterable<string>, options?: CallOptions) => {
      const outcomes = await inRequests(connection, restoreMany, ids, options, (some) =>
        callOn(connection, restoreMany, { body: { ids: some } }, options),
      );
      if (connection.sharedVaults === null) return outcomes;
      return (await sharedCode(connection).many()).restoreUnderNewEntries(connection, outcomes, options);
    },
    moveMany: async (ids: Iterable<string>, folderId: string | null, moving: PlaceOptions = {}) => {
      refuseUndefinedPlaces(moveMany.id, moving, MOVE);
      const { vaultId: _, ...options } = moving;
      const send = (some: Iterable<string>, signed?: ReadonlyMap<string, SharedEntry>) =>
        inRequests(connection, moveMany, some, options, (part) => {
          const own = part.map((id) => ({ id, shared: signed?.get(id) }));
          const entries = own.filter((entry): entry is SignedMove => entry.shared !== undefined);
          const body = { ids: part, folderId, ...(entries.length === 0 ? {} : { entries }) };
          return callOn(connection, moveMany, { body }, options);
        });
      if (connection.sharedVaults === null) return send(ids);
      return (await sharedCode(connection).many()).moveSigned(connection, [...ids], folderId, send, moving);
    },
  };
}

/** A request that fails as a whole is the outcome of its ids and of all after them. Rejects when the signal aborts. */
async function inRequests(
  connection: Connection,
  { id: endpoint }: Act,
  ids: Iterable<string>,
  { signal }: CallOptions = {},
  send: Send,
): Promise<ItemOutcome[]> {
  const all = [...ids];
  const outcomes: ItemOutcome[] = [];
  for (let at = 0; at < all.length; at += REQUEST_IDS) {
    const some = all.slice(at, at + REQUEST_IDS);
    try {
      const { results } = await send(some);
      if (results.length !== some.length || results.some(({ id }, place) => id !== some[place]))
        throw new ContractError("response", endpoint, ["body.results: other ids than were sent"]);
      for (const { id, error } of results)
        outcomes.push({ id, error: error === null ? null : await partErrorOf(error, connection) });
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof SdkError) || all.length <= REQUEST_IDS) throw error;
      return [...outcomes, ...all.slice(at).map((id) => ({ id, error }))];
    }
  }
  return outcomes;
}
