import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { createDatabase } from "../../../../../test/kit/postgres/databases.ts";
import { insertAccount } from "../../../../../test/kit/rows.ts";
import { openPostgres } from "../postgres.ts";

it("tells other processes of acts, all of a moment together, and its own at once; it heals, and tells then that any may have changed", async () => {
  await using place = await createDatabase("migrated");
  const options = { url: place.url, directUrl: place.url };
  await using one = openPostgres(options);
  await using other = openPostgres(options);
  const heard: (string[] | null)[] = [];
  const told: string[] = [];
  other.news.onChange((ids) => void heard.push(ids === null ? null : [...ids].sort()));
  one.news.onChange((ids) => void told.push(...(ids ?? [])));
  await vi.waitFor(() => expect([one.news.isLive, other.news.isLive]).toEqual([true, true]));
  heard.length = 0;
  const ids: string[] = [];
  while (ids.length < 30) ids.push((await insertAccount(one)).accountId);
  ids.sort();
  await Promise.all(ids.map((id) => one.act([id], async () => undefined)));
  expect(told.toSorted()).toEqual(ids);
  await vi.waitFor(() => expect(heard.flat().sort()).toEqual(ids));
  // A busy machine needs more than one moment for all of them.
  expect(heard.length).toBeLessThan(ids.length / 2);

  await place.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'coffer news'");
  await vi.waitFor(() => expect(heard).toContain(null), { timeout: 2_000 });
  await vi.waitFor(() => expect(one.news.isLive).toBe(true), { timeout: 2_000 });
  heard.length = 0;
  await one.act([ids[0] ?? ""], async () => undefined);
  await vi.waitFor(() => expect(heard.at(-1)).toEqual([ids[0]]));
});

it("says nothing of acts that are rolled back", async () => {
  await using place = await createDatabase("migrated");
  await using database = openPostgres({ url: place.url, directUrl: place.url });
  const heard: unknown[] = [];
  database.news.onChange((ids) => {
    if (ids !== null) heard.push(ids);
  });
  const { accountId } = await insertAccount(database);
  await expect(database.act([accountId], () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await sleep(100);
  expect(heard).toEqual([]);
});
