/**
 * What a change of a file or folder in a shared vault follows (encryption design §9.3). The condition is the `previous` that
 * the change signs: no service can put the change after another state than that. The tag that a caller sees, and names, is
 * a digest of the statements that this client verified.
 */
import { SIGNED_TAG_TITLE, signedTag, type SharedEntry } from "@coffer/contract";
import { parseEntryStatement, statementHash } from "@coffer/crypto";
import { fromBase64, toBase64, toHex } from "../transfer/digest.ts";
import { preconditionFailed } from "./service-view.ts";

/** The statements of an item as the service shows them; a folder has no version. */
export type ShownStatements = Pick<SharedEntry, "entry"> & { readonly version?: string };

const TITLE = new TextEncoder().encode(`${SIGNED_TAG_TITLE}\0`);

/** The tag of an item with these statements. The caller verifies them. */
export function tagOf({ version, entry }: ShownStatements): string {
  const statements = [version, entry].flatMap((text) => (text === undefined ? [] : [hashOf(text)]));
  const parts = new Uint8Array(TITLE.length + statements.length * 32);
  parts.set(TITLE);
  for (const [at, statement] of statements.entries()) parts.set(statement, TITLE.length + at * 32);
  return signedTag(toBase64(statementHash(parts)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""));
}

function hashOf(text: string): Uint8Array {
  return statementHash(fromBase64(text) ?? new Uint8Array(0));
}

/**
 * The condition of one change, over all its attempts: the state that the caller named, or else the one that the first
 * attempt has read. Only a caller that wrote `*` lets a later attempt follow whatever is newest.
 */
export class Condition {
  /** null: whatever is newest. */
  #tag: string | null;
  #followed: ShownStatements | null;

  constructor(ifMatch: string | undefined, current: ShownStatements | null) {
    this.#followed = current;
    this.#tag = ifMatch === "*" || current === null ? null : (ifMatch ?? tagOf(current));
  }

  /**
   * The next attempt follows these statements.
   * @throws ApiError `precondition_failed` if they are not those of the condition.
   */
  require(current: ShownStatements | null): void {
    if (current === null) return;
    if (this.#tag !== null && tagOf(current) !== this.#tag) throw preconditionFailed("It has changed since that state");
    this.#followed = current;
  }

  /** This call itself has brought the folder's names under the current key: the item has the entry that it signed then. */
  acceptStaged(staged: ReadonlyMap<string, SharedEntry>, id: string): void {
    const [entry, before] = [staged.get(id), this.#followed];
    if (this.#tag === null || entry === undefined || before === null) return;
    const { previous } = parseEntryStatement(fromBase64(entry.entry) ?? new Uint8Array(0));
    if (toHex(previous) === toHex(hashOf(before.entry))) this.#tag = tagOf({ ...before, entry: entry.entry });
  }
}

/** A statement in its chain. `number`: the version's sequence, or the entry's revision. */
export interface Linked {
  readonly number: bigint;
  readonly previous: Uint8Array;
  readonly bytes: Uint8Array;
}

/**
 * Whether the service has stored a statement whose answer was lost: it is the current one, or an ancestor of it by
 * `previous`. The first of `newestFirst` is verified; its digests vouch for the others. null: the chain is not shown, so
 * the outcome is unknown.
 */
export async function isStored(sent: Linked, newestFirst: AsyncIterable<Linked>): Promise<boolean | null> {
  const sentHash = toHex(statementHash(sent.bytes));
  let newer = null as { readonly hash: string; readonly previous: string } | null;
  for await (const one of newestFirst) {
    const [hash, previous] = [toHex(statementHash(one.bytes)), toHex(one.previous)];
    // A list begins with the current one again.
    if (hash === newer?.hash) continue;
    if (newer !== null && newer.previous !== hash) return null;
    if (hash === sentHash || previous === sentHash) return true;
    if (one.number <= sent.number) return false;
    newer = { hash, previous };
  }
  return null;
}
