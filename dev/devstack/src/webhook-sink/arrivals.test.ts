import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Arrivals } from "./arrivals.ts";
import { Deliveries, type Verdict } from "./deliveries.ts";
import { fileEvent } from "./deliveries.test-kit.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const arrival = { method: "POST", path: "/hook", headers: {}, body: Buffer.from("{}") };

function uploaded(deliveries: Deliveries, id: string, problem: string | null = null): void {
  const file = { id: uuid(id), vaultId: uuid("v") };
  const event = problem === null ? (fileEvent("file.uploaded", file) as Verdict["event"]) : null;
  deliveries.add(arrival, { problem, event, kind: "file.uploaded", sequence: 1 }, "204");
}

const uuid = (letter: string): string =>
  `00000000-0000-4000-8000-${letter.codePointAt(0)?.toString(16).padStart(12, "0") ?? ""}`;

const ids = (letters: string): string[] => Array.from(letters, uuid);

function begin(): { deliveries: Deliveries; arrivals: Arrivals; stop: AbortController } {
  const deliveries = new Deliveries();
  return { deliveries, arrivals: new Arrivals(deliveries), stop: new AbortController() };
}

describe("the uploads of a job", () => {
  it("have arrived when each was told of, however often, before or after it is asked", async () => {
    const { deliveries, arrivals, stop } = begin();
    for (const id of ["a", "b", "b"]) uploaded(deliveries, id);
    uploaded(deliveries, "x");
    const report = arrivals.of(ids("abc"), stop.signal);
    await vi.advanceTimersByTimeAsync(9_999);
    uploaded(deliveries, "c");
    expect(await report).toEqual({ expected: 3, arrived: 3, deliveries: 5, failed: 0, ok: true });
  });

  it("have not when nothing comes for ten seconds any more", async () => {
    const { deliveries, arrivals, stop } = begin();
    const report = arrivals.of(ids("abc"), stop.signal);
    for (const id of ["a", "b"]) {
      await vi.advanceTimersByTimeAsync(9_999);
      uploaded(deliveries, id);
    }
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await report).toMatchObject({ arrived: 2, ok: false });
  });

  it("are not fine when a delivery failed verification, and do not count it", async () => {
    const { deliveries, arrivals, stop } = begin();
    uploaded(deliveries, "a", "no_match");
    uploaded(deliveries, "a");
    expect(await arrivals.of(ids("a"), stop.signal)).toMatchObject({ arrived: 1, failed: 1, ok: false });
  });

  it("are waited for no longer than until a stop", async () => {
    const { arrivals, stop } = begin();
    const report = arrivals.of(ids("a"), stop.signal);
    stop.abort(new Error("stopped"));
    await expect(report).rejects.toThrow("stopped");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("of none are there at once; once it is disposed of it hears no more", async () => {
    const { deliveries, arrivals, stop } = begin();
    arrivals[Symbol.dispose]();
    uploaded(deliveries, "a");
    expect(await arrivals.of([], stop.signal)).toMatchObject({ deliveries: 0, ok: true });
  });
});
