/** Changes of a file or folder on the condition that it still has the revision that was read. */

/** The header of a change under a condition. */
export function revisionHeader(ifRevision: number | undefined): { "if-match"?: string } {
  return ifRevision === undefined ? {} : { "if-match": `"${String(ifRevision)}"` };
}

/** Whether one change of that revision made the item as it is. */
export function isChanged<Item extends { readonly name: string; readonly revision: number }>(
  item: Item,
  change: Partial<Item>,
  ifRevision: number | undefined,
): boolean {
  const isNext = ifRevision !== undefined && item.revision === ifRevision + 1;
  const wanted = { ...change, ...(change.name === undefined ? {} : { name: change.name.normalize("NFC") }) };
  return isNext && Object.entries(wanted).every(([key, value]) => item[key as keyof Item] === value);
}
