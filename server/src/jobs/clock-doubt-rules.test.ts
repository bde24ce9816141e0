import { describe, expect, it } from "vitest";
import { doubtOfStart, explainWait, type Look, nextMark, spanOf, waitOf } from "./clock-doubt-rules.ts";
import type { Mark } from "./running-marks-store.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOON = Date.UTC(2030, 0, 1, 12);

const marked: Mark = { total: 5_000, marked_at: NOON, doubted_at: null, doubt: null };
const look = (more: Partial<Look> & { now: number; elapsed?: number }): Look => ({
  reading: { now: more.now, elapsed: more.elapsed ?? 0 },
  last: null,
  databaseNow: null,
  ...more,
});

describe("a start", () => {
  it.each([
    ["that follows at once", 0, null],
    ["after a correction of the clock", -4 * MINUTE, null],
    ["after a day", DAY, null],
    [
      "by a clock that is an hour behind",
      -HOUR,
      /^The clock is 1 h behind: a server on these data last marked 2030-01-01T12:00/,
    ],
    ["by a clock that is two days ahead", 2 * DAY, /^The clock is 2 days ahead, or no server ran for so long/],
    ["by a clock that is 400 days ahead", 400 * DAY, /^The clock is 400 days ahead/],
  ])("%s", (_, ahead, doubt) => {
    const found = doubtOfStart(NOON + ahead, marked);
    if (doubt === null) expect(found).toBeNull();
    else expect(found).toMatch(doubt);
  });

  it("has nothing to compare with the first time", () => {
    expect(nextMark(null, look({ now: NOON }))).toEqual({ total: 0, marked_at: NOON, doubted_at: null, doubt: null });
  });
});

describe("a running server", () => {
  const last = { now: NOON, elapsed: 1_000 };

  it("adds what passed by the monotonic clock", () => {
    const next = nextMark(marked, look({ last, now: NOON + MINUTE, elapsed: 1_000 + MINUTE }));
    expect(next).toEqual({ ...marked, total: 5_000 + MINUTE, marked_at: NOON + MINUTE });
  });

  it.each([
    ["ahead", 2 * DAY, "The clock was set 2 days ahead while the server ran"],
    ["back", -HOUR, "The clock was set 1 h back while the server ran"],
  ])("doubts a clock that was set %s", (_, jump, doubt) => {
    const next = nextMark(marked, look({ last, now: NOON + MINUTE + jump, elapsed: 1_000 + MINUTE }));
    expect(next).toMatchObject({ total: 5_000 + MINUTE, doubted_at: 5_000 + MINUTE, doubt });
  });

  it("doubts a clock that is not the database's, for as long as it is not", () => {
    const apart = look({ last, now: NOON + MINUTE, elapsed: 1_000 + MINUTE, databaseNow: NOON + MINUTE - 2 * DAY });
    const doubt = "The clock of the server that runs the jobs is 2 days ahead of the database's";
    const next = nextMark({ ...marked, doubted_at: 0, doubt: "earlier" }, apart);
    expect(next).toMatchObject({ doubted_at: 5_000 + MINUTE, doubt });
    expect(nextMark(marked, { ...apart, databaseNow: NOON + 2 * MINUTE }).doubt).toBeNull();
  });

  it("believes the clock after 24 hours of running in which it was not set, and begins again when it is", () => {
    let mark: Mark = { ...marked, doubted_at: marked.total, doubt: "The clock was ahead" };
    let reading = { now: NOON, elapsed: 0 };
    const run = (jump = 0): void => {
      const after = { now: reading.now + MINUTE + jump, elapsed: reading.elapsed + MINUTE };
      mark = nextMark(mark, { reading: after, last: reading, databaseNow: null });
      reading = after;
    };
    for (let minute = 1; minute < 24 * 60; minute += 1) run();
    expect(waitOf(mark)).toBe(MINUTE);
    run(HOUR);
    expect(waitOf(mark)).toBe(DAY);
    for (let minute = 0; minute < 24 * 60; minute += 1) run();
    expect(mark).toMatchObject({ doubted_at: null, doubt: null });
    expect(mark.total).toBe(marked.total + 2 * DAY);
  });

  it("goes on waiting after a restart, which is no running time", () => {
    const doubted = { ...marked, doubted_at: marked.total - HOUR, doubt: "The clock was ahead" };
    expect(waitOf(nextMark(doubted, look({ now: NOON + 20 * HOUR })))).toBe(23 * HOUR);
  });
});

it("says why jobs wait, until when, and what ends it", () => {
  expect(explainWait(marked)).toBeNull();
  const text = explainWait({
    ...marked,
    doubted_at: marked.total - HOUR - 30 * MINUTE,
    doubt: "The clock was set back",
  });
  expect(text).toBe(
    "The clock was set back. Until servers have run for 22 h 30 min more without another jump of the clock, nothing is deleted " +
      "and nothing expires for good. If the clock is right now, `coffer-server clock confirm` ends the wait",
  );
});

it("names spans as people do", () => {
  const spans = [1, 59 * MINUTE, HOUR, 25 * HOUR + 3 * MINUTE, 400 * DAY + HOUR].map(spanOf);
  expect(spans).toEqual(["less than a minute", "59 min", "1 h", "25 h 3 min", "400 days"]);
});
