/** Checks the account's audit log. */
import { checkAuditChain, type AuditCheck, type AuditEvent, type AuditLink } from "@coffer/contract";
import { digestOf, toHex } from "../transfer/digest.ts";
import type { CallOptions } from "../connection/options.ts";

/** The result of the check. */
export interface AuditVerdict extends AuditCheck {}

/** For a check of the log. */
export interface AuditVerifyOptions extends CallOptions {
  /** An entry kept from an earlier check, in a place that nobody who alters the log can write to. Default: none is compared. */
  readonly expect?: AuditLink | undefined;
  /** UUID of the account. Default: the client asks the service for it. */
  readonly accountId?: string | undefined;
}

/** Pages of entries, newest first; {@link AuditPages} describes how they are read. */
export interface AuditPage {
  readonly events: readonly AuditEvent[];
  readonly nextCursor: string | null;
}

/** The log as the service lists it: page after page from the newest, and again the page at a cursor. */
export interface AuditPages {
  newestFirst(): AsyncIterable<AuditPage>;
  at(cursor: string): PromiseLike<AuditPage>;
}

/** Pages that stay in memory while the walk looks for the oldest entry; older ones are read a second time. */
const PAGES_IN_MEMORY = 10;

/**
 * Walks the entries oldest first, in the order of their chain, though the service lists the newest first. A few pages
 * are in memory, however long the log is. The walk leaves out entries written meanwhile: it reads no page again from
 * its newest end.
 */
export async function verifyAudit(accountId: string, pages: AuditPages, expect?: AuditLink): Promise<AuditVerdict> {
  return checkAuditChain(accountId, oldestFirst(pages), hashHex, expect === undefined ? {} : { expect });
}

async function* oldestFirst(pages: AuditPages): AsyncGenerator<AuditEvent, void, undefined> {
  const newer: AuditPage[] = [];
  const olderCursors: string[] = [];
  let cursor: string | null = null;
  for await (const page of pages.newestFirst()) {
    if (newer.length < PAGES_IN_MEMORY || cursor === null) newer.push(page);
    else olderCursors.push(cursor);
    cursor = page.nextCursor;
  }
  for (const from of olderCursors.reverse()) yield* (await pages.at(from)).events.toReversed();
  for (const { events } of newer.reverse()) yield* events.toReversed();
}

async function hashHex(text: string): Promise<string> {
  return toHex(await digestOf(new TextEncoder().encode(text)));
}
