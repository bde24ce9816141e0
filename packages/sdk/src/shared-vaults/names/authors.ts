/** The signer of an entry: the only author that a client shows in shared vaults. */
import type { EntryStatement } from "@coffer/crypto";
import { toHex } from "../../transfer/digest.ts";
import type { Author } from "../../storage/item-types.ts";

/** `statement`: verified, or this client's own. */
export function signedBy({ signer }: Pick<EntryStatement, "signer">): Author {
  return { kind: "member", id: null, name: null, chainAddress: `0x${toHex(signer)}`, verified: true };
}

/** Every new content, name and place comes with a new entry, so its signer is the last author. The first one's is the maker. */
export function authorsOf(statement: Pick<EntryStatement, "signer" | "revision">): {
  readonly createdBy: Author | null;
  readonly updatedBy: Author;
} {
  const updatedBy = signedBy(statement);
  return { createdBy: statement.revision === 1n ? updatedBy : null, updatedBy };
}
