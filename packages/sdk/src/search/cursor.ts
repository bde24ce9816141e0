/** The place of `client.search` between two pages: one in the local indexes, and one in each search of the service. */
import { ContractError } from "../http/errors.ts";
import type { Place } from "./name-table.ts";

/** The place in a search of the service. */
export interface ServicePlace {
  /** The page that the next row is on; null: the first one. */
  readonly cursor: string | null;
  /** The row of that page that was given out last; null: none. */
  readonly last: string | null;
  /** How many rows of it were given out: counts when the last one is gone. */
  readonly taken: number;
  readonly isDone: boolean;
}

export interface SearchPlace {
  /** null: nothing of the local indexes was given out. */
  readonly local: Place | null;
  /** By vault; "" is the search of all of the account. */
  readonly service: Readonly<Record<string, ServicePlace>>;
}

export const BEGIN: SearchPlace = { local: null, service: {} };
export const FIRST: ServicePlace = { cursor: null, last: null, taken: 0, isDone: false };

/** `asked`: the search that it belongs to, without its words. */
export function encodePlace(asked: string, { local, service }: SearchPlace): string {
  const bytes = new TextEncoder().encode(JSON.stringify([asked, local, service]));
  return btoa(String.fromCharCode(...bytes));
}

/** @throws ContractError `invalid_request` for a cursor of another search. */
export function decodePlace(asked: string, cursor: string | undefined): SearchPlace {
  if (cursor === undefined) return BEGIN;
  try {
    const bytes = Uint8Array.from(atob(cursor), (character) => character.charCodeAt(0));
    const [of, local, service] = JSON.parse(new TextDecoder().decode(bytes)) as [string, Place | null, object];
    if (of === asked && typeof service === "object") return { local, service: service as SearchPlace["service"] };
  } catch {
    // The error below says what to do.
  }
  throw new ContractError("request", "client.search", ["cursor: it is not of this search. Begin without a cursor"]);
}
