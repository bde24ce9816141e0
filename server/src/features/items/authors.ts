/** The author of an item, an entry or a version, as it is kept with it. */
import type { Author } from "@coffer/contract";
import type { Principal } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import { findActingAddress } from "../reach/access.ts";

/** The contract's `Author` in JSON. It names a member of another account by the address alone, with which it came to the vault. */
export async function renderAuthor(queries: Queries, principal: Principal, accountId: string): Promise<string> {
  const { kind, keyId, sessionId, name, chainAddress } = principal;
  const author: Author =
    principal.accountId === accountId
      ? { kind, id: keyId ?? sessionId, name, chainAddress }
      : { kind, id: null, name: null, chainAddress: await findActingAddress(queries, principal) };
  return JSON.stringify(author);
}

/** Most rows of a list have one author: parsing it once is enough. */
let last: { readonly text: string; readonly author: Author } | null = null;

function parseAuthor(text: string | null): Author | null {
  if (text === null) return null;
  if (last?.text !== text) last = { text, author: JSON.parse(text) as Author };
  return last.author;
}

export type Viewer = Pick<Principal, "accountId">;

/** As the caller may see it: keys and sessions of another account have no name and no id for it. */
export function showAuthor(
  text: string | null,
  { accountId }: Viewer,
  row: { readonly account_id: string },
): Author | null {
  const author = parseAuthor(text);
  return author === null || row.account_id === accountId ? author : { ...author, id: null, name: null };
}

/**
 * The same for all works of one author. All sessions of an account are one: else each sign-in would begin a new bound. A member of another
 * account is its address.
 */
export function authorKeyOf(text: string | null): string {
  const author = parseAuthor(text);
  if (author === null) return "";
  const { kind, id, chainAddress } = author;
  return kind === "api-key" || id === null ? (id ?? chainAddress ?? kind) : kind;
}
