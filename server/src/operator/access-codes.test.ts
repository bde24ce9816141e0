import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { addressFile } from "../../../test/kit/postgres/address.ts";
import { createDatabase } from "../../../test/kit/postgres/databases.ts";
import { parseConfig, placeOf } from "../config.ts";
import { hashAccessCode, isUsableAccessCode, useAccessCode } from "../features/access-codes/store.ts";
import { ON_POSTGRES, openTestDatabase, testAddress } from "../storage.test-kit.ts";
import { startServer } from "../index.ts";
import { systemClock } from "../ports/clock.ts";
import { UsageError } from "./command.ts";
import { findCommand, isCommandGroup, renderCommands } from "./commands.ts";
import { runCommand } from "./operator.test-kit.ts";
import { ofEachTest } from "../each.test-kit.ts";

/** With no database in it; on PostgreSQL with an empty one. */
const directory = ofEachTest(async () => {
  const path = makeDirectory();
  await using stack = new AsyncDisposableStack();
  if (ON_POSTGRES) writeFileSync(addressFile(path), stack.use(await createDatabase()).url);
  const all = stack.move();
  return { path, [Symbol.asyncDispose]: () => all.disposeAsync() };
});

const run = (...words: string[]) => runCommand(directory.path, ...words);
const openDatabase = () => openTestDatabase(directory.path);

/** As a server's first start leaves it. */
const makeDatabase = async (): Promise<void> => {
  await using _ = await openDatabase();
};

const parse = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

it("access-codes make no database where there is none, and say where they looked [issue 51]", async () => {
  const path = join(directory.path, "coffer.sqlite");
  const [place, setting] = ON_POSTGRES
    ? [placeOf(await testAddress(directory.path)), "SERVICE_DATABASE_URL"]
    : [path, "SERVICE_DATA_DIR"];
  const refused = `there is no database ${place}. A server makes it when it first starts; if one runs, check ${setting}`;
  // Each would find what the one before it made.
  for (const words of [["create"], ["list"], ["revoke", "some-id"], ["create"]])
    await expect(run("access-codes", ...words)).rejects.toThrow(refused);
  expect(existsSync(path)).toBe(false);
});

describe("access-codes create [D3-access-codes]", () => {
  beforeEach(makeDatabase);

  it("prints the code alone on standard output, for one use, and keeps its hash", async () => {
    const { status, out, note } = await run("access-codes", "create");
    expect(status).toBe(0);
    expect(out).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){4}[0-9A-HJKMNP-TV-Z]{4}\n$/);
    expect(note).toContain("Good for 1 use.");
    await using database = await openDatabase();
    const row = await database.first(database.build.selectFrom("access_codes").selectAll());
    expect(row).toMatchObject({ hash: hashAccessCode(out), uses_left: 1, expires_at: null, revoked_at: null });
    expect(JSON.stringify(row)).not.toContain(out.trim().replaceAll("-", ""));
  });

  it("takes a count, an end and a note, and answers JSON", async () => {
    const before = systemClock.now();
    const words = ["--uses", "3", "--expires-in-days", "7", "--note", "for Zoë", "--json"];
    const made = parse((await run("access-codes", "create", ...words)).out);
    expect(made).toMatchObject({ usesLeft: 3, note: "for Zoë", status: "usable", revokedAt: null });
    const lasts = Date.parse(String(made["expiresAt"])) - Date.parse(String(made["createdAt"]));
    expect(lasts).toBe(7 * 86_400_000);
    expect(Date.parse(String(made["createdAt"]))).toBeGreaterThanOrEqual(before);
  });

  it("never makes the same twice", async () => {
    const codes = new Set<string>();
    for (let number = 0; number < 5; number += 1) codes.add((await run("access-codes", "create")).out);
    expect(codes.size).toBe(5);
  });

  it.each([
    ["--uses", "0"],
    ["--uses", "1.5"],
    ["--uses", "-1"],
    ["--uses", "1000001"],
    ["--expires-in-days", "0"],
    ["--expires-in-days", "3651"],
    ["--note", "two\nlines"],
    ["--note", "turned \u202e around"],
    ["--note", "x".repeat(201)],
    ["--colour", "red"],
    ["word", "another"],
  ])("refuses %s %j, with what it expects, and makes no code", async (...words) => {
    await expect(run("access-codes", "create", ...words)).rejects.toThrow(UsageError);
    expect((await run("access-codes", "list")).note).toContain("There are no access codes");
  });
});

describe("access-codes list and revoke", () => {
  beforeEach(makeDatabase);

  it("say that no server runs on these data, and nothing of one that does", async (context) => {
    if (ON_POSTGRES) context.skip("nobody can say which machines have servers of a PostgreSQL");
    const place = join(directory.path, "coffer.sqlite");
    const unserved = `No server runs on ${place}: codes of this database count at no other.`;
    const { note, out } = await run("access-codes", "create", "--json");
    expect(note).toContain(unserved);
    for (const words of [["create"], ["list"], ["revoke", String(parse(out)["id"])]])
      expect((await run("access-codes", ...words)).note).toContain(unserved);
    const server = await startServer(
      parseConfig({
        SERVICE_ENV: "development",
        SERVICE_DATA_DIR: directory.path,
        SERVICE_PORT: "0",
        SERVICE_LOG_LEVEL: "silent",
      }),
    );
    for (const words of [["create"], ["list"], ["revoke", String(parse(out)["id"])]])
      expect((await run("access-codes", ...words)).note).not.toContain("No server runs");
    await server.close();
    expect((await run("access-codes", "list")).note).toContain(unserved);
  });

  it("say so when there are no codes yet", async () => {
    expect((await run("access-codes", "list")).note).toContain("There are no access codes");
  });

  it("show what became of each, newest first, and never a code", async () => {
    const made = [];
    for (const note of ["used", "revoked", "usable"]) {
      made.push(parse((await run("access-codes", "create", "--json", "--note", note)).out));
    }
    await using database = await openDatabase();
    await useAccessCode(database, hashAccessCode(String(made[0]?.["code"])), systemClock.now());
    expect(await run("access-codes", "revoke", String(made[1]?.["id"]))).toMatchObject({
      status: 0,
      note: expect.stringMatching(/^Revoked$/m) as string,
    });
    const { accessCodes } = parse((await run("access-codes", "list", "--json")).out);
    const shown = (accessCodes as Record<string, unknown>[]).map(({ note, status }) => [note, status]);
    expect(shown.toSorted()).toEqual([
      ["revoked", "revoked"],
      ["usable", "usable"],
      ["used", "used"],
    ]);
    const { out } = await run("access-codes", "list");
    expect(out.split("\n")[0]).toMatch(/^ID +STATUS +USES LEFT +MADE +EXPIRES +NOTE$/);
    expect(out.trim().split("\n")).toHaveLength(4);
    for (const { code } of made) expect(out + JSON.stringify(accessCodes)).not.toContain(code);
  });

  it("a revoked code lets nobody in, beside a server that has the database open; a second time is no error", async () => {
    const { code, id } = parse((await run("access-codes", "create", "--json")).out);
    await using database = await openDatabase();
    const hash = hashAccessCode(String(code));
    expect(await isUsableAccessCode(database, hash, systemClock.now())).toBe(true);
    expect((await run("access-codes", "revoke", String(id))).status).toBe(0);
    expect(await isUsableAccessCode(database, hash, systemClock.now())).toBe(false);
    expect(await useAccessCode(database, hash, systemClock.now())).toBe(false);
    expect(await run("access-codes", "revoke", String(id))).toMatchObject({
      status: 0,
      note: expect.stringMatching(/^It was revoked before$/m) as string,
    });
  });

  it("an unknown id is exit status 1, none is a usage error", async () => {
    await run("access-codes", "create");
    expect(await run("access-codes", "revoke", "nobody")).toMatchObject({ status: 1 });
    await expect(run("access-codes", "revoke")).rejects.toThrow("the id is missing");
    await expect(run("access-codes", "revoke", "a", "b")).rejects.toThrow(UsageError);
  });
});

describe("the commands", () => {
  it("are found by their words, and shown by group", () => {
    expect(findCommand(["access-codes"])).toBeNull();
    expect(findCommand(["access-codes", "create", "--json"])?.options).toEqual(["--json"]);
    expect(isCommandGroup(["access-codes"])).toBe(true);
    expect(isCommandGroup(["access"])).toBe(false);
    expect(isCommandGroup([])).toBe(false);
    expect(renderCommands(["access-codes"]).match(/^ {2}access-codes /gm)).toHaveLength(3);
    expect(renderCommands(["access-codes"])).not.toContain("audit");
    expect(renderCommands()).toContain("audit verify");
  });
});
