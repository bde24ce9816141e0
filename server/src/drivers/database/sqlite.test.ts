import { rm } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { describeDatabase } from "../../../../test/suites/database.ts";
import { openSqlite } from "./sqlite.ts";

describeDatabase("SQLite", async () => {
  const directory = makeDirectory();
  return {
    open: () => openSqlite({ path: join(directory, "coffer.db"), reserveBytes: 65_536 }),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
});
