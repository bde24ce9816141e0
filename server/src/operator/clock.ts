/** `coffer-server clock confirm`: ends the wait of jobs that doubt the clock. Works beside a running server, and before a start. */
import { listAccountIds } from "../features/audit/store.ts";
import { actOn } from "../features/account/act.ts";
import { confirmClock, readClockState } from "../jobs/running-time.ts";
import { type Clock, systemClock } from "../ports/clock.ts";
import type { Database } from "../ports/database.ts";
import { systemRandom } from "../ports/random.ts";
import { openExisting } from "../storage.ts";
import { type OperatorCommand, tellingMigrations } from "./command.ts";
import { read } from "./options.ts";

const EXIT_DONE = 0;
const OPERATOR = { kind: "operator" } as const;

export const confirmClockNow: OperatorCommand = {
  words: "clock confirm",
  options: "",
  about:
    "Says that the clock is right, after it was found to be behind, far ahead or set. Jobs delete and expire at once what is due, and no longer wait for a day. The audit log of each account names the operator.",
  async run(config, words, streams) {
    read(confirmClockNow, words, {});
    await using database = await openExisting(config, tellingMigrations(streams));
    streams.note(`The clock of this machine says ${new Date(systemClock.now()).toISOString()}\n`);
    const doubt = await readClockState({ database, clock: systemClock });
    if (doubt === null) {
      streams.note("Nothing waits: the clock is believed\n");
      return EXIT_DONE;
    }
    streams.note(`${doubt}\n`);
    // Before it counts: what is deleted from now on was confirmed by somebody.
    const noted = await recordForAll({ database, clock: systemClock });
    await confirmClock({ database, clock: systemClock });
    streams.note(`Confirmed, and noted in the audit log of ${String(noted)} accounts: jobs go on within a minute\n`);
    return EXIT_DONE;
  },
};

/** Each in an act of its own: it is the account's log. Returns how many there are. */
async function recordForAll(deps: { readonly database: Database; readonly clock: Clock }): Promise<number> {
  const noted = { action: "server.clock_confirmed", actor: OPERATOR, target: { kind: "server", id: "clock" } } as const;
  let count = 0;
  for (let after = ""; ;) {
    const ids = await listAccountIds(deps.database, after);
    for (const id of ids) {
      await actOn({ ...deps, random: systemRandom }, id, (act) => act.record(noted), { freesSpace: true });
      count += 1;
    }
    const last = ids.at(-1);
    if (last === undefined) return count;
    after = last;
  }
}
