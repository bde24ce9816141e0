/** An older server that is running while a newer one migrates: it goes on only where the migration says so. */
import { setTimeout as pause } from "node:timers/promises";
import { HEADERS } from "@coffer/contract";
import { MIGRATIONS, migrate } from "@coffer/server/schema/migrate";
import type { Migration } from "@coffer/server/schema/migration";
import type { Database } from "@coffer/server/ports/database";
import { openDatabase } from "@coffer/server/storage";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { createDatabase } from "../kit/postgres/databases.ts";
import { signUp } from "../kit/signed-up.ts";
import { type ServerProcess, startServerProcess } from "../crash/server-process.ts";

/** Of server/src/main.ts: this server is older than the schema. */
const EXIT_OUTDATED = 76;
const NEWEST = MIGRATIONS.at(-1)?.version ?? 0;

/** What a later release brings; a server of today knows nothing of it. */
const later = (step: number, oldestBeside?: number): Migration => ({
  version: NEWEST + step,
  name: `of a later release ${String(step)}`,
  up: () => Promise.resolve(),
  ...(oldestBeside === undefined ? {} : { oldestBeside }),
});
const migrateTo = (database: Database, ...steps: Migration[]) => migrate(database, [...MIGRATIONS, ...steps]);

interface Place extends AsyncDisposable {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The rows, with the schema of today, for a newer server to go on from. */
  openNewer(): Promise<Database>;
}

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  SQLite: () => {
    const directory = makeDirectory();
    return Promise.resolve({
      directory,
      environment: {},
      openNewer: () => openDatabase({ database: { kind: "sqlite", path: `${directory}/coffer.sqlite` } }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    });
  },
  PostgreSQL: async () => {
    const place = await createDatabase("empty");
    const database = { kind: "postgres", url: place.url, directUrl: null, connections: 4, sessions: true } as const;
    return {
      directory: makeDirectory(),
      environment: { SERVICE_DATABASE_URL: place.url },
      openNewer: () => openDatabase({ database }),
      [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
    };
  },
};

function upload({ baseUrl }: ServerProcess, key: string, name: string): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/octet-stream" };
  return fetch(`${baseUrl}/api/files?name=${name}`, { method: "POST", headers, body: new Uint8Array(1000) });
}

describe.each(Object.keys(PLACES))("on %s, an older server", (name) => {
  const openPlace = PLACES[name] as () => Promise<Place>;

  it("goes on beside a migration that lets it, then refuses to write beside one that does not, ends and says so", async () => {
    await using place = await openPlace();
    const start = () => startServerProcess({ ...place, environment: place.environment });
    await using server = await start();
    const { key } = await signUp(server.baseUrl);
    await using newer = await place.openNewer();

    await migrateTo(newer, later(1, NEWEST));
    expect((await upload(server, key, "beside")).status).toBe(201);
    // One that crashes meanwhile starts again.
    await using another = await start();
    expect((await upload(another, key, "also-beside")).status).toBe(201);

    await migrateTo(newer, later(1, NEWEST), later(2));
    const refused = await upload(server, key, "too-old");
    expect([refused.status, refused.headers.get(HEADERS.errorCode)]).toEqual([503, "unavailable"]);
    const line = await server.waitForLine(({ event }) => event === "outdated");
    expect(line.msg).toContain(`The database has schema ${String(NEWEST + 2)}`);
    expect(await server.exited).toBe(EXIT_OUTDATED);
    expect(server.log.filter(({ event }) => event === "fault")).toEqual([]);

    // Nobody asks the other one for anything: its own jobs look.
    expect(await another.exited).toBe(EXIT_OUTDATED);
    await expect(start()).rejects.toThrow(`The database has schema ${String(NEWEST + 2)}`);
    const names = await newer.all(newer.build.selectFrom("files").select("name").orderBy("name"));
    expect(names).toEqual([{ name: "also-beside" }, { name: "beside" }]);
  });

  it("loses the race against a migration in each order, and writes nothing past it", async () => {
    await using place = await openPlace();
    await using older = await place.openNewer();
    await using newer = await place.openNewer();
    const order: string[] = [];
    let migrating: Promise<unknown> = Promise.resolve();
    await older.transaction(async () => {
      migrating = migrateTo(newer, later(1)).then(() => order.push("migrated"));
      await pause(100);
      order.push("written");
    });
    await migrating;
    expect(order).toEqual(["written", "migrated"]);
    const late = older.transaction(() => Promise.resolve(order.push("late")));
    await expect(late).rejects.toThrow("The database has schema");
    const statement = older.build.updateTable("accounts").set({ name: "late" });
    await expect(older.run(statement)).rejects.toThrow("The database has schema");
    await expect(older.ping()).rejects.toThrow("The database has schema");
    expect(order).toEqual(["written", "migrated"]);
  });
});
