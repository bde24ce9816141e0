/**
 * Acts over any number of rows, inside one transaction. They are written a piece at a time: a database that answers at
 * once gives nobody else a turn during a statement (decision 0024).
 */

/** Rows of one statement: some 20 ms. */
export const PIECE = 500;

/** Hands `write` all items, in their order, {@link PIECE} at a time. */
export async function inPieces<Item>(
  items: readonly Item[],
  write: (piece: readonly Item[]) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < items.length; at += PIECE) await write(items.slice(at, at + PIECE));
}

/** Repeats what changes at most {@link PIECE} rows, until there are none left for it. */
export async function untilNoneIsLeft(write: () => Promise<number>): Promise<void> {
  while ((await write()) > 0);
}
