/** How owners' commands name things. */
import { shortIds, untrusted, type Untrusted } from "@coffer/tasks";
import type { Context } from "../../context.ts";

export { endText } from "../../times.ts";

/** Ids of one table, as short as they stay different. */
export const short = shortIds;

/** A word of the service's vocabulary, which it may extend. */
export const word = (text: string): string | Untrusted => (/^[\w.:-]{1,64}$/.test(text) ? text : untrusted(text));

/** null: all that the access level allows. */
export const scopesText = (scopes: readonly string[] | null): string | Untrusted =>
  scopes === null ? "all" : untrusted(scopes.join(" "));

/** null: every vault of the account. */
export const vaultsText = (vaultIds: readonly string[] | null, shorten: (id: string) => string): string =>
  vaultIds === null ? "all" : vaultIds.map(shorten).join(" ");

/** Remarks of the chain about an act. */
export function printWarnings({ printNote }: Context, warnings: readonly { readonly message: string }[]): void {
  for (const { message } of warnings) printNote("warning: ", message);
}
