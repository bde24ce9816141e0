import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeDatabase } from "../../../../test/suites/database.ts";
import { openSqlite } from "./sqlite.ts";

describeDatabase("SQLite", async () => {
  const directory = await mkdtemp(join(tmpdir(), "coffer-database-"));
  return {
    open: () => openSqlite({ path: join(directory, "coffer.db"), reserveBytes: 65_536 }),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
});
