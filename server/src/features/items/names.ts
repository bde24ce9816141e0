/** Names are unique among the live files of a place, and among its live folders. */
import { isTaken, type Queries } from "../../ports/database.ts";
import { ServiceError } from "../../service-error.ts";
import type { ItemKind } from "../reach/kinds.ts";
import { isNameTaken, type Place } from "./store.ts";

export interface WantedName {
  readonly name: string;
  /** The request's own condition: then a taken name fails it. */
  readonly ifNoneMatch?: boolean;
}

/** Also called before any byte is read, so that most senders learn early; the act has the last word. */
export async function refuseTakenName(
  queries: Queries,
  kind: ItemKind,
  place: Place,
  { name, ifNoneMatch = false }: WantedName,
): Promise<void> {
  if (await isNameTaken(queries, kind, place, name)) throw nameTaken(kind, ifNoneMatch);
}

/** The unique indexes have the last word. */
export async function nameOrConflict<Result>(write: Promise<Result>, ifNoneMatch = false): Promise<Result> {
  try {
    return await write;
  } catch (cause) {
    if (isTaken(cause, "files_live_name")) throw nameTaken("file", ifNoneMatch, cause);
    throw isTaken(cause, "folders_live_name") ? nameTaken("folder", ifNoneMatch, cause) : cause;
  }
}

export function nameTaken(kind: ItemKind, ifNoneMatch = false, cause?: unknown): ServiceError {
  const message = `A ${kind} of this name exists in this place`;
  return new ServiceError(ifNoneMatch ? "precondition_failed" : "name_exists", message, { cause });
}
