/** `coffer-server move`: all data to other storage, such as from SQLite and disk to PostgreSQL and S3, and back. */
import { isDeepStrictEqual } from "node:util";
import { type Config, parseConfig, placeOf, placeOfBlobs } from "../config.ts";
import { readEnvFile } from "../config/env-file.ts";
import { listContents } from "../features/moving/blobs.ts";
import { cancelMove, MoveError, moveAll, type Side } from "../features/moving/moving.ts";
import { countRows } from "../features/moving/rows-store.ts";
import { MOVED } from "../features/moving/tables.ts";
import { systemClock } from "../ports/clock.ts";
import type { Database } from "../ports/database.ts";
import { systemRandom } from "../ports/random.ts";
import { hasDatabase, openForMove } from "../storage.ts";
import type { OperatorCommand, Streams } from "./command.ts";
import { FLAG, read, TEXT, usageError } from "./options.ts";

const EXIT_DONE = 0;
const EXIT_REFUSED = 1;

export const moveData: OperatorCommand = {
  words: "move",
  options: "[--from <settings>] --to <settings> [--dry-run] | --cancel",
  about:
    "Moves all data to other storage, with every server stopped. The files have lines such as SERVICE_DATABASE_URL=…; without --from, this environment counts. Run it again after a break. The old storage then serves nobody.",
  async run(environment, words, streams) {
    const options = { from: TEXT, to: TEXT, "dry-run": FLAG, cancel: FLAG };
    const { values } = read(moveData, words, options);
    const from = values.from === undefined ? environment : settingsIn(values.from, streams);
    if (!(await hasDatabase(from))) throw new Error(`there is no database ${placeOf(from.database)} to move from`);
    if (values.cancel === true) return cancel(from, streams);
    if (values.to === undefined) throw usageError(moveData, "the settings of the new storage are missing");
    const to = settingsIn(values.to, streams);
    const problem = problemOf(from, to);
    if (problem !== null) throw usageError(moveData, problem);
    return values["dry-run"] === true ? tryOut(from, to, streams) : move(from, to, streams);
  },
};

function settingsIn(path: string, streams: Streams): Config {
  const { values, warning } = readEnvFile(path);
  if (warning !== null) streams.note(`${warning}\n`);
  return parseConfig(values);
}

function problemOf(from: Config, to: Config): string | null {
  if (isDeepStrictEqual(from.database, to.database))
    return "both sides have the same database: give the new settings another one";
  if (!isDeepStrictEqual(from.secrets.masterKey, to.secrets.masterKey))
    return "the new settings need the same SERVICE_MASTER_KEY: it encrypts secrets in the rows";
  return null;
}

function placeIn(config: Config): string {
  return `${placeOf(config.database)} with ${placeOfBlobs(config.blobs)}`;
}

async function move(from: Config, to: Config, streams: Streams): Promise<number> {
  await using source = await openForMove(from);
  if (!source.alone) {
    streams.note("A server or another command uses the old data directory: stop it, and move again\n");
    return EXIT_REFUSED;
  }
  await using target = await openForMove(to);
  const side = (config: Config, { database, blobs }: Pick<Side, "database" | "blobs">): Side => ({
    database,
    blobs,
    place: placeIn(config),
  });
  const sides = { from: side(from, source), to: side(to, target) };
  const sharesBlobs = isDeepStrictEqual(from.blobs, to.blobs);
  const say = (line: string): void => streams.note(`move: ${line}\n`);
  try {
    const moved = await moveAll({ ...sides, sharesBlobs, clock: systemClock, random: systemRandom, say });
    say(`done: ${String(moved.rows)} rows and ${String(moved.contents)} contents. Start servers with the new settings`);
    return EXIT_DONE;
  } catch (error) {
    if (!(error instanceof MoveError)) throw error;
    say(error.message);
    return EXIT_REFUSED;
  }
}

/** Reads the old storage and asks the new one, and writes nothing. */
async function tryOut(from: Config, to: Config, streams: Streams): Promise<number> {
  await using source = await openForMove(from);
  let rows = 0;
  for (const table of MOVED) {
    const count = await countRows(source.database, table);
    rows += count;
    if (count > 0) streams.out(`${table.name}: ${String(count)}\n`);
  }
  let [contents, bytes] = [0, 0];
  for await (const { size } of listContents(source.database)) [contents, bytes] = [contents + 1, bytes + size];
  streams.out(`${String(rows)} rows, ${String(contents)} contents with ${String(bytes)} bytes\n`);
  const unfinished = await countUnfinished(source.database);
  if (unfinished > 0) streams.out(`${String(unfinished)} unfinished uploads stay behind: their clients begin again\n`);
  if (await hasDatabase(to)) streams.note(`move: ${placeOf(to.database)} exists; a move needs it empty\n`);
  streams.note(`move: nothing was written. It would go from ${placeIn(from)} to ${placeIn(to)}\n`);
  return EXIT_DONE;
}

async function countUnfinished(database: Database): Promise<number> {
  const query = database.build
    .selectFrom("uploads")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("finished_file_id", "is", null);
  return (await database.first(query))?.count ?? 0;
}

async function cancel(from: Config, streams: Streams): Promise<number> {
  await using source = await openForMove(from);
  const isCancelled = await cancelMove(source);
  streams.note(isCancelled ? "The data stay here: servers may start again\n" : "No move from here is under way\n");
  return isCancelled ? EXIT_DONE : EXIT_REFUSED;
}
