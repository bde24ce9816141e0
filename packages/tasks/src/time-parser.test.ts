import { afterEach, describe, expect, it, vi } from "vitest";
import { FUTURE_FORMS, parseEnd, parseMoment, PAST_FORMS, type TimeZone } from "./time-parser.ts";

/** A Tuesday. */
const NOW = Date.parse("2026-03-10T12:30:00.000Z");

afterEach(() => void vi.unstubAllEnvs());

describe("parseMoment looks back", () => {
  it.each([
    ["2026-03-01", "2026-03-01T00:00:00.000Z"],
    ["2026-03-01+02:00", "2026-02-28T22:00:00.000Z"],
    ["2026-03-01T17:00Z", "2026-03-01T17:00:00.000Z"],
    ["2026-03-01 17:00", "2026-03-01T17:00:00.000Z"],
    ["2026-03-01T17:00:05.5+02:00", "2026-03-01T15:00:05.500Z"],
    ["30m", "2026-03-10T12:00:00.000Z"],
    ["2h ago", "2026-03-10T10:30:00.000Z"],
    ["1w", "2026-03-03T12:30:00.000Z"],
    ["today", "2026-03-10T00:00:00.000Z"],
    ["Yesterday", "2026-03-09T00:00:00.000Z"],
    ["yesterday 17:00", "2026-03-09T17:00:00.000Z"],
    ["tuesday", "2026-03-10T00:00:00.000Z"],
    ["friday", "2026-03-06T00:00:00.000Z"],
    ["1y", "2025-03-10T12:30:00.000Z"],
    ["noon", "2026-03-10T12:00:00.000Z"],
    ["9:15", "2026-03-10T09:15:00.000Z"],
    ["17:00", "2026-03-09T17:00:00.000Z"],
    ["17:00+05:00", "2026-03-10T12:00:00.000Z"],
  ])("reads %s", (text, moment) => {
    expect(parseMoment("since", text, "UTC", NOW)).toBe(moment);
  });

  it.each([
    ...["", "Z", "soon", "2026-02-30", "2026-13-01", "0099-01-01", "2026-03-01T25:00Z", "999999w", "-2h", "24:00"],
    ...["tomorrow", "in 2h", "2026-03-01T17:00+15:00", "2026-03-01T17:00+01"],
  ])("refuses %j with every form that it takes", (text) => {
    expect(() => parseMoment("since", text, "UTC", NOW)).toThrow(
      `since must be ${PAST_FORMS}; in UTC, unless an offset like +01:00 follows`,
    );
  });
});

describe("parseEnd looks forward", () => {
  it.each([
    ["3d", "2026-03-13T12:30:00.000Z"],
    ["in 20m", "2026-03-10T13:00:00.000Z"],
    ["Friday", "2026-03-14T00:00:00.000Z"],
    ["tuesday", "2026-03-11T00:00:00.000Z"],
    ["monday", "2026-03-17T00:00:00.000Z"],
    ["today", "2026-03-11T00:00:00.000Z"],
    ["tomorrow", "2026-03-12T00:00:00.000Z"],
    ["tomorrow 09:10", "2026-03-11T09:15:00.000Z"],
    ["2026-03-10", "2026-03-11T00:00:00.000Z"],
    ["2026-03-11", "2026-03-12T00:00:00.000Z"],
    ["2026-03-11-05:00", "2026-03-12T05:00:00.000Z"],
    ["17:00", "2026-03-10T17:00:00.000Z"],
    ["9:15", "2026-03-11T09:15:00.000Z"],
    ["12:30", "2026-03-11T12:30:00.000Z"],
    ["noon", "2026-03-11T12:00:00.000Z"],
    ["17:00+05:00", "2026-03-11T12:00:00.000Z"],
    ["2026-03-11T17:01+01:00", "2026-03-11T16:15:00.000Z"],
  ])("reads %s", (text, moment) => {
    expect(parseEnd("until", text, "UTC", NOW)).toBe(moment);
  });

  it("rounds the end of a day up to a quarter of an hour that the chain keeps", () => {
    expect(parseEnd("until", "2026-03-11+00:07", "UTC", NOW)).toBe("2026-03-12T00:00:00.000Z");
  });

  it.each(["", "blah", "yesterday", "3d ago", "someday"])("refuses %j with every form that it takes", (text) => {
    expect(() => parseEnd("until", text, "local", NOW)).toThrow(
      `until must be ${FUTURE_FORMS}; in the time zone of this machine (TZ), unless Z or an offset like +01:00 follows`,
    );
  });

  it.each(["2026-03-09", "0m", "2026-03-10T12:30Z"])("refuses %j, which has passed", (text) => {
    expect(() => parseEnd("until", text, "UTC", NOW)).toThrow(/^until must be in the future: 30m/);
  });
});

/** What stands in the forms as an example: `2h`, `17:00`, `friday`, `3d ago`, … */
const examplesIn = (forms: string): string[] =>
  forms.match(
    /\d+[mhdwy] ago|in \d+[mhdwy]|\b\d+[mhdwy]\b|[\w-]+[T ]\d\d:\d\d|\b\d\d:\d\d|\d{4}-\d\d-\d\d|noon|today|yesterday|tomorrow|friday/g,
  ) ?? [];

describe("the forms that a message or a help names", () => {
  it.each(examplesIn(PAST_FORMS))("%s is taken for a bound", (text) => {
    expect(parseMoment("since", text, "UTC", NOW)).toMatch(/Z$/);
  });

  it.each(examplesIn(FUTURE_FORMS))("%s is taken for an end", (text) => {
    expect(Date.parse(parseEnd("until", text, "UTC", NOW))).toBeGreaterThan(NOW);
  });
});

describe("a day is a day of TZ, also when daylight saving begins or ends", () => {
  const at = (zone: string, read: typeof parseEnd, text: string, now: string, days: TimeZone = "local"): string => {
    vi.stubEnv("TZ", zone);
    return read("until", text, days, Date.parse(now));
  };

  it.each([
    // The clocks of Berlin went forward on 29 March 2026 and back on 25 October: days of 23 and of 25 hours.
    ["Europe/Berlin", "2026-03-28", "2026-03-27T12:00Z", "2026-03-28T23:00:00.000Z"],
    ["Europe/Berlin", "2026-03-29", "2026-03-27T12:00Z", "2026-03-29T22:00:00.000Z"],
    ["Europe/Berlin", "today", "2026-10-25T00:30Z", "2026-10-25T23:00:00.000Z"],
    ["Europe/Berlin", "17:00", "2026-03-28T17:00Z", "2026-03-29T15:00:00.000Z"],
    ["Europe/Berlin", "2026-03-29T02:30", "2026-03-27T12:00Z", "2026-03-29T01:30:00.000Z"],
    ["Europe/Berlin", "2026-10-25T02:30", "2026-10-24T12:00Z", "2026-10-25T00:30:00.000Z"],
    // A span is as long as it says.
    ["Europe/Berlin", "1d", "2026-03-28T12:00Z", "2026-03-29T12:00:00.000Z"],
    // Midnight of 24 April does not exist in Cairo, and the next midnight of Kathmandu is no whole hour.
    ["Africa/Cairo", "2026-04-23", "2026-04-20T12:00Z", "2026-04-23T22:00:00.000Z"],
    ["Asia/Kathmandu", "friday", "2026-03-13T12:00Z", "2026-03-13T18:15:00.000Z"],
    // It is Friday here, and still Thursday or already Saturday in UTC.
    ["Pacific/Auckland", "friday", "2026-03-12T20:00Z", "2026-03-13T11:00:00.000Z"],
    ["America/Los_Angeles", "friday", "2026-03-14T02:00Z", "2026-03-14T07:00:00.000Z"],
  ])("in %s the end %s, said at %s, is %s", (zone, text, now, end) => {
    expect(at(zone, parseEnd, text, now)).toBe(end);
  });

  it.each([
    ["Europe/Berlin", "today", "2026-03-29T12:00Z", "2026-03-28T23:00:00.000Z"],
    ["Europe/Berlin", "yesterday", "2026-03-30T12:00Z", "2026-03-28T23:00:00.000Z"],
    ["Europe/Berlin", "02:30", "2026-03-29T12:00Z", "2026-03-29T01:30:00.000Z"],
    ["Europe/Berlin", "sunday", "2026-10-26T12:00Z", "2026-10-24T22:00:00.000Z"],
    ["America/Los_Angeles", "17:00", "2026-03-08T12:00Z", "2026-03-08T01:00:00.000Z"],
  ])("in %s the bound %s, said at %s, is %s", (zone, text, now, moment) => {
    expect(at(zone, parseMoment, text, now)).toBe(moment);
  });

  it("in tools a day is one of UTC, whatever TZ says", () => {
    expect(at("Pacific/Auckland", parseEnd, "friday", "2026-03-12T20:00Z", "UTC")).toBe("2026-03-14T00:00:00.000Z");
    expect(at("Pacific/Auckland", parseMoment, "today", "2026-03-12T20:00Z", "UTC")).toBe("2026-03-12T00:00:00.000Z");
  });
});
