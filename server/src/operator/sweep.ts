/** `coffer-server sweep`: what the hourly sweep would find, and, where it stopped, an operator's word that it may go on. */
import { type Found, sweepOrphans } from "../jobs/sweep.ts";
import { openRunningTime } from "../jobs/running-time.ts";
import { systemClock } from "../ports/clock.ts";
import { openBeside } from "../storage.ts";
import { type OperatorCommand, refusalToDelete, type Streams, tellingMigrations } from "./command.ts";
import { isConfirmed } from "./confirming.ts";
import { FLAG, read } from "./options.ts";

const EXIT_DONE = 0;
const EXIT_REFUSED = 1;

export const sweepStore: OperatorCommand = {
  words: "sweep",
  options: "[--dry-run | --yes]",
  about:
    "Shows how many contents no row names. Without --dry-run it asks, and puts them into quarantine for 7 days, also where the server's sweep stopped because there are so many.",
  async run(config, words, streams) {
    const { values } = read(sweepStore, words, { "dry-run": FLAG, yes: FLAG });
    await using storage = await openBeside(config, tellingMigrations(streams));
    const deps = {
      ...storage,
      clock: systemClock,
      settings: config.settings,
      runningTime: openRunningTime(storage.database),
      log: { info: () => undefined, error: (_: unknown, message: string) => streams.note(`${message}\n`) },
    };
    const { found } = await sweepOrphans(deps, { as: "look" });
    if (found === undefined) return EXIT_REFUSED;
    tell(found, streams);
    if (values["dry-run"] === true || found.orphans + found.partials === 0) return EXIT_DONE;
    const refusal = await refusalToDelete(storage);
    if (refusal !== null) {
      streams.note(refusal);
      return EXIT_REFUSED;
    }
    const question = `Put ${String(found.orphans)} contents into quarantine, and delete the bytes of ${String(found.partials)} unfinished uploads?`;
    if (!(await isConfirmed(streams, question, values.yes))) return EXIT_REFUSED;
    const swept = await sweepOrphans(deps, { as: "confirmed" });
    streams.note(`${String(swept.orphans)} contents lie in quarantine: quarantine list shows them\n`);
    return EXIT_DONE;
  },
};

function tell(found: Found, streams: Streams): void {
  const { contents, named, orphans, orphanBytes, before, partials, stopped } = found;
  streams.out(`${String(contents)} contents in the store, ${String(named)} of them named by files and kept versions\n`);
  streams.out(
    `${String(orphans)} that no row names, with ${String(orphanBytes)} bytes; ${String(before)} of the last 7 days in quarantine\n`,
  );
  streams.out(`${String(partials)} unfinished uploads that no row names\n`);
  if (stopped !== null)
    streams.note(`The server's sweep takes nothing: ${stopped}. Make sure that this is the database of this store\n`);
}
