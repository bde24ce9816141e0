/** The search of the fake: every row is looked at, by the same rules of words as the service's. */
import {
  isAuthor,
  isOfType,
  rankName,
  searchWords,
  type api,
  type EndpointDefinition,
  type File,
  type HandlerInput,
} from "@coffer/contract";
import type { GroupHandlers } from "../handlers.ts";
import { listItems } from "./items.ts";
import { pageOf, readRow, type Caller, type FileRow, type State } from "./state.ts";

type Search = typeof api.files.search;
type SearchQuery = HandlerInput<Search & EndpointDefinition, never>["query"];

/** Further than any row's number: all of a better rank come first. */
const BEST = 1e12;

export function searchHandlers(state: State): Pick<GroupHandlers<typeof api.files, Caller>, "search"> {
  return {
    search: ({ query }, caller) => {
      if (query.folderId !== undefined) readRow(state, state.folders, caller, query.folderId, "Folder");
      const wanted = searchWords(query.q ?? "");
      const found = listItems(state, state.files, caller, { vaultId: query.vaultId, trashed: query.trashed })
        .filter((row) => fits(state, row, query))
        .flatMap((row) => {
          const rank = rankName(searchWords(row.value.name), wanted);
          return rank === null ? [] : [{ ...row, sequence: row.sequence + (2 - rank) * BEST }];
        });
      const { items, nextCursor } = pageOf<File>(found, query);
      return { files: items, nextCursor, complete: true };
    },
  };
}

function fits(state: State, { value: file }: FileRow, query: SearchQuery): boolean {
  const { minSize = 0, maxSize = Number.POSITIVE_INFINITY, type, by, since = "", until, folderId } = query;
  return (
    (type === undefined || isOfType(file.contentType, type)) &&
    file.size >= minSize &&
    file.size <= maxSize &&
    file.createdAt >= since &&
    (until === undefined || file.createdAt < until) &&
    (by === undefined || [file.createdBy, file.updatedBy].some((author) => isAuthor(author, by))) &&
    (folderId === undefined || liesBelow(state, file.folderId, folderId))
  );
}

function liesBelow(state: State, from: string | null, root: string): boolean {
  for (let at = from; at !== null; at = state.folders.get(at)?.value.parentId ?? null) if (at === root) return true;
  return false;
}
