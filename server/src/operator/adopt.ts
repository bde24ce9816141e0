/** `coffer-server adopt`: an operator says that a database and a store belong together. Works beside a running server, and where none starts. */
import {
  takeOver,
  busyUntil,
  type ContentsFound,
  countContents,
  findPair,
  type PairFound,
} from "../features/pairing/adoption.ts";
import { systemClock } from "../ports/clock.ts";
import { systemRandom } from "../ports/random.ts";
import { openBeside } from "../storage.ts";
import { type OperatorCommand, tellingMigrations } from "./command.ts";
import { isConfirmed } from "./confirming.ts";
import { FLAG, read } from "./options.ts";

const EXIT_DONE = 0;
const EXIT_REFUSED = 1;

export const adoptStore: OperatorCommand = {
  words: "adopt",
  options: "[--yes]",
  about:
    "Says that these rows and these contents belong together, where a server refuses to start on them or has stopped to delete. Shows what it found and asks first; --yes answers.",
  async run(config, words, streams) {
    const { values } = read(adoptStore, words, { yes: FLAG });
    await using pair = await openBeside(config, tellingMigrations(streams));
    const { rows, contents } = pair.places;
    const found = await findPair(pair);
    streams.out(renderMarks(found, pair.places));
    const until = busyUntil(found, systemClock.now());
    if (until !== null) {
      const again = `Stop that server, and run this again after ${timeOf(until)}`;
      streams.note(`The server of another database renewed the mark of ${contents} in the last 30 minutes. ${again}\n`);
      return EXIT_REFUSED;
    }
    streams.out(renderContents(await countContents(pair.database, pair.blobs)));
    const question = `What these rows do not name is going to be deleted. Do ${rows} and ${contents} belong together?`;
    if (!(await isConfirmed(streams, question, values.yes))) return EXIT_REFUSED;
    if (await takeOver({ ...pair, clock: systemClock, random: systemRandom }, found)) {
      streams.note(`${rows} and ${contents} belong together from now on\n`);
      return EXIT_DONE;
    }
    streams.note(
      `Another server has renewed the mark of ${contents} meanwhile: stop it, and run this again in 30 minutes\n`,
    );
    return EXIT_REFUSED;
  },
};

function renderMarks({ row, text, mark }: PairFound, { rows, contents }: { rows: string; contents: string }): string {
  const known =
    row === null
      ? "know no store"
      : `know the store ${row.store_id}, renewed ${row.renewed_at === null ? "never" : timeOf(row.renewed_at)}`;
  const shown =
    mark === null
      ? `has ${text === null ? "no mark" : "a mark that cannot be read"}`
      : `is the store ${mark.storeId}, renewed ${timeOf(mark.renewedAt)}`;
  const stopped = row === null || row.stopped === null ? "" : `Deletion has stopped: ${row.stopped}\n`;
  return `The rows of ${rows} ${known}\n${contents} ${shown}\n${stopped}`;
}

function renderContents({ named, unknown, missing }: ContentsFound): string {
  return [
    `In the store: ${String(named)} contents that these rows name, ${String(unknown)} that they do not`,
    `Not in the store: ${String(missing)} contents that these rows name`,
    "",
  ].join("\n");
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
