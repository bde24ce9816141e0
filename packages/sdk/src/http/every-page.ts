/** Reading a list of the service to its end. */
import { ContractError } from "./errors.ts";

/** Pages of a list that goes by. At a thousand rows a page they hold a hundred million. */
export const MAX_PAGES = 100_000;
/** Pages of a list that a call keeps whole in memory: keys, vaults, versions of one file. */
export const MAX_PAGES_IN_MEMORY = 1_000;

/** The `nextCursor` of the page before; none for the first page. */
export interface PageCursor {
  readonly cursor?: string;
}

/**
 * Page after page until the last one. Every list that a call reads to its end passes here. Without a bound, a service
 * with a new cursor on each page would keep the call for ever, and fill its memory.
 * @throws ContractError after `most` pages.
 */
export async function* everyPage<Page extends { readonly nextCursor: string | null }>(
  listId: string,
  load: (place: PageCursor) => PromiseLike<Page>,
  most = MAX_PAGES,
): AsyncGenerator<Page, void, undefined> {
  let place: PageCursor = {};
  for (let count = 0; count < most; count += 1) {
    const page = await load(place);
    yield page;
    if (page.nextCursor === null) return;
    place = { cursor: page.nextCursor };
  }
  throw new ContractError("response", listId, [`body.nextCursor: the list has not ended after ${String(most)} pages`]);
}
