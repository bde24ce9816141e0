/** How a line names a vault before a path. */

/** `VAULT:PATH`. null: the text has no such form. A single letter is a drive of Windows. */
export function splitVaultPath(text: string): { readonly vault: string; readonly path: string } | null {
  const colon = text.indexOf(":");
  if (colon < 1 || /^(\.{0,2}[/\\]|[a-z]:[/\\])/i.test(text)) return null;
  return { vault: text.slice(0, colon), path: text.slice(colon + 1) };
}
