/** Lists that the service gives page by page: which part of one is wanted, and how it is shown. */
import type { Context } from "./context.ts";
import { count, text, toggle } from "./declarations.ts";
import { listing, type Listing, type ListingWords } from "./result.ts";

/** Flags of every list with pages. */
export const PAGE_FLAGS = {
  limit: count("At most so many; 100 without it"),
  cursor: text("Go on where the list before ended", { placeholder: "CURSOR" }),
  all: toggle("The whole list, however long it is"),
};

export interface Wanted {
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
  readonly all: boolean;
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

export interface Part<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

const STANDARD = 100;
/** The service's own limit of one page. */
const MOST_OF_PAGE = 1_000;

/** As many pages as it takes. */
export async function readPart<Item>(
  { limit = STANDARD, cursor, all }: Wanted,
  load: (query: { readonly limit: number; readonly cursor?: string }) => PromiseLike<Page<Item>>,
): Promise<Part<Item>> {
  const most = all ? Number.POSITIVE_INFINITY : limit;
  const items: Item[] = [];
  let place = cursor;
  for (;;) {
    const query = { limit: Math.min(MOST_OF_PAGE, most - items.length) };
    const page = await load(place === undefined ? query : { ...query, cursor: place });
    items.push(...page.items);
    if (page.nextCursor === null || items.length >= most) return { items, nextCursor: page.nextCursor };
    place = page.nextCursor;
  }
}

/** A part of a list, and how to see the rest. */
export function partListing<Item>(
  { note, globals }: Context,
  { items, nextCursor }: Part<Item>,
  words: Omit<ListingWords<Item>, "items">,
): Listing {
  const more = nextCursor === null ? [] : [`There is more: add --all, or --cursor ${nextCursor}`];
  // Lines of JSON have no place for it.
  if (globals.jsonLines) for (const line of more) note(line);
  return listing({ ...words, items, rest: { ...words.rest, nextCursor }, after: [...(words.after ?? []), ...more] });
}
