/** `coffer-server audit verify`: checks the audit log in the database file, beside the running server or without it. */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { AuditLink } from "@coffer/contract";
import { findEntryOfNobody, listAccountIds } from "../features/audit/store.ts";
import { type AccountCheck, verifyAccount } from "../features/audit/verify.ts";
import { parseHeads } from "../features/backup/heads.ts";
import { findVersion, refuseEarlier } from "../schema/migrate.ts";
import type { DatabaseReader } from "../ports/database.ts";
import { explainDatabase } from "../storage-trouble.ts";
import { readDatabase } from "../storage.ts";
import { type OperatorCommand, type Streams, UsageError } from "./command.ts";

const EXIT_INTACT = 0;
const EXIT_ALTERED = 1;
/** The log could not be read, or what was expected lies before its beginning: which says nothing about it. */
const EXIT_UNREADABLE = 2;

const PROGRESS_EVERY = 100_000;

/**
 * Checks every account from the oldest entry to the newest. Numbers have no gaps, each hash is computed again and
 * named by the next entry, and the end is the account's. Names the first entry of an account that was altered, deleted
 * or inserted.
 * A chain in the same database protects against edits of rows. It does not protect against somebody who can write the
 * whole database and computes every hash again. The output therefore names the newest entry and its hash. Noted
 * elsewhere and passed later as `--expect`, or the `heads.txt` of a backup as `--heads`, it shows that too.
 */
export const auditVerify: OperatorCommand = {
  words: "audit verify",
  options: "[--account <id> [--expect <sequence>:<hash>] | --heads <file>] [--json]",
  about:
    "Checks every audit log and names the first altered entry. Exits with 0 if all are intact, 1 if one was altered, 2 if it could not check.",
  async run(config, options, streams) {
    const wanted = parseOptions(options);
    try {
      await using database = readDatabase(config);
      refuseEarlier(await database.snapshot(findVersion));
      return await verify(database, wanted, streams);
    } catch (failure) {
      // Whatever it was: what cannot be read is not altered, and the status of a failed program would say so.
      const error = explainDatabase(failure, config.database);
      streams.note(`Could not check: ${error instanceof Error ? error.message : String(error)}\n`);
    }
    return EXIT_UNREADABLE;
  },
};

interface Wanted {
  readonly account: string | undefined;
  /** By account, the entries that were noted elsewhere. */
  readonly expected: ReadonlyMap<string, AuditLink>;
  readonly json: boolean;
}

function parseOptions(options: readonly string[]): Wanted {
  const { account, expect, heads, json = false } = readWords(options);
  if (heads !== undefined && (account !== undefined || expect !== undefined))
    throw new UsageError("--heads names accounts and entries by itself: leave --account and --expect out");
  if (heads !== undefined) return { account, expected: readHeads(heads), json };
  if (expect === undefined) return { account, expected: new Map(), json };
  const [, sequence, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(expect) ?? [];
  if (account === undefined || hash === undefined) {
    throw new UsageError("--expect needs <sequence>:<hash> as this command prints it, and --account with the id");
  }
  return { account, expected: new Map([[account, { sequence: Number(sequence), hash }]]), json };
}

function readHeads(file: string): ReadonlyMap<string, AuditLink> {
  try {
    return parseHeads(readFileSync(file, "utf8"));
  } catch (error) {
    throw new UsageError(`--heads ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readWords(options: readonly string[]) {
  const text = { type: "string" } as const;
  const known = { account: text, expect: text, heads: text, json: { type: "boolean" } } as const;
  try {
    return parseArgs({ args: [...options], options: known, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(`audit verify: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Each account in a snapshot of its own: a long one would keep a running server from tidying up. */
async function verify(database: DatabaseReader, wanted: Wanted, streams: Streams): Promise<number> {
  const counts = { accounts: 0, entries: 0, altered: 0, unchecked: 0 };
  const print = wanted.json ? renderJson : renderLine;
  const missing = new Set(wanted.expected.keys());
  for await (const accountId of accountsOf(database, wanted.account)) {
    missing.delete(accountId);
    const options = { expect: wanted.expected.get(accountId), onProgress: progressOf(streams) };
    const check = await database.snapshot((queries) => verifyAccount(queries, accountId, options));
    if (check === null) {
      streams.note(`There is no account ${accountId}\n`);
      return EXIT_UNREADABLE;
    }
    counts.accounts += 1;
    counts.entries += check.entries;
    if (check.fault !== null) counts.altered += 1;
    streams.out(print(accountId, check));
    if (isUnchecked(check, options.expect)) counts.unchecked += 1;
  }
  for (const accountId of missing) {
    const fault = {
      sequence: wanted.expected.get(accountId)?.sequence ?? 0,
      id: null,
      kind: "missing",
      reason: "the account is gone",
    } as const;
    streams.out(
      wanted.json ? `${JSON.stringify({ accountId, intact: false, fault })}\n` : renderFault(accountId, fault),
    );
    counts.altered += 1;
  }
  if (wanted.account === undefined) counts.altered += await reportNobody(database, wanted, streams);
  const outcome = counts.altered === 0 ? "intact" : `${counts.altered} altered`;
  const entries = counts.entries === 1 ? "1 entry" : `${counts.entries} entries`;
  const accounts = counts.accounts === 1 ? "1 account" : `${counts.accounts} accounts`;
  streams.note(`${entries} of ${accounts}: ${outcome}\n`);
  if (counts.altered > 0) return EXIT_ALTERED;
  if (counts.unchecked === 0) return EXIT_INTACT;
  const entry = wanted.account === undefined ? `Of ${counts.unchecked} logs the noted entry` : "The noted entry";
  streams.note(`${entry} is older than the log is kept: it could not be checked\n`);
  return EXIT_UNREADABLE;
}

async function* accountsOf(database: DatabaseReader, only: string | undefined): AsyncGenerator<string> {
  if (only !== undefined) {
    yield only;
    return;
  }
  for (let after = ""; ;) {
    const from = after;
    const ids = await database.snapshot((queries) => listAccountIds(queries, from));
    yield* ids;
    const last = ids.at(-1);
    if (last === undefined) return;
    after = last;
  }
}

function progressOf(streams: Streams): (entries: number) => void {
  let next = PROGRESS_EVERY;
  return (entries) => {
    if (entries < next) return;
    streams.note(`${entries} entries read\n`);
    next += PROGRESS_EVERY;
  };
}

/** Rows under an id that no account has: moved there, or made up. */
async function reportNobody(database: DatabaseReader, { json }: Wanted, streams: Streams): Promise<number> {
  const row = await database.snapshot((queries) => findEntryOfNobody(queries));
  if (row === null) return 0;
  const { account_id: accountId, sequence, id } = row;
  const fault = { sequence, id, kind: "inserted", reason: "there is no such account" } as const;
  streams.out(json ? `${JSON.stringify({ accountId, intact: false, fault })}\n` : renderFault(accountId, fault));
  return 1;
}

/** Not a success: somebody who rewrites a log can also claim that the entry was removed for its age. */
function isUnchecked({ removed }: AccountCheck, expect: AuditLink | undefined): boolean {
  return expect !== undefined && expect.sequence < removed.sequence;
}

function renderJson(accountId: string, { entries, head, removed, fault }: AccountCheck): string {
  return `${JSON.stringify({ accountId, intact: fault === null, entries, removed: removed.sequence, head, fault })}\n`;
}

function renderLine(accountId: string, { entries, head, removed, fault }: AccountCheck): string {
  if (fault !== null) return renderFault(accountId, fault);
  const gone = removed.sequence === 0 ? "" : `, ${removed.sequence} older ones removed`;
  return `${accountId}: intact, ${entries} entries${gone}, newest ${head.sequence}:${head.hash}\n`;
}

function renderFault(accountId: string, { kind, sequence, id, reason }: NonNullable<AccountCheck["fault"]>): string {
  const named = id === null ? "" : ` (id ${JSON.stringify(id)})`;
  return `${accountId}: ${kind.toUpperCase()} entry ${sequence}${named}: ${reason}\n`;
}
