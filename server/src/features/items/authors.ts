/** The author of an item, an entry or a version, as it is kept with it. */
import type { Author } from "@coffer/contract";
import type { Principal } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import { findActingAddress } from "../reach/access.ts";

/** As it is kept. A vault may go to another account, and its keys stay with the one before. */
interface KeptAuthor extends Author {
  /** The account of the credential that `id` and `name` are of. Absent: there is none, or it is the item's own. */
  readonly accountId?: string;
}

/** A `KeptAuthor` in JSON. A member of another account is its address alone, with which it came to the vault. */
export async function renderAuthor(queries: Queries, principal: Principal, accountId: string): Promise<string> {
  const { kind, keyId, sessionId, name, chainAddress } = principal;
  const author: KeptAuthor =
    principal.accountId === accountId
      ? { kind, id: keyId ?? sessionId, name, chainAddress, accountId }
      : { kind, id: null, name: null, chainAddress: await findActingAddress(queries, principal) };
  return JSON.stringify(author);
}

/** Most rows of a list have one author: parsing it once is enough. */
let last: { readonly text: string; readonly author: Author; readonly accountId: string | undefined } | null = null;

function parseAuthor(text: string): NonNullable<typeof last> {
  if (last?.text === text) return last;
  const { accountId, ...author } = JSON.parse(text) as KeptAuthor;
  return (last = { text, author, accountId });
}

export type Viewer = Pick<Principal, "accountId">;

/** As the caller may see it: keys and sessions of another account have no name and no id for it. */
export function showAuthor(text: string | null, viewer: Viewer, row: { readonly account_id: string }): Author | null {
  if (text === null) return null;
  const { author, accountId = row.account_id } = parseAuthor(text);
  return accountId === viewer.accountId ? author : { ...author, id: null, name: null };
}

/**
 * The same for all works of one author. All sessions of an account are one: else each sign-in would begin a new bound. A member of another
 * account is its address.
 */
export function authorKeyOf(text: string | null): string {
  if (text === null) return "";
  const { kind, id, chainAddress } = parseAuthor(text).author;
  return kind === "api-key" || id === null ? (id ?? chainAddress ?? kind) : kind;
}
