/** `coffer-server move`: all data to other storage, such as from SQLite and disk to PostgreSQL and S3, and back. */
import { isDeepStrictEqual } from "node:util";
import { type Config, ConfigError, parseConfig, placeOf, placeOfBlobs } from "../config.ts";
import { decodeMasterKey } from "../config/secrets.ts";
import { listContents } from "../features/moving/blobs.ts";
import { cancelMove, MoveError, moveAll, type Side } from "../features/moving/moving.ts";
import { countRows } from "../features/moving/rows-store.ts";
import { MOVED } from "../features/moving/tables.ts";
import { systemClock } from "../ports/clock.ts";
import type { Database } from "../ports/database.ts";
import { systemRandom } from "../ports/random.ts";
import { hasDatabase, openForMove, requireStore } from "../storage.ts";
import { type OperatorCommand, type Streams, tellingMigrations } from "./command.ts";
import { FLAG, read, TEXT, usageError } from "./options.ts";
import { readConfigFile, readSettings } from "./settings-file.ts";

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
    const from = values.from === undefined ? environment : readConfigFile(values.from, streams);
    if (!(await hasDatabase(from))) throw new Error(`there is no database ${placeOf(from.database)} to move from`);
    if (values.cancel === true) return cancel(from, streams);
    if (values.to === undefined) throw usageError(moveData, "the settings of the new storage are missing");
    const to = configOfTarget(values.to, from, streams);
    if (isDeepStrictEqual(from.database, to.database))
      throw usageError(moveData, "both sides have the same database: give the new settings another one");
    return values["dry-run"] === true ? tryOut(from, to, streams) : move(from, to, streams);
  },
};

/** Servers start with them next, so each setting is named that one of them lacks. */
function configOfTarget(path: string, from: Config, streams: Streams): Config {
  const settings = readSettings(path, streams);
  const problems: string[] = [];
  let config: Config | null = null;
  try {
    config = parseConfig(settings);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
  }
  const masterKey = config?.secrets.masterKey ?? decodeMasterKey(settings["SERVICE_MASTER_KEY"] ?? "");
  if (masterKey !== null && !isDeepStrictEqual(masterKey, from.secrets.masterKey))
    problems.push("SERVICE_MASTER_KEY: needs to be that of the old settings: it encrypts secrets in the rows");
  if ((settings["SERVICE_DATA_DIR"] ?? "") === "")
    problems.push("SERVICE_DATA_DIR: name the directory for what the new servers keep on their own disk");
  if (config === null || problems.length > 0)
    throw new ConfigError(problems, `${path} has to have all settings of the new servers`);
  return config;
}

function placeIn(config: Config): string {
  return `${placeOf(config.database)} with ${placeOfBlobs(config.blobs)}`;
}

async function move(from: Config, to: Config, streams: Streams): Promise<number> {
  await using source = await openForMove(from, tellingMigrations(streams));
  if (!source.alone) {
    streams.note("A server or another command uses the old data directory: stop it, and move again\n");
    return EXIT_REFUSED;
  }
  await requireStore(to.blobs, source.database);
  await using target = await openForMove(to, tellingMigrations(streams));
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
  await using source = await openForMove(from, tellingMigrations(streams));
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
  await requireStore(to.blobs, source.database);
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
  await using source = await openForMove(from, tellingMigrations(streams));
  const isCancelled = await cancelMove(source);
  streams.note(isCancelled ? "The data stay here: servers may start again\n" : "No move from here is under way\n");
  return isCancelled ? EXIT_DONE : EXIT_REFUSED;
}
