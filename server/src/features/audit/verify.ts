/** The check of an account's chain in the database, from what the retention removed last to the account's head. */
import { hash } from "node:crypto";
import { type AuditCheck, type AuditEvent, type AuditLink, checkAuditChain } from "@coffer/contract";
import type { Queries } from "../../ports/database.ts";
import { toAuditEvent } from "../changes/events.ts";
import { listChangesAfter } from "../changes/store.ts";
import { BATCH, findChainEnds } from "./store.ts";

export interface AccountCheck extends AuditCheck {
  /** What the account says its newest entry is. */
  readonly head: AuditLink;
  /** The newest entry that the retention removed; sequence 0: none. */
  readonly removed: AuditLink;
}

interface VerifyOptions {
  /** Noted earlier; see `AuditExpectation` of the contract. */
  readonly expect?: AuditLink | undefined;
  /** Hears how many entries of the account have been read. */
  readonly onProgress?: (entries: number) => void;
}

/**
 * Checks every entry of the account; null when there is no such account. `queries` must see one state of the database
 * throughout: a transaction, or a snapshot. Holds one batch of rows in memory.
 */
export async function verifyAccount(
  queries: Queries,
  accountId: string,
  options: VerifyOptions = {},
): Promise<AccountCheck | null> {
  const ends = await findChainEnds(queries, accountId);
  if (ends === null) return null;
  const { expect, onProgress = () => undefined } = options;
  const known = { before: ends.before, head: ends.head, ...(expect === undefined ? {} : { expect }) };
  const sha256 = (text: string): string => hash("sha256", text, "hex");
  const check = await checkAuditChain(accountId, readEntries(queries, accountId, onProgress), sha256, known);
  return { ...check, head: ends.head, removed: ends.before };
}

/** Every row of the account there is, also one that the chain does not expect. */
async function* readEntries(
  queries: Queries,
  accountId: string,
  onProgress: (entries: number) => void,
): AsyncGenerator<AuditEvent> {
  let entries = 0;
  for (let after = Number.MIN_SAFE_INTEGER; ;) {
    const rows = await listChangesAfter(queries, { accountId, after, limit: BATCH });
    for (const row of rows) yield toAuditEvent(row);
    entries += rows.length;
    onProgress(entries);
    const last = rows.at(-1);
    if (rows.length < BATCH || last === undefined) return;
    after = last.sequence;
  }
}
