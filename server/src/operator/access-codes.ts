/** `coffer-server access-codes …`: who may sign up (specification §5.5). Works beside a running server, on its database. */
import { addAccessCode } from "../features/access-codes/creation.ts";
import { type ListedAccessCode, toListed } from "../features/access-codes/rules.ts";
import { findAccessCode, listAccessCodes, revokeAccessCode } from "../features/access-codes/store.ts";
import { requireOrigin } from "../features/origin/origin.ts";
import { systemClock } from "../ports/clock.ts";
import { systemRandom } from "../ports/random.ts";
import { type Config, placeOf } from "../config.ts";
import { isServed, openExisting } from "../storage.ts";
import { type OperatorCommand, type Streams, tellingMigrations, UsageError } from "./command.ts";
import { FLAG, read, TEXT, usageError } from "./options.ts";

const EXIT_DONE = 0;
const EXIT_UNKNOWN = 1;
const MAX_USES = 1_000_000;
const MAX_DAYS = 3650;
const MAX_NOTE = 200;

export const createAccessCodes: OperatorCommand = {
  words: "access-codes create",
  options: "[--uses <n>] [--expires-in-days <n>] [--note <text>] [--json]",
  about:
    "Makes a code to sign up with, for one use unless you say otherwise. You see it only this once; the server keeps its hash.",
  async run(config, words, streams) {
    const known = { uses: TEXT, "expires-in-days": TEXT, note: TEXT, json: FLAG } as const;
    const { values } = read(createAccessCodes, words, known);
    const wanted = {
      uses: parseNumber("--uses", values.uses, MAX_USES) ?? 1,
      expiresInDays: parseNumber("--expires-in-days", values["expires-in-days"], MAX_DAYS),
      note: parseNote(values.note),
    };
    await using database = await openExisting(config, tellingMigrations(streams));
    await requireOrigin(database, config);
    warnUnserved(config, streams);
    const made = await addAccessCode({ database, clock: systemClock, random: systemRandom }, wanted);
    if (values.json === true) streams.out(`${JSON.stringify(made)}\n`);
    else {
      streams.out(`${made.code}\n`);
      streams.note(`Good for ${countOf(made.usesLeft)}${until(made)}. Its id, to revoke it: ${made.id}\n`);
    }
    return EXIT_DONE;
  },
};

export const listAllAccessCodes: OperatorCommand = {
  words: "access-codes list",
  options: "[--json]",
  about: "Lists the codes, newest first, with what is left of each. Never shows the code itself.",
  async run(config, words, streams) {
    const { values } = read(listAllAccessCodes, words, { json: FLAG });
    await using database = await openExisting(config, tellingMigrations(streams));
    warnUnserved(config, streams);
    const now = systemClock.now();
    const codes = (await database.all(listAccessCodes(database, {}))).map((row) => toListed(row, now));
    if (values.json === true) streams.out(`${JSON.stringify({ accessCodes: codes })}\n`);
    else if (codes.length === 0) streams.note("There are no access codes: make one with access-codes create\n");
    else streams.out(renderTable(codes));
    return EXIT_DONE;
  },
};

export const revokeAccessCodes: OperatorCommand = {
  words: "access-codes revoke",
  options: "<id>",
  about: "Ends a code at once. Accounts that were made with it stay.",
  async run(config, words, streams) {
    const { positionals } = read(revokeAccessCodes, words, {}, 1);
    const [id] = positionals;
    if (id === undefined) throw usageError(revokeAccessCodes, "the id is missing, access-codes list shows it");
    await using database = await openExisting(config, tellingMigrations(streams));
    warnUnserved(config, streams);
    const revoked = await database.run(revokeAccessCode(database, { id, now: systemClock.now() }));
    if (revoked === 0 && (await database.first(findAccessCode(database, { id }))) === null) {
      streams.note(`There is no access code with the id ${JSON.stringify(id)}: access-codes list shows them\n`);
      return EXIT_UNKNOWN;
    }
    streams.note(revoked === 0 ? "It was revoked before\n" : "Revoked\n");
    return EXIT_DONE;
  },
};

/** Codes count where the server runs, and a command in another folder has other data. */
function warnUnserved(config: Config, streams: Streams): void {
  if (isServed(config)) return;
  streams.note(
    `No server runs on ${placeOf(config.database)}: codes of this database count at no other. SERVICE_DATA_DIR names the data of the one that you mean, and npm start prints the line for its own\n`,
  );
}

function parseNumber(option: string, text: string | undefined, maximum: number): number | null {
  if (text === undefined) return null;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > maximum) throw new UsageError(`${option} needs a whole number from 1 to ${maximum}`);
  return value;
}

/** A note is printed to terminals later: what moves a cursor or turns text around has no place in it. */
function parseNote(text: string | undefined): string | null {
  if (text === undefined || text === "") return null;
  if (text.length <= MAX_NOTE && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text)) return text;
  throw new UsageError(`--note takes one line of at most ${MAX_NOTE} characters`);
}

function countOf(uses: number): string {
  return uses === 1 ? "1 use" : `${uses} uses`;
}

function until({ expiresAt }: Pick<ListedAccessCode, "expiresAt">): string {
  return expiresAt === null ? "" : `, until ${expiresAt}`;
}

function renderTable(codes: readonly ListedAccessCode[]): string {
  const lines = codes.map(({ id, status, usesLeft, createdAt, expiresAt, note }) => [
    ...[id, status, String(usesLeft), createdAt.slice(0, 10), expiresAt?.slice(0, 10) ?? "never", note ?? ""],
  ]);
  const all = [["ID", "STATUS", "USES LEFT", "MADE", "EXPIRES", "NOTE"], ...lines];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0))) ?? [];
  const pad = (line: readonly string[]): string => line.map((text, at) => text.padEnd(widths[at] ?? 0)).join("  ");
  return `${all.map((line) => pad(line).trimEnd()).join("\n")}\n`;
}
