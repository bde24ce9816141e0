/** Items that wait for each other's names. */

/** Where an item is, and where it is to be: keys that are equal for the same name in the same place. */
export interface Wish<Item> {
  readonly item: Item;
  readonly has: string;
  readonly wants: string;
}

/** The items of each circle. In a circle each item wants what the next one has, and the last one what the first has. */
export function circlesOf<Item>(wishes: readonly Wish<Item>[]): Item[] {
  const holders = new Map(wishes.map((wish) => [wish.has, wish]));
  // From which wish each was first come to. A walk that ends where it has been itself went round.
  const walks = new Map<Wish<Item>, Wish<Item>>();
  const found: Item[] = [];
  for (const start of wishes) {
    let next: Wish<Item> | undefined = start;
    for (; next !== undefined && !walks.has(next); next = holders.get(next.wants)) walks.set(next, start);
    if (next === undefined || walks.get(next) !== start) continue;
    const first = next;
    do {
      found.push(next.item);
      next = holders.get(next.wants);
    } while (next !== undefined && next !== first);
  }
  return found;
}
