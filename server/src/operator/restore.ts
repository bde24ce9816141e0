/** `coffer-server restore`: what `coffer-server backup` wrote, into a new database and a new store. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Config, onDirectory, placeOf, placeOfBlobs } from "../config.ts";
import { type Manifest, parseManifest } from "../features/backup/manifest.ts";
import { RestoreError, restoreAll, type Restored } from "../features/backup/restore.ts";
import { MoveError } from "../features/moving/moving.ts";
import { requireOrigin } from "../features/origin/origin.ts";
import { requireMasterKey } from "../master-key.ts";
import { systemClock } from "../ports/clock.ts";
import type { Database } from "../ports/database.ts";
import { systemRandom } from "../ports/random.ts";
import { createAtRest } from "../secrets/at-rest.ts";
import { openBackup, openContents, openForMove } from "../storage.ts";
import { type OperatorCommand, type Streams, tellingMigrations } from "./command.ts";
import { FLAG, read, TEXT, usageError } from "./options.ts";
import { readConfigFile } from "./settings-file.ts";

const EXIT_DONE = 0;
const EXIT_REFUSED = 1;
/** All that the backup has is there, and the backup lacks contents. */
const EXIT_INCOMPLETE = 1;

export const restore: OperatorCommand = {
  words: "restore",
  options: "<directory> [--data <directory>] [--contents <settings>] [--end-keys] [--trial]",
  about:
    "Brings a backup back into the database and the store of the settings, which must be empty; with --data into SQLite and a disk there. --contents names the settings of the store that has the contents of a backup that only lists them. --end-keys ends all API keys. --trial then serves it on loopback until Ctrl-C: it answers reads, refuses every write, and sends nothing. Run it again after a break. Exits with 1 when the backup lacks contents that rows name.",
  async run(config, words, streams) {
    const options = { data: TEXT, contents: TEXT, "end-keys": FLAG, trial: FLAG };
    const { values, positionals } = read(restore, words, options, 1);
    const [directory] = positionals;
    if (directory === undefined) throw usageError(restore, "the directory of the backup is missing");
    const manifest = readManifest(directory);
    if (manifest.contents === "listed" && values.contents === undefined)
      throw usageError(
        restore,
        `this backup only lists its contents: name the settings of the store that has them, ${manifest.of.contents}`,
      );
    const target = values.data === undefined ? config : onDirectory(config, values.data);
    const source = values.contents === undefined ? null : readConfigFile(values.contents, streams);
    if (source !== null && placeOfBlobs(source.blobs) === placeOfBlobs(target.blobs))
      throw usageError(
        restore,
        "the contents are copied out of their store into another one: name a new prefix or directory",
      );
    let restored: Restored;
    try {
      const endKeys = values["end-keys"] === true;
      restored = await run(directory, { manifest, target, source, endKeys, streams });
    } catch (error) {
      if (!(error instanceof RestoreError || error instanceof MoveError)) throw error;
      streams.note(`restore: ${error.message}\n`);
      return EXIT_REFUSED;
    }
    report(restored, manifest, streams);
    if (values.trial === true) return streams.serveTrial(target);
    return restored.missing.length > 0 ? EXIT_INCOMPLETE : EXIT_DONE;
  },
};

function readManifest(directory: string): Manifest {
  let text: string;
  try {
    text = readFileSync(join(directory, "backup.json"), "utf8");
  } catch (error) {
    throw new Error(`${directory} has no backup.json: it is no backup, or one that was broken off`, { cause: error });
  }
  return parseManifest(text);
}

interface Wanted {
  readonly manifest: Manifest;
  readonly target: Config;
  /** Where the contents of a backup are that only lists them. */
  readonly source: Config | null;
  readonly endKeys: boolean;
  readonly streams: Streams;
}

async function run(directory: string, { manifest, target, source, endKeys, streams }: Wanted): Promise<Restored> {
  const say = (line: string): void => streams.note(`restore: ${line}\n`);
  const { id, rowsSha256 } = manifest;
  await using backup = await openBackup(directory, {
    rowsSha256,
    scratch: target.dataDirectory,
    ...tellingMigrations(streams),
  });
  await requireFitting(backup.rows, target);
  await using stored = source === null ? null : await openContents(source.blobs, backup.rows);
  await using storage = await openForMove(target, tellingMigrations(streams));
  if (!storage.alone) throw new RestoreError("A server uses this data directory: stop it, and restore again");
  return await restoreAll({
    backup: { id, place: `the backup ${directory}`, rows: backup.rows, contents: stored ?? backup.contents },
    to: { ...storage, place: `${placeOf(target.database)} with ${placeOfBlobs(target.blobs)}` },
    endKeys,
    clock: systemClock,
    random: systemRandom,
    say,
  });
}

/** What a server on these rows would refuse is said before anything is written. */
async function requireFitting(rows: Database, target: Config): Promise<void> {
  await requireOrigin(rows, target);
  await requireMasterKey({ database: rows, atRest: createAtRest(target.secrets.masterKey, systemRandom) });
}

function report({ rows, contents, missing, endedKeys }: Restored, { madeAt }: Manifest, streams: Streams): void {
  const say = (line: string): void => streams.note(`restore: ${line}\n`);
  if (missing.length > 0) say(`${String(missing.length)} contents are not in the backup: ${missing.join(", ")}`);
  say(`done: ${String(rows)} rows and ${String(contents)} contents, compared and read back`);
  say(
    `everybody has to sign in again, and links in mails are over. ${endedKeys > 0 ? `${String(endedKeys)} API keys have ended. ` : ""}`.trim(),
  );
  const kept = endedKeys > 0 ? "Invites" : "API keys, invites";
  say(`${kept}, memberships and deletions are as they were on ${madeAt}: look through what was revoked since`);
}
