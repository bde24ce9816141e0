import { describe, expect, it } from "vitest";
import { openTestLog } from "../audit/log.test-kit.ts";
import { systemRandom } from "../../ports/random.ts";
import type { Queries } from "../../ports/database.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { actOn } from "../account/act.ts";
import { Heads, type Pause, waking } from "./heads.ts";
import { addChange } from "./feed.test-kit.ts";
import { wrapped } from "../../wrapped.test-kit.ts";

const log = ofEachTest(openTestLog);
const NEVER = new AbortController().signal;

/** Heads whose pauses end only when they are told to, and that count their looks. */
function open() {
  const seen = { looks: 0 };
  const pauses: (() => void)[] = [];
  const pause: Pause = (_, signal) =>
    new Promise((resolve) => {
      pauses.push(resolve);
      signal.addEventListener("abort", () => resolve());
      if (signal.aborted) resolve();
    });
  const counting = {
    build: log.database.build,
    all: (query: Parameters<Queries["all"]>[0]) => {
      seen.looks += 1;
      return log.database.all(query);
    },
  };
  const database = counting as unknown as Queries;
  return { heads: new Heads({ database, clock: { elapsed: () => 0 }, pause }), seen, next: () => pauses.pop()?.() };
}

describe("the heads that are followed", () => {
  it("are looked at once for all who follow", async () => {
    const { heads, seen, next } = open();
    const ids = [log.accountId, await log.addAccount(), await log.addAccount()];
    for (const id of ids) await addChange(log.database, id);
    const waits = ids.flatMap((accountId) =>
      Array.from({ length: 7 }, () => heads.beyond({ accountId, after: 0, until: 1 }, NEVER)),
    );
    next();
    await Promise.all(waits);
    expect(seen.looks).toBe(1);
  });

  it("are looked at as soon as this process has changed one of them, and for no other", async () => {
    const { heads, seen } = open();
    const database = waking(log.database, heads);
    const deps = { database, clock: { now: () => 0, elapsed: () => 0 }, random: systemRandom };
    const change = (accountId: string) =>
      actOn(deps, accountId, (act) =>
        act.record({ action: "session.created", actor: null, target: { kind: "session", id: accountId } }),
      );
    const wait = heads.beyond({ accountId: log.accountId, after: 0, until: 1 }, NEVER);
    await change(await log.addAccount());
    expect(seen.looks).toBe(0);
    await change(log.accountId);
    await wait;
    expect(seen.looks).toBe(1);
  });

  it("are not looked at when nobody follows any more", async () => {
    const { heads, seen, next } = open();
    const leaving = new AbortController();
    const wait = heads.beyond({ accountId: log.accountId, after: 0, until: 1 }, leaving.signal);
    leaving.abort();
    await wait;
    next();
    await heads.beyond({ accountId: log.accountId, after: 0, until: 1 }, AbortSignal.abort());
    expect(seen.looks).toBe(0);
  });

  it("are looked at when the first one's time is over, however rare looks are, and who comes later", async () => {
    const planned: number[] = [];
    let elapsed = 0;
    const pause: Pause = async (milliseconds, signal) => {
      planned.push(milliseconds);
      if (milliseconds < 1_000) elapsed += milliseconds;
      else await new Promise((resolve) => signal.addEventListener("abort", resolve));
    };
    const news = { isLive: true, onChange: () => () => undefined };
    const heads = new Heads({ database: wrapped(log.database, { news }), clock: { elapsed: () => elapsed }, pause });
    const { accountId } = log;
    const long = heads.beyond({ accountId, after: 0, until: 9_000 }, NEVER);
    const short = heads.beyond({ accountId, after: 0, until: 900 }, NEVER);
    await expect.poll(() => planned.slice(0, 2)).toEqual([5_000, 900]);
    await short;
    await addChange(log.database, accountId);
    heads.wake(null);
    await long;
  });

  it("that cannot be looked at are told to all who wait, and the next one looks again", async () => {
    const { heads, next } = open();
    const broken = new Heads({
      database: { build: log.database.build, all: () => Promise.reject(new Error("away")) } as unknown as Queries,
      clock: { elapsed: () => 0 },
      pause: () => Promise.resolve(),
    });
    const awaited = { accountId: log.accountId, after: 0, until: 1 };
    for (let turn = 0; turn < 2; turn += 1) await expect(broken.beyond(awaited, NEVER)).rejects.toThrow("away");
    await addChange(log.database, log.accountId);
    const wait = heads.beyond(awaited, NEVER);
    next();
    await wait;
  });
});
