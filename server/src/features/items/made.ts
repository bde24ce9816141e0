/** Items of shared vaults have their ids from the client: sent again, they are found again. */
import type { Principal } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import { ServiceError } from "../../service-error.ts";
import { readItemFor, type Seen } from "../reach/items.ts";
import type { ItemKind, ItemRows } from "../reach/kinds.ts";
import { findEndedItem } from "./history-removal-store.ts";
import { findKindOf } from "../reach/store.ts";

/**
 * The item that this very request made; null: the id is free. An id that is taken otherwise, here or in a vault that
 * the caller does not see, gets the same error. So does one of the other kind: ids identify entries. Throws
 * `statement_invalid`: use a new id.
 */
export async function findMadeItem<Kind extends ItemKind>(
  queries: Queries,
  principal: Principal,
  kind: Kind,
  { id, isSame }: { readonly id: string; readonly isSame: (row: ItemRows[Kind]) => boolean },
): Promise<Seen<ItemRows[Kind]> | null> {
  const statement = kind === "file" ? "version" : "entry";
  const taken = () =>
    new ServiceError("statement_invalid", `${statement}: the ${kind} id cannot be used, choose another`);
  const found = await findKindOf(queries, id);
  // The versions and entries of one that is gone would be taken for those of the new one.
  if (found === null && (await findEndedItem(queries, id)) !== null) throw taken();
  if (found === null) return null;
  if (found !== kind) throw taken();
  const seen = await readItemFor(queries, principal, kind, id).catch((cause: unknown) => {
    throw cause instanceof ServiceError && cause.code === "not_found" ? taken() : cause;
  });
  if (!isSame(seen.row)) throw taken();
  return seen;
}
