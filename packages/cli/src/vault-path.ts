/** How a line names a vault before a path. */

/** `VAULT:PATH`. null: the text has no such form. A single letter is a drive of Windows. */
export function splitPlace(given: string): { readonly vault: string; readonly path: string } | null {
  const colon = given.indexOf(":");
  if (colon < 1 || /^(\.{0,2}[/\\]|[a-z]:[/\\])/i.test(given)) return null;
  return { vault: given.slice(0, colon), path: given.slice(colon + 1) };
}
