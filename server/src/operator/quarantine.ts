/** `coffer-server quarantine …`: what is to be deleted, and stays in the store until then. Works beside a running server. */
import type { Config } from "../config.ts";
import { actOn } from "../features/account/act.ts";
import {
  keepForOperator,
  listNamed,
  listQuarantine,
  listQuarantined,
  putBack,
  type Selection,
  sumQuarantine,
} from "../features/quarantine/store.ts";
import { add, type Deleted, DELETED_AT_ONCE, deleteContents } from "../jobs/blob-deletions.ts";
import { openRunningTime } from "../jobs/running-time.ts";
import { systemClock } from "../ports/clock.ts";
import type { Database } from "../ports/database.ts";
import type { DeletionReason, QuarantineRow } from "../ports/quarantine-tables.ts";
import { systemRandom } from "../ports/random.ts";
import { openBeside, openExisting } from "../storage.ts";
import { type OperatorCommand, refusalToDelete, type Streams, tellingMigrations } from "./command.ts";
import { isConfirmed } from "./confirming.ts";
import { FLAG, read, TEXT, usageError } from "./options.ts";

const EXIT_DONE = 0;
const EXIT_REFUSED = 1;
const HOUR = 60 * 60_000;
/** Rows of one step: a step is short, so requests run in between. */
const PAGE = 500;
/** Keys on one command line. */
const MOST_KEYS = 500;
const REASONS: readonly DeletionReason[] = ["deleted", "expired", "replaced", "orphan", "confirmed", "upload"];

export const listOfQuarantine: OperatorCommand = {
  words: "quarantine list",
  options: "[--reason <reason>] [--json]",
  about:
    "Lists the contents that are to be deleted, why, and how many hours of running time they have left. What was deleted for good lies here for 24 hours, what no row names for 7 days.",
  async run(config, words, streams) {
    const { values } = read(listOfQuarantine, words, { reason: TEXT, json: FLAG });
    const selection = { reason: reasonIn(listOfQuarantine, values.reason) };
    await using database = await openExisting(config, tellingMigrations(streams));
    const total = await openRunningTime(database).total();
    if (values.json !== true) streams.out(`${line("KEY", "REASON", "HOURS LEFT", "BYTES", "ACCOUNT")}\n`);
    for await (const row of rowsOf(database, selection))
      streams.out(`${values.json === true ? renderJson(row, total) : renderLine(row, total)}\n`);
    for (const { reason, contents, bytes } of await sumQuarantine(database))
      streams.note(`${reason}: ${String(contents)} contents, ${String(bytes)} bytes\n`);
    return EXIT_DONE;
  },
};

export const restoreOfQuarantine: OperatorCommand = {
  words: "quarantine restore",
  options: "<key>… | --all | --reason <reason>",
  about:
    "Keeps contents of the quarantine. What a row names again is put back; everything else stays until rows that name it come back, or until quarantine purge deletes it.",
  async run(config, words, streams) {
    const { values, positionals } = read(restoreOfQuarantine, words, { all: FLAG, reason: TEXT }, MOST_KEYS);
    const selection = selectionIn(restoreOfQuarantine, values, positionals);
    await using database = await openExisting(config, tellingMigrations(streams));
    let [back, kept] = [0, 0];
    for await (const keys of pagesOf(database, selection)) {
      const done = await database.transaction(async (transaction) => {
        const named = await listNamed(transaction, keys);
        const others = keys.filter((key) => !named.has(key));
        return { back: await putBack(transaction, [...named]), kept: await keepForOperator(transaction, others) };
      });
      [back, kept] = [back + done.back, kept + done.kept];
    }
    streams.note(`${String(back)} contents are put back, ${String(kept)} are kept until quarantine purge\n`);
    return back + kept === 0 ? EXIT_REFUSED : EXIT_DONE;
  },
};

export const purgeOfQuarantine: OperatorCommand = {
  words: "quarantine purge",
  options: "<key>… | --all | --reason <reason> [--yes]",
  about:
    "Deletes contents of the quarantine at once, to free space; those that a row names again are put back. It asks first; --yes is for scripts. The audit log of each account names the operator.",
  async run(config, words, streams) {
    const options = { all: FLAG, reason: TEXT, yes: FLAG };
    const { values, positionals } = read(purgeOfQuarantine, words, options, MOST_KEYS);
    return purge(config, selectionIn(purgeOfQuarantine, values, positionals), values.yes, streams);
  },
};

async function purge(
  config: Config,
  selection: Selection,
  yes: boolean | undefined,
  streams: Streams,
): Promise<number> {
  await using storage = await openBeside(config, tellingMigrations(streams));
  const { database } = storage;
  let [contents, bytes] = [0, 0];
  const accounts = new Set<string>();
  for await (const row of rowsOf(database, selection)) {
    [contents, bytes] = [contents + 1, bytes + row.bytes];
    if (row.account_id !== null) accounts.add(row.account_id);
  }
  if (contents === 0) {
    streams.note("There is nothing of that in quarantine: quarantine list shows what is\n");
    return EXIT_DONE;
  }
  const refusal = await refusalToDelete(storage);
  if (refusal !== null) {
    streams.note(refusal);
    return EXIT_REFUSED;
  }
  const question = `Delete ${String(contents)} contents with ${String(bytes)} bytes now? Nothing brings them back.`;
  if (!(await isConfirmed(streams, question, yes))) return EXIT_REFUSED;
  await recordInAuditLogs(database, [...accounts]);
  const log = { info: () => undefined, error: (_: unknown, message: string) => streams.note(`${message}\n`) };
  let sum: Deleted = { deleted: 0, putBack: 0, failed: 0 };
  for await (const keys of pagesOf(database, selection))
    sum = add(sum, await deleteContents({ ...storage, log }, keys, null));
  const { deleted, putBack: back, failed } = sum;
  streams.note(
    `Deleted ${String(deleted)} contents, put ${String(back)} back that rows name, ${String(failed)} failed\n`,
  );
  return failed === 0 ? EXIT_DONE : EXIT_REFUSED;
}

/** Before the deletion: what was deleted was noted. What belongs to no account is in no account's log. */
async function recordInAuditLogs(database: Database, accountIds: readonly string[]): Promise<void> {
  const deps = { database, clock: systemClock, random: systemRandom };
  for (let at = 0; at < accountIds.length; at += PAGE)
    for (const { id } of await listQuarantined(database, accountIds.slice(at, at + PAGE))) {
      const change = {
        action: "quarantine.purged",
        actor: { kind: "operator" },
        target: { kind: "account", id },
      } as const;
      await actOn(deps, id, (act) => act.record(change), { freesSpace: true });
    }
}

function reasonIn(command: OperatorCommand, text: string | undefined): DeletionReason | undefined {
  if (text === undefined) return undefined;
  const reason = REASONS.find((known) => known === text);
  if (reason === undefined) throw usageError(command, `--reason is one of ${REASONS.join(", ")}`);
  return reason;
}

function selectionIn(
  command: OperatorCommand,
  { all, reason }: { readonly all?: boolean | undefined; readonly reason?: string | undefined },
  keys: readonly string[],
): Selection {
  const said = [all === true, reason !== undefined, keys.length > 0].filter(Boolean).length;
  if (said !== 1) throw usageError(command, "say which: keys that quarantine list shows, --reason, or --all");
  return keys.length > 0 ? { keys } : { reason: reasonIn(command, reason) };
}

async function* pagesOf(database: Database, selection: Selection): AsyncGenerator<string[]> {
  for (let after = ""; ;) {
    const rows = await listQuarantine(database, selection, { after, limit: DELETED_AT_ONCE });
    if (rows.length > 0) yield rows.map((row) => row.blob_key);
    if (rows.length < DELETED_AT_ONCE) return;
    after = rows.at(-1)?.blob_key ?? after;
  }
}

async function* rowsOf(database: Database, selection: Selection): AsyncGenerator<QuarantineRow> {
  for (let after = ""; ;) {
    const rows = await listQuarantine(database, selection, { after, limit: PAGE });
    yield* rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.blob_key ?? after;
  }
}

/** Whole hours; null: until an operator purges it. */
function hoursLeft({ ends }: QuarantineRow, total: number): number | null {
  return ends === null ? null : Math.max(0, Math.ceil((ends - total) / HOUR));
}

function renderJson(row: QuarantineRow, total: number): string {
  const { blob_key: key, reason, bytes, account_id: accountId } = row;
  const since = new Date(row.since).toISOString();
  return JSON.stringify({ key, reason, bytes, accountId, since, hoursLeft: hoursLeft(row, total) });
}

function renderLine(row: QuarantineRow, total: number): string {
  const hours = hoursLeft(row, total);
  return line(
    row.blob_key,
    row.reason,
    hours === null ? "kept" : String(hours),
    String(row.bytes),
    row.account_id ?? "",
  );
}

function line(key: string, reason: string, hours: string, bytes: string, account: string): string {
  return [key.padEnd(36), reason.padEnd(9), hours.padStart(10), bytes.padStart(15), account].join("  ").trimEnd();
}
