/** Times as people and models name them. The same text names a moment in the past for a bound, and one in the future for an end of access. */
import { END_STEP } from "@coffer/contract";
import { TaskFailure } from "./failure.ts";

/** Whose days and hours a text without an offset means: those of this machine (`TZ`), or UTC. */
export type TimeZone = "local" | "UTC";

type Direction = "past" | "future";

/** Every form that {@link parseMoment} takes, and how it reads it. */
export const PAST_FORMS =
  "30m, 2h, 3d, 1w or 1y (that long ago, also as 3d ago); 17:00 or noon (the last one); today, yesterday, friday or 2026-11-20 (the beginning of that day, of a weekday the last one, which may be today); 2026-11-20T17:00 or friday 17:00";

/** Every form that {@link parseEnd} takes, and how it reads it. */
export const FUTURE_FORMS =
  "30m, 2h, 3d, 1w or 1y (from now, also as in 3d); 17:00 or noon (the next one); today, tomorrow, friday or 2026-11-20 (the end of that day, of a weekday the next one, which may be today); 2026-11-20T17:00 or friday 17:00";

/** How each zone reads days and hours. */
export const ZONE_FORMS: Readonly<Record<TimeZone, string>> = {
  local: "in the time zone of this machine (TZ), unless Z or an offset like +01:00 follows",
  UTC: "in UTC, unless an offset like +01:00 follows",
};

/**
 * A bound of a list or of a rewind, which looks back: `2026-11-20T17:00:00.000Z`. A span counts back from now, and a day is its
 * beginning.
 * @throws TaskFailure `invalid_arguments`, with every form that it takes.
 */
export function parseMoment(argument: string, text: string, zone: TimeZone, now: number = Date.now()): string {
  return rendered(parseTime(text.trim(), "past", zone, now)) ?? refuse(`${argument} must be`, "past", zone);
}

/**
 * An end of access, which looks forward: the next whole quarter of an hour that the chain keeps. A span counts from now, and a
 * day is its end, the next midnight.
 * @throws TaskFailure `invalid_arguments`, with every form that it takes; also for a time that has passed.
 */
export function parseEnd(argument: string, text: string, zone: TimeZone, now: number = Date.now()): string {
  const end = parseTime(text.trim(), "future", zone, now);
  const whole = end === null ? null : rendered(Math.ceil(end / END_STEP) * END_STEP);
  if (end === null || whole === null) return refuse(`${argument} must be`, "future", zone);
  return end > now ? whole : refuse(`${argument} must be in the future:`, "future", zone);
}

const MINUTE = 60_000;
const SPANS = { m: MINUTE, h: 3_600_000, d: 86_400_000, w: 604_800_000, y: 31_536_000_000 } as const;
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
/** Days from today. */
const NEAR_DAYS: Readonly<Record<Direction, Readonly<Record<string, number>>>> = {
  past: { today: 0, yesterday: -1 },
  future: { today: 0, tomorrow: 1 },
};

const SPAN = /^(?<ahead>in\s+)?(?<count>\d{1,6})\s*(?<unit>[mhdwy])(?<ago>\s+ago)?$/i;
/** A day, a time or both, and an offset. */
const CLOCK =
  /^(?<day>\d{4}-\d\d-\d\d|today|tomorrow|yesterday|(?:sun|mon|tues|wednes|thurs|fri|satur)day)?(?:(?:^|[T ])(?<time>noon|(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?))?\s*(?<offset>Z|[+-](?:0\d|1[0-4]):[0-5]\d)?$/i;

/** Milliseconds since 1970; null for a text that is none of the direction's forms. */
function parseTime(text: string, direction: Direction, zone: TimeZone, now: number): number | null {
  const span = SPAN.exec(text)?.groups;
  if (span !== undefined) return spanFrom(span, direction, now);
  const { day: dayText, time: timeText, offset } = CLOCK.exec(text)?.groups ?? {};
  const clock = offset !== undefined ? fixedClock(offset) : zone === "UTC" ? fixedClock("Z") : LOCAL_CLOCK;
  const today = clock.dayAt(now);
  const time = timeText === undefined ? null : parseTimeOfDay(timeText.toLowerCase());
  if (dayText === undefined) return time === null ? null : nearest(clock, today, time, direction, now);
  const day = parseDay(dayText.toLowerCase(), today, direction);
  if (day === null) return null;
  if (time !== null) return clock.momentOf(day, time);
  return clock.momentOf(direction === "past" ? day : shifted(day, 1), 0);
}

function spanFrom(
  { ahead, count, unit, ago }: Readonly<Record<string, string | undefined>>,
  direction: Direction,
  now: number,
): number | null {
  if ((direction === "past" ? ahead : ago) !== undefined) return null;
  const length = Number(count) * SPANS[(unit ?? "").toLowerCase() as keyof typeof SPANS];
  return direction === "past" ? now - length : now + length;
}

/** The last such time of day, or the next one. */
function nearest(clock: Clock, today: Day, time: number, direction: Direction, now: number): number {
  const moment = clock.momentOf(today, time);
  if (direction === "past") return moment <= now ? moment : clock.momentOf(shifted(today, -1), time);
  return moment > now ? moment : clock.momentOf(shifted(today, 1), time);
}

/** Milliseconds since midnight. */
function parseTimeOfDay(text: string): number {
  const [hours, minutes, seconds = "0"] = (text === "noon" ? "12:00" : text).split(":");
  return Number(hours) * SPANS.h + Number(minutes) * MINUTE + Math.floor(Number(seconds) * 1_000);
}

/** A day of the calendar at midnight in UTC, in milliseconds since 1970: days are counted without daylight saving. */
type Day = number;

const shifted = (day: Day, days: number): Day => day + days * SPANS.d;

function parseDay(text: string, today: Day, direction: Direction): Day | null {
  const near = NEAR_DAYS[direction][text];
  if (near !== undefined) return shifted(today, near);
  const weekday = WEEKDAYS.indexOf(text);
  if (weekday !== -1) {
    const ahead = (weekday - new Date(today).getUTCDay() + 7) % 7;
    return shifted(today, direction === "future" || ahead === 0 ? ahead : ahead - 7);
  }
  const day = Date.parse(text);
  // A 30th of February would be a day of March.
  return Number.isNaN(day) || day < 0 || !new Date(day).toISOString().startsWith(text) ? null : day;
}

/** Turns moments into days, and days with a time into moments. */
interface Clock {
  readonly dayAt: (moment: number) => Day;
  readonly momentOf: (day: Day, time: number) => number;
}

/** A time that daylight saving leaves out is the one an hour later; of one that comes twice it is the first. */
const LOCAL_CLOCK: Clock = {
  dayAt: (moment) => {
    const date = new Date(moment);
    return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  },
  momentOf: (day, time) => {
    const date = new Date(day);
    return new Date(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate(), 0, 0, 0, time).getTime();
  },
};

function fixedClock(offset: string): Clock {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(offset) ?? [];
  const east = (sign === "-" ? -1 : 1) * (Number(hours ?? 0) * SPANS.h + Number(minutes ?? 0) * MINUTE);
  return {
    dayAt: (moment) => Math.floor((moment + east) / SPANS.d) * SPANS.d,
    momentOf: (day, time) => day + time - east,
  };
}

/** As the service takes it; null for what RFC 3339 or the service cannot write. */
function rendered(moment: number | null): string | null {
  if (moment === null) return null;
  const date = new Date(moment);
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() < 1970 || date.getUTCFullYear() > 9999) return null;
  return date.toISOString();
}

function refuse(what: string, direction: Direction, zone: TimeZone): never {
  const forms = direction === "past" ? PAST_FORMS : FUTURE_FORMS;
  throw new TaskFailure("invalid_arguments", { message: `${what} ${forms}; ${ZONE_FORMS[zone]}` });
}
