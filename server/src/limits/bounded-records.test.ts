import { describe, expect, it } from "vitest";
import { BoundedRecords } from "./bounded-records.ts";

/** Records are the times at which they are over. */
const open = (capacity: number) => new BoundedRecords<number>(capacity, (over, now) => over <= now);

describe("bounded records", () => {
  it("never hold more than their capacity in each part", () => {
    const records = open(10);
    for (let at = 0; at < 1000; at += 1) records.put(`open-${at}`, 100, false, 0);
    expect(records.size).toBe(10);
    for (let at = 0; at < 1000; at += 1) records.put(`force-${at}`, 100, true, 0);
    expect(records.size).toBe(20);
    expect([records.get("open-999"), records.get("open-989")]).toEqual([100, undefined]);
  });

  it("give up what is in force only for others in force, the oldest first", () => {
    const records = open(2);
    records.put("first", 100, true, 0);
    for (let at = 0; at < 100; at += 1) records.put(`open-${at}`, 100, false, 0);
    records.put("second", 100, true, 0);
    expect(records.get("first")).toBe(100);
    records.put("third", 100, true, 0);
    expect([records.get("first"), records.get("second"), records.get("third")]).toEqual([undefined, 100, 100]);
  });

  it("keep a key in one part at a time", () => {
    const records = open(2);
    records.put("key", 1, true, 0);
    records.put("key", 2, false, 0);
    expect([records.size, records.get("key")]).toEqual([1, 2]);
    records.delete("key");
    expect(records.size).toBe(0);
  });

  it("drop what is over as new keys come", () => {
    const records = open(1000);
    for (let at = 0; at < 1000; at += 1) records.put(`old-${at}`, 50, at % 2 === 0, 0);
    for (let at = 0; at < 500; at += 1) records.put(`new-${at}`, 150, false, 100);
    expect(records.size).toBe(500);
  });
});
