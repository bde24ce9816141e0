/** The driver through a real PgBouncer in transaction mode. */
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createDatabase } from "../../../../test/kit/postgres/databases.ts";
import { joinCluster, openPooler, type Pooler, skipWithout, whyNoPooler } from "../../../../test/kit/engines.ts";
import { insertAccount } from "../../../../test/kit/rows.ts";
import { describeRaces } from "../../../../test/suites/database-races.ts";
import { describeDatabase } from "../../../../test/suites/database.ts";
import { openPostgres } from "./postgres.ts";

let opened: Promise<Pooler> | null = null;
const pooler = (): Promise<Pooler> => (opened ??= joinCluster().then((cluster) => openPooler(cluster)));
afterAll(async () => {
  await (await opened)?.[Symbol.asyncDispose]();
});

/** Connections of a driver: more than the pooler has to the server. */
const CONNECTIONS = 30;

async function openPlace(state: "empty" | "migrated" = "empty") {
  const place = await createDatabase(state);
  const options = { url: (await pooler()).urlOf(place.name), sessions: false, connections: CONNECTIONS };
  return { direct: place.url, open: () => openPostgres(options), options, place };
}

describe("through PgBouncer", () => {
  beforeEach((context) => skipWithout(whyNoPooler(), context));

  describeDatabase("PostgreSQL", async (state) => {
    const { open, place } = await openPlace(state);
    return { open: () => Promise.resolve(open()), [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
  });

  describeRaces(
    "PostgreSQL",
    async () => {
      const { open, place } = await openPlace("migrated");
      const database = open();
      const close = database[Symbol.asyncDispose].bind(database);
      database[Symbol.asyncDispose] = async () => {
        await close();
        await place[Symbol.asyncDispose]();
      };
      return database;
    },
    2,
  );

  it("news arrives by the address past the pooler, and without one nobody listens", async () => {
    const { direct, options, place } = await openPlace("migrated");
    await using _ = place;
    await using one = openPostgres({ ...options, directUrl: direct });
    await using other = openPostgres({ ...options, directUrl: direct });
    await using alone = openPostgres(options);
    const heard: string[] = [];
    other.news.onChange((ids) => void heard.push(...(ids ?? [])));
    one.news.onChange(() => undefined);
    alone.news.onChange(() => expect.unreachable());
    await vi.waitFor(() => expect([one.news.isLive, other.news.isLive]).toEqual([true, true]));
    const { accountId } = await insertAccount(one);
    await one.act([accountId], async () => undefined);
    await vi.waitFor(() => expect(heard).toEqual([accountId]));
    expect(alone.news.isLive).toBe(false);
  });

  it("takes no connection of a server that was not told of it", async () => {
    const { options, place } = await openPlace("migrated");
    await using _ = place;
    await using untold = openPostgres({ ...options, sessions: true });
    await expect(untold.ping()).rejects.toMatchObject({ cause: { message: expect.stringContaining("unsupported") } });
  });
});
