import { describe, expect, it } from "vitest";
import { parseEnd, parseMoment } from "./moments.ts";

const NOW = Date.parse("2026-03-10T12:30:00.000Z");

describe("parseMoment", () => {
  it.each([
    ["2026-03-01", "2026-03-01T00:00:00.000Z"],
    ["2026-03-01T17:00Z", "2026-03-01T17:00:00.000Z"],
    ["2026-03-01 17:00", "2026-03-01T17:00:00.000Z"],
    ["2026-03-01T17:00:05.5+02:00", "2026-03-01T15:00:05.500Z"],
    ["30m", "2026-03-10T12:00:00.000Z"],
    ["2h ago", "2026-03-10T10:30:00.000Z"],
    ["1w", "2026-03-03T12:30:00.000Z"],
    ["today", "2026-03-10T00:00:00.000Z"],
    ["Yesterday", "2026-03-09T00:00:00.000Z"],
    ["1y", "2025-03-10T12:30:00.000Z"],
    ["noon", "2026-03-10T12:00:00.000Z"],
    ["9:15", "2026-03-10T09:15:00.000Z"],
    ["17:00", "2026-03-09T17:00:00.000Z"],
  ])("reads %s", (text, moment) => {
    expect(parseMoment("since", text, NOW)).toBe(moment);
  });

  it.each(["", "soon", "2026-02-30", "2026-13-01", "2026-03-01T25:00Z", "999999w", "-2h", "24:00", "friday"])(
    "refuses %j and names the forms",
    (text) => {
      expect(() => parseMoment("since", text, NOW)).toThrow(/^since must be a date like/);
    },
  );
});

describe("parseEnd", () => {
  // NOW is a Tuesday.
  it.each([
    ["3d", "2026-03-13T12:30:00.000Z"],
    ["in 20m", "2026-03-10T13:00:00.000Z"],
    ["Friday", "2026-03-14T00:00:00.000Z"],
    ["tuesday", "2026-03-11T00:00:00.000Z"],
    ["monday", "2026-03-17T00:00:00.000Z"],
    ["2026-03-11", "2026-03-11T00:00:00.000Z"],
  ])("reads %s", (text, moment) => {
    expect(parseEnd("until", text, NOW)).toBe(moment);
  });

  it.each(["yesterday", "2026-03-10", "9:15", "someday"])("refuses %j", (text) => {
    expect(() => parseEnd("until", text, NOW)).toThrow(/^until must be/);
  });
});
