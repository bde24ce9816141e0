/** Checks the account's audit log. Loaded on demand. */
import type { AuditCheck, AuditEvent, AuditLink } from "@coffer/contract";
import { checkAuditChain } from "@coffer/contract/audit-chain";
import type { CallOptions } from "../call.ts";
import { digestOf, toHex } from "../digest.ts";

/** What the log was found to be. */
export type AuditVerdict = AuditCheck;

export interface AuditVerifyOptions extends CallOptions {
  /** An entry noted earlier, kept where whoever alters the log cannot write. */
  readonly expect?: AuditLink | undefined;
  /** Asked for when absent. */
  readonly accountId?: string | undefined;
}

/** Walks the entries oldest first: all that come newest first are held in memory meanwhile. */
export async function verifyAudit(
  accountId: string,
  newestFirst: AsyncIterable<AuditEvent>,
  expect?: AuditLink,
): Promise<AuditVerdict> {
  const events: AuditEvent[] = [];
  for await (const event of newestFirst) events.push(event);
  return checkAuditChain(accountId, events.reverse(), hashHex, expect === undefined ? {} : { expect });
}

async function hashHex(text: string): Promise<string> {
  return toHex(await digestOf(new TextEncoder().encode(text)));
}
