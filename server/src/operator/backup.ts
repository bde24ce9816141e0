/** `coffer-server backup`: rows and contents in a directory, while the server runs. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUILD, VERSION } from "../build.ts";
import { backUpContents, backUpRows, type ContentsOfBackup } from "../features/backup/backup.ts";
import { type Manifest, renderManifest } from "../features/backup/manifest.ts";
import { systemClock } from "../ports/clock.ts";
import { systemRandom } from "../ports/random.ts";
import { findVersion } from "../schema/migrate.ts";
import { createBackup, digestBackup, openBeside } from "../storage.ts";
import { type OperatorCommand, tellingMigrations } from "./command.ts";
import { FLAG, read, usageError } from "./options.ts";

const EXIT_DONE = 0;
const EXIT_INCOMPLETE = 1;

const NOTHING: ContentsOfBackup = { copied: 0, bytes: 0, missing: [] };

export const backUp: OperatorCommand = {
  words: "backup",
  options: "<directory> [--list]",
  about:
    "Copies all rows of one moment and then their contents, while the server runs, into a new directory for its owner alone. With --list the contents stay in their store, and come back only while it has them or keeps their versions. The master key is not in a backup: keep it elsewhere. Exits with 1 when the store lacks contents that rows name.",
  async run(config, words, streams) {
    const { values, positionals } = read(backUp, words, { list: FLAG }, 1);
    const [directory] = positionals;
    if (directory === undefined) throw usageError(backUp, "the directory is missing");
    const isListed = values.list === true;
    const say = (line: string): void => streams.note(`backup: ${line}\n`);
    await using storage = await openBeside(config, tellingMigrations(streams));
    const [id, began] = [systemRandom.uuid(), systemClock.now()];
    let made: Pick<Manifest, "rows" | "schema">;
    let contents = NOTHING;
    {
      await using copy = await createBackup(directory);
      const { rows, heads } = await backUpRows(storage, copy.database, { id, clock: systemClock, say });
      writeFileSync(join(directory, "heads.txt"), heads.join(""), { mode: 0o600 });
      if (!isListed) contents = await backUpContents(copy.database, storage.blobs, copy.blobs, say);
      made = { rows, schema: await findVersion(copy.database) };
    }
    const { missing } = contents;
    if (missing.length > 0)
      writeFileSync(join(directory, "missing.txt"), missing.map((key) => `${key}\n`).join(""), { mode: 0o600 });
    const manifest: Manifest = {
      format: 1,
      id,
      madeAt: new Date(began).toISOString(),
      version: VERSION,
      build: BUILD,
      ...made,
      of: storage.places,
      rowsSha256: await digestBackup(directory),
      contents: isListed ? "listed" : "copied",
      copied: contents.copied,
      bytes: contents.bytes,
      missing: missing.length,
    };
    writeFileSync(join(directory, "backup.json"), renderManifest(manifest), { mode: 0o600, flush: true });
    if (isListed)
      say(
        `the contents are still only in ${storage.places.contents}: this backup comes back while they are there, or while the bucket keeps their versions`,
      );
    if (missing.length > 0) {
      say(`${String(missing.length)} contents that rows name are not whole in the store: missing.txt has their keys`);
      return EXIT_INCOMPLETE;
    }
    say(`done. Keep SERVICE_MASTER_KEY, which is not in it, and a copy of heads.txt elsewhere`);
    return EXIT_DONE;
  },
};
