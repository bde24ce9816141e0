/** What an operator reads of a change of the schema: in the server's log, and on standard error of a command. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { parseConfig } from "../config.ts";
import { startServer } from "../index.ts";
import { runCommand } from "../operator/operator.test-kit.ts";
import { openTestSqlite } from "../storage.test-kit.ts";
import { MIGRATIONS, migrate } from "./migrate.ts";
import type { Migration } from "./migration.ts";

const NEWEST = MIGRATIONS.at(-1)?.version ?? 0;

it("is a line of the server's log for each step, and none where nothing is to do [issue 51]", async () => {
  const config = parseConfig({
    SERVICE_ENV: "development",
    SERVICE_PORT: "0",
    SERVICE_DATA_DIR: makeDirectory(),
  });
  const migrationsOfStart = async (): Promise<unknown[]> => {
    const lines: string[] = [];
    const logSink = { write: (bytes: Uint8Array) => void lines.push(new TextDecoder().decode(bytes)) };
    await (await startServer(config, { logSink })).close();
    const all = lines
      .join("")
      .split("\n")
      .filter((line) => line !== "");
    return all
      .map((line) => JSON.parse(line) as object)
      .filter((line) => "event" in line && line.event === "migration");
  };
  expect(await migrationsOfStart()).toEqual(
    MIGRATIONS.map(({ version, name }) =>
      expect.objectContaining({
        level: 30,
        schema: version,
        name,
        milliseconds: expect.any(Number) as number,
        msg: expect.stringMatching(new RegExp(`^/\\S+coffer\\.sqlite has schema ${String(version)} now$`)) as string,
      }),
    ),
  );
  expect(await migrationsOfStart()).toEqual([]);
});

it("is told of by the process that took the step, and by no other [issue 51]", async () => {
  const directory = makeDirectory();
  await using one = await openTestSqlite(directory);
  await using other = await openTestSqlite(directory);
  const step: Migration = { version: NEWEST + 1, name: "later", oldestBeside: NEWEST, up: () => Promise.resolve() };
  const told: string[] = [];
  const toldBy = (name: string) => (migration: { readonly name: string }) =>
    void told.push(`${name}: ${migration.name}`);
  await Promise.all([
    migrate(one, [...MIGRATIONS, step], toldBy("one")),
    migrate(other, [...MIGRATIONS, step], toldBy("other")),
  ]);
  expect(told).toHaveLength(1);
  expect(told[0]).toMatch(/^(?:one|other): later$/);
});

it("is a line on standard error of an operator's command [issue 51]", async () => {
  const directory = makeDirectory();
  // As one that an earlier program has made, whatever its schema.
  writeFileSync(join(directory, "coffer.sqlite"), "", { mode: 0o600 });
  const line = `${directory}/coffer.sqlite has schema ${String(NEWEST)} now: baseline\n`;
  expect((await runCommand(directory, "access-codes", "list")).note).toContain(line);
  expect((await runCommand(directory, "access-codes", "list")).note).not.toContain(line);
});
