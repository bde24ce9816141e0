/** The author of a version, as it is kept with it. */
import type { Author } from "@coffer/contract";
import type { Principal } from "../../handler.ts";

/** The contract's `Author` in JSON. It names a member of another account by the address alone. */
export function renderAuthor(principal: Principal, accountId: string): string {
  const { kind, keyId, sessionId, name, chainAddress } = principal;
  const isOwn = principal.accountId === accountId;
  const author: Author = { kind, id: isOwn ? (keyId ?? sessionId) : null, name: isOwn ? name : null, chainAddress };
  return JSON.stringify(author);
}

export function parseAuthor(text: string | null): Author | null {
  return text === null ? null : (JSON.parse(text) as Author);
}

/** The same for all versions of one author. All sessions of an account are one: else each sign-in would begin a new bound. */
export function authorKeyOf(text: string | null): string {
  const author = parseAuthor(text);
  if (author === null) return "";
  return author.kind === "api-key" ? (author.id ?? "") : author.kind;
}
