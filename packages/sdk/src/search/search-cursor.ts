/** The cursor of `client.search`: the positions in the local indexes, and in each search of the service. */
import { ContractError } from "../http/errors.ts";
import type { SortKey } from "./name-table.ts";

/** The position in a search of the service. */
export interface ServicePosition {
  /** The page that the next row is on; null: the first one. */
  readonly cursor: string | null;
  /** The row of that page that was returned last; null: none. */
  readonly last: string | null;
  /** How many of its rows were returned: counts when the last one is gone. */
  readonly returned: number;
  readonly isDone: boolean;
}

export interface SearchPosition {
  /** null: nothing of the local indexes was returned. */
  readonly local: SortKey | null;
  /** By vault; "" is the search of all of the account. */
  readonly service: Readonly<Record<string, ServicePosition>>;
}

export const START: SearchPosition = { local: null, service: {} };
export const FIRST: ServicePosition = { cursor: null, last: null, returned: 0, isDone: false };

/** `searchId`: the search that it belongs to, without its words. */
export function encodeCursor(searchId: string, { local, service }: SearchPosition): string {
  const bytes = new TextEncoder().encode(JSON.stringify([searchId, local, service]));
  return btoa(String.fromCharCode(...bytes));
}

/** @throws ContractError `invalid_request` for a cursor of another search. */
export function decodeCursor(searchId: string, cursor: string | undefined): SearchPosition {
  if (cursor === undefined) return START;
  try {
    const bytes = Uint8Array.from(atob(cursor), (character) => character.charCodeAt(0));
    const [ofSearch, local, service] = JSON.parse(new TextDecoder().decode(bytes)) as [string, SortKey | null, object];
    if (ofSearch === searchId && typeof service === "object")
      return { local, service: service as SearchPosition["service"] };
  } catch {
    // The error below says what to do.
  }
  throw new ContractError("request", "client.search", ["cursor: it is not of this search. Begin without a cursor"]);
}
