/** Lists that the service gives page by page: how much of one is to be read, and how it is shown. */
import type { Context } from "./context.ts";
import { count, text, toggle } from "./declarations.ts";
import { listing, type Listing, type ListingOptions } from "./result.ts";

/** Flags of every list with pages. */
export const PAGE_FLAGS = {
  limit: count("At most so many; 100 without it"),
  cursor: text("Go on where the list before ended", { placeholder: "CURSOR" }),
  all: toggle("The whole list, however long it is"),
};

export interface PageChoice {
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
  readonly all: boolean;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

const STANDARD = 100;
/** The service's own limit of one page. */
const MOST_OF_PAGE = 1_000;

/** As many pages of the service as it takes, as one. */
export async function readPages<Item>(
  { limit = STANDARD, cursor, all }: PageChoice,
  load: (query: { readonly limit: number; readonly cursor?: string }) => PromiseLike<Page<Item>>,
): Promise<Page<Item>> {
  const most = all ? Number.POSITIVE_INFINITY : limit;
  const items: Item[] = [];
  let position = cursor;
  for (;;) {
    const query = { limit: Math.min(MOST_OF_PAGE, most - items.length) };
    const page = await load(position === undefined ? query : { ...query, cursor: position });
    items.push(...page.items);
    if (page.nextCursor === null || items.length >= most) return { items, nextCursor: page.nextCursor };
    position = page.nextCursor;
  }
}

/** A page, and how to see those after it. */
export function pageListing<Item>(
  { printNote, globals }: Context,
  { items, nextCursor }: Page<Item>,
  words: Omit<ListingOptions<Item>, "items">,
): Listing {
  const more = nextCursor === null ? [] : [`There is more: add --all, or --cursor ${nextCursor}`];
  // Lines of JSON have no place for it.
  if (globals.jsonLines) for (const line of more) printNote(line);
  return listing({
    ...words,
    items,
    otherFields: { ...words.otherFields, nextCursor },
    after: [...(words.after ?? []), ...more],
  });
}
