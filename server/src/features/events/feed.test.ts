import { setImmediate as nextTurn } from "node:timers/promises";
import { eventSchema } from "@coffer/contract";
import { describe, expect, it } from "vitest";
import type { Queries } from "../../ports/database.ts";
import { openTestLog } from "../audit/log.test-kit.ts";
import { removeEntries } from "../audit/store.ts";
import { BATCH, openFeed } from "./feed.ts";
import { Heads, type Pause } from "./heads.ts";
import { addChange, type ReadBlock, readBlocks, takeIds } from "./feed.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { wrapped } from "../../wrapped.test-kit.ts";

const log = ofEachTest(openTestLog);

interface Watched {
  readonly blocks: AsyncGenerator<ReadBlock, void, undefined>;
  /** Looks for changes so far. */
  looks: number;
  readonly stop: AbortController;
}

/** A feed whose time passes by its own waits alone. `onWait` runs in each of them; news of other processes come from `newsFrom` on. */
function follow(
  after = 0,
  onWait: (elapsed: number) => Promise<unknown> | void = () => undefined,
  newsFrom = Infinity,
): Watched {
  let elapsed = 0;
  const stop = new AbortController();
  const pause: Pause = async (milliseconds) => {
    elapsed += milliseconds;
    await onWait(elapsed);
  };
  const counting = {
    build: log.database.build,
    all: (query: Parameters<Queries["all"]>[0]) => {
      watched.looks += 1;
      return log.database.all(query);
    },
  };
  const news = {
    onChange: () => () => undefined,
    get isLive() {
      return elapsed >= newsFrom;
    },
  };
  const looking = { database: wrapped(log.database, { news }), clock: { elapsed: () => elapsed }, pause };
  const parts = { ...looking, database: counting as unknown as Queries, heads: new Heads(looking) };
  const watched: Watched = {
    blocks: readBlocks(openFeed(parts, { accountId: log.accountId, after, vaultIds: null, signal: stop.signal })),
    looks: 0,
    stop,
  };
  return watched;
}

const NOTHING: ReadBlock = { id: null, event: null, data: null, retry: null, comment: null };

describe("[D6-event-feed D1-changes-readers] the feed", () => {
  it("begins with when to come back and from where, then tells each event in its own block", async () => {
    const sequence = await addChange(log.database, log.accountId);
    const { blocks } = follow();
    expect((await blocks.next()).value).toEqual({ ...NOTHING, retry: "2000", id: "0" });
    const { value } = await blocks.next();
    expect(value).toMatchObject({ id: String(sequence), event: "vault.created" });
    const event = eventSchema("vault.created").parse(JSON.parse(value?.data ?? ""));
    expect(event).toMatchObject({ type: "vault.created", data: { accountId: log.accountId, sequence } });
    await blocks.return();
  });

  it("leaves out what is no event, and what others do", async () => {
    await addChange(log.database, log.accountId, null);
    await addChange(log.database, await log.addAccount());
    await addChange(log.database, log.accountId);
    const { blocks } = follow();
    expect(await takeIds(blocks, 1)).toEqual([2]);
    await blocks.return();
  });

  it("goes past more than a batch of changes that are no events without waiting", async () => {
    await log.record(2 * BATCH + 1);
    await addChange(log.database, log.accountId);
    let waits = 0;
    const { blocks } = follow(0, () => void (waits += 1));
    expect(await takeIds(blocks, 1)).toEqual([2 * BATCH + 2]);
    expect(waits).toBe(0);
    await blocks.return();
  });

  it("goes on after the number it was given, and begins with the oldest where that one is gone", async () => {
    for (let count = 0; count < 6; count += 1) await addChange(log.database, log.accountId);
    const later = follow(4);
    expect(await takeIds(later.blocks, 2)).toEqual([5, 6]);
    await log.database.transaction((transaction) =>
      removeEntries(transaction, { account_id: log.accountId, sequence: 3, hash: "0".repeat(64) }),
    );
    const early = follow(1);
    expect(await takeIds(early.blocks, 3)).toEqual([4, 5, 6]);
    await Promise.all([later.blocks.return(), early.blocks.return()]);
  });

  it("shows what happens while it waits, within a second", async () => {
    let waited = 0;
    const { blocks } = follow(0, async (elapsed) => {
      if (elapsed > 30_000) throw new Error("the change did not show");
      waited = elapsed;
      if (elapsed <= 250) await addChange(log.database, log.accountId);
    });
    expect(await takeIds(blocks, 1)).toEqual([1]);
    expect(waited).toBeLessThanOrEqual(1000);
    await blocks.return();
  });

  it.each([
    ["without news", Infinity],
    ["with news, which make looks rare", 1_500],
  ])("says every 15 seconds of silence that it is there, and no sooner, %s", async (_, newsFrom) => {
    let now = 0;
    const { blocks } = follow(0, (elapsed) => void (now = elapsed), newsFrom);
    await blocks.next();
    const spoken: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      expect((await blocks.next()).value).toEqual({ ...NOTHING, comment: "keep-alive" });
      spoken.push(now);
    }
    expect(spoken).toEqual([15_000, 30_000, 45_000]);
    await blocks.return();
  });

  it("counts the silence from the last event", async () => {
    const { blocks } = follow(0, async (elapsed) => {
      if (elapsed === 10_000) await addChange(log.database, log.accountId);
      if (elapsed === 25_000) await addChange(log.database, log.accountId);
    });
    const told: (string | null | undefined)[] = [];
    for (let count = 0; count < 4; count += 1) {
      const { value } = await blocks.next();
      told.push(value?.comment ?? value?.event);
    }
    // The event and the end of the silence come at the same moment: the event is enough.
    expect(told).toEqual([undefined, "vault.created", "vault.created", "keep-alive"].map((word) => word ?? null));
    await blocks.return();
  });

  it("reads nothing ahead: the next batch when the last one was taken", async () => {
    for (let count = 0; count < 2 * BATCH; count += 1) await addChange(log.database, log.accountId);
    const watched = follow();
    const { blocks } = watched;
    await blocks.next();
    expect(watched.looks).toBe(0);
    expect(await takeIds(blocks, BATCH)).toHaveLength(BATCH);
    expect(watched.looks).toBe(1);
    expect((await takeIds(blocks, BATCH)).at(-1)).toBe(2 * BATCH);
    expect(watched.looks).toBe(2);
    await blocks.return();
  });

  it("ends when it is told to, during a wait too, and leaves no timer", async () => {
    const stop = new AbortController();
    const looking = { database: log.database, clock: { elapsed: () => 0 } };
    const parts = { ...looking, heads: new Heads(looking) };
    const feed = openFeed(parts, { accountId: log.accountId, after: 0, vaultIds: null, signal: stop.signal });
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    await feed.next();
    const waiting = feed.next();
    while (timers() <= before) await nextTurn();
    stop.abort();
    expect(await waiting).toEqual({ done: true, value: undefined });
    // Timers of others, such as those of a pool's connections, may have ended meanwhile.
    expect(timers()).toBeLessThanOrEqual(before);
  });
});
