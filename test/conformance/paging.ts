import { StepFailed } from "./conversation.ts";

/** A server that hands out cursors for ever must not keep a run from ending. */
const MAX_PAGES = 2000;

/** Every item of a list, page by page. */
export async function walkPages<Page extends { readonly nextCursor: string | null }, Item>(
  ask: (cursor: { cursor?: string }) => Promise<Page>,
  items: (page: Page) => readonly Item[],
): Promise<Item[]> {
  const all: Item[] = [];
  let cursor: { cursor?: string } = {};
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const page = await ask(cursor);
    all.push(...items(page));
    if (page.nextCursor === null) return all;
    cursor = { cursor: page.nextCursor };
  }
  throw new StepFailed(`a list did not end after ${String(MAX_PAGES)} pages`);
}
