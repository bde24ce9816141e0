/** One act on many files and folders: each has the result that it would have by itself (decision 0060). */
import type { api, Output } from "@coffer/contract";
import type { OutgoingBytes, Principal } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { actAs } from "../account/act.ts";
import { notFound } from "../acting.ts";
import { FOLDERS } from "../folders/changing.ts";
import {
  type Changing,
  type ChangingDeps,
  changeWithin,
  type ItemChange,
  type Named,
  type Particulars,
  restoreWithin,
  trashWithin,
} from "../items/changing.ts";
import { readFolderFor, readItemFor } from "../reach/items.ts";
import type { ItemKind } from "../reach/kinds.ts";
import { type Permits, withPermits } from "../reach/permits.ts";
import { findKindOf } from "../reach/store.ts";
import { FILES } from "./file-kind.ts";

type Answer = Output<typeof api.files.trashMany, OutgoingBytes>;

/** What is done with one item, within an act. */
interface ManyAct {
  one<Kind extends ItemKind>(changing: Changing, item: Particulars<Kind>, named: Named): Promise<unknown>;
  readonly freesSpace?: boolean;
}

/** What many acts name: `conditions` are those of some of the ids. */
export interface NamedMany {
  readonly ids: readonly string[];
  readonly conditions?: readonly { readonly id: string; readonly ifMatch: string }[] | undefined;
}

export function trashMany(deps: ChangingDeps, principal: Principal, many: NamedMany): Promise<Answer> {
  return actOnMany(deps, principal, many, { one: trashWithin, freesSpace: true });
}

/** What is not in the trash stays as it is: a repeat finds it so. */
export function restoreMany(deps: ChangingDeps, principal: Principal, many: NamedMany): Promise<Answer> {
  return actOnMany(deps, principal, many, {
    one: async (changing, item, named) => {
      try {
        return await restoreWithin(changing, item, { ...named, given: {} });
      } catch (error) {
        if (error instanceof ServiceError && error.code === "not_trashed") return null;
        throw error;
      }
    },
  });
}

interface ManyMoves extends NamedMany {
  /** null: to the top of the vault that each lies in. */
  readonly folderId: string | null;
  readonly entries?: readonly { readonly id: string; readonly shared: ItemChange["shared"] }[] | undefined;
}

/** Throws `not_found` for a folder that the caller may not see. */
export async function moveMany(
  deps: ChangingDeps,
  principal: Principal,
  { folderId, entries = [], ...many }: ManyMoves,
): Promise<Answer> {
  if (folderId !== null) await readFolderFor(deps.database, principal, folderId);
  const signed = new Map(entries.map(({ id, shared }) => [id, shared]));
  return actOnMany(deps, principal, many, {
    one: (changing, item, named) => changeWithin(changing, item, { ...named, folderId, shared: signed.get(named.id) }),
  });
}

interface Located extends Named {
  readonly kind: ItemKind;
  /** null: a public one of the caller's account. */
  readonly vaultId: string | null;
}

async function actOnMany(
  deps: ChangingDeps,
  principal: Principal,
  { ids, conditions = [] }: NamedMany,
  many: ManyAct,
): Promise<Answer> {
  const tags = new Map(conditions.map(({ id, ifMatch }) => [id, ifMatch]));
  const results = new Map<string, ServiceError | null>();
  // An act has one account, and permits of one vault.
  const groups = new Map<string | null, Located[]>();
  for (const id of new Set(ids)) {
    const found = await locate(deps, principal, id);
    if (found instanceof ServiceError) results.set(id, found);
    else groups.set(found.vaultId, [...(groups.get(found.vaultId) ?? []), { ...found, ifMatch: tags.get(id) }]);
  }
  for (const group of groups.values())
    for (let rest = group; rest.length > 0;) rest = await actOnSome(deps, principal, rest, many, results);
  return { results: ids.map((id) => ({ id, error: toError(results.get(id)) })) };
}

/** Throws nothing about an item: what it is refused with is the answer. */
async function locate(
  deps: ChangingDeps,
  principal: Principal,
  id: string,
): Promise<Omit<Located, "ifMatch"> | ServiceError> {
  const kind = await findKindOf(deps.database, id);
  if (kind === null) return notFound("File or folder");
  try {
    const { vault } = await readItemFor(deps.database, principal, kind, id);
    const lacksScope = kind === "folder" && principal.scopes !== null && !principal.scopes.has("folders:write");
    if (lacksScope) return new ServiceError("missing_scope", "The key lacks the scope folders:write");
    return { id, kind, vaultId: vault?.id ?? null };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // Whether an id that the caller may not see is a file or a folder is not disclosed.
    return error.code === "not_found" ? notFound("File or folder") : error;
  }
}

/** Others have their turn between two acts. */
const ACT_ITEMS = 100;

/** What the chain says of the caller in the vault, for all its items. */
const OF_THE_VAULT: ReadonlySet<string> = new Set([
  "not_a_member",
  "membership_ended",
  "chain_unavailable",
  "clock_skew",
]);
/** What the chain says of one item's statement. */
const OF_THE_STATEMENT: ReadonlySet<string> = new Set(["generation_moved", "statement_invalid"]);

/** One act over the first items. The items that are left. */
async function actOnSome(
  deps: ChangingDeps,
  principal: Principal,
  items: readonly Located[],
  many: ManyAct,
  results: Map<string, ServiceError | null>,
): Promise<Located[]> {
  let made: (ServiceError | null)[] = [];
  const work = (permits: Permits) =>
    actAs(
      deps,
      principal,
      async (act) => {
        made = [];
        for (const { id, kind, ifMatch } of items.slice(0, ACT_ITEMS)) {
          const changing = { act, deps, principal, permits };
          const done = await act.attempt(() =>
            kind === "file" ? many.one(changing, FILES, { id, ifMatch }) : many.one(changing, FOLDERS, { id, ifMatch }),
          );
          made.push(done instanceof ServiceError ? done : null);
          if (act.writtenRows >= deps.settings.limits.actRows) break;
        }
        return made;
      },
      { freesSpace: many.freesSpace ?? false },
    );
  try {
    const done = await withPermits(deps, principal, work);
    for (const [at, result] of done.entries()) results.set(items[at]?.id ?? "", result);
    return items.slice(done.length);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // The chain was asked for the item behind those that were made, and all of them were rolled back.
    const met = items[made.length];
    if (OF_THE_VAULT.has(error.code)) {
      for (const { id } of items) results.set(id, error);
      return [];
    }
    if (!OF_THE_STATEMENT.has(error.code) || met === undefined) throw error;
    results.set(met.id, error);
    return items.filter((item) => item !== met);
  }
}

function toError(result: ServiceError | null | undefined): Answer["results"][number]["error"] {
  if (result === undefined) throw new Error("an item of an act has no result");
  return result === null ? null : { code: result.code, message: result.message };
}
