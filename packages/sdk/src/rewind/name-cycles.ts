/** Items that wait for each other's names: in a cycle, none can be renamed before another one is. */

/** Where an item is, and where it is to be: keys that are equal for the same name in the same place. */
export interface NameMove<Item> {
  readonly item: Item;
  readonly current: string;
  readonly target: string;
}

/** The items of each cycle. In a cycle the target of each item is what the next one has, and that of the last one is what the first has. */
export function cyclesOf<Item>(moves: readonly NameMove<Item>[]): Item[] {
  const holders = new Map(moves.map((move) => [move.current, move]));
  // The move that the walk to each began at. A walk that ends where it has been itself went round.
  const walks = new Map<NameMove<Item>, NameMove<Item>>();
  const items: Item[] = [];
  for (const start of moves) {
    let next: NameMove<Item> | undefined = start;
    for (; next !== undefined && !walks.has(next); next = holders.get(next.target)) walks.set(next, start);
    if (next === undefined || walks.get(next) !== start) continue;
    const first = next;
    do {
      items.push(next.item);
      next = holders.get(next.target);
    } while (next !== undefined && next !== first);
  }
  return items;
}
