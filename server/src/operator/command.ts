/** What a command of the operator is; the list of them is in commands.ts. */
import type { Config } from "../config.ts";
import { findDoubt, type Paired } from "../features/pairing/pairing.ts";
import { systemClock } from "../ports/clock.ts";
import { systemRandom } from "../ports/random.ts";
import type { OpenOptions } from "../storage.ts";

/** Where a command writes: results on `out`, what it has to say about them on `note`. */
export interface Streams {
  out(text: string): void;
  note(text: string): void;
  /** Asks at the terminal; null: nobody is there to be asked. */
  ask(question: string): Promise<string | null>;
  /** Serves reads on loopback until it is stopped; the exit status. */
  serveTrial(config: Config): Promise<number>;
  /** The file of settings that `--env-file` named; null: all of them are in the environment. */
  readonly envFile: string | null;
}

export interface OperatorCommand {
  /** The words that name it: `access-codes create`. */
  readonly words: string;
  /** Its options, as the usage shows them. */
  readonly options: string;
  readonly about: string;
  /** It changes the settings file, which may be root's, and reads no data. */
  readonly changesSettings?: true;
  /** Resolves with the exit status. Throws {@link UsageError} for unknown options. */
  run(config: Config, options: readonly string[], streams: Streams): Promise<number>;
}

/** Why nothing may be deleted in the store of these rows, as a sentence with the next step; null: it may. */
export async function refusalToDelete(pair: Paired): Promise<string | null> {
  const doubt = await findDoubt({ ...pair, clock: systemClock, random: systemRandom });
  return doubt === null
    ? null
    : `${pair.places.rows} and ${pair.places.contents} may not belong together (${doubt}): nothing is deleted. coffer-server adopt shows both\n`;
}

/** For who opens the database: a newer program changes its schema, and servers of earlier releases may end because of it. */
export function tellingMigrations(streams: Pick<Streams, "note">): OpenOptions {
  return {
    onMigration: ({ version, name, place }) => streams.note(`${place} has schema ${String(version)} now: ${name}\n`),
  };
}

/** The words cannot be read; the message says what is expected. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
