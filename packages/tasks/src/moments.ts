/** Times as people and models name them. */
import { TaskFailure } from "./failure.ts";

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000, y: 31_536_000_000 } as const;
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const FORMS =
  'a date like 2026-11-20, a time in UTC like 2026-11-20T17:00Z, 17:00, or an age like 30m, 2h, 3d, 1w, 1y or "today"';

/**
 * The moment that a text names, as the service takes it: `2026-11-20T17:00:00.000Z`. An age counts back from now, and
 * `today` and `yesterday` are days in UTC.
 * @throws TaskFailure `invalid_arguments`.
 */
export function parseMoment(argument: string, text: string, now: number = Date.now()): string {
  const given = text.trim();
  const age = spanIn(/^(.*?)(\s+ago)?$/i.exec(given)?.[1] ?? "");
  if (age !== null) return moment(argument, now - age);
  const hour = hourIn(given);
  if (hour !== null) return moment(argument, lastAt(hour, now));
  const day = { today: 0, yesterday: 1 }[given.toLowerCase()];
  if (day !== undefined) return moment(argument, Math.floor(now / UNITS.d - day) * UNITS.d);
  if (!/^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/i.test(given))
    throw refused(argument);
  const full = given.length === 10 ? given : given.replace(" ", "T");
  const zoned = full.length === 10 || /(Z|[+-]\d{2}:\d{2})$/i.test(full) ? full : `${full}Z`;
  const read = moment(argument, Date.parse(zoned.toUpperCase()));
  // A 30th of February would be a day of March.
  if (full.length === 10 && !read.startsWith(full)) throw refused(argument);
  return read;
}

const QUARTER = 900_000;

/** Milliseconds of a span such as `3d`; null for any other text. */
function spanIn(text: string): number | null {
  const [, count, unit] = /^(\d{1,6})\s*([mhdwy])$/i.exec(text) ?? [];
  return count === undefined || unit === undefined
    ? null
    : Number(count) * UNITS[unit.toLowerCase() as keyof typeof UNITS];
}

/** Milliseconds since midnight of `09:30` or `noon`; null for any other text. */
function hourIn(text: string): number | null {
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})$/.exec(text.toLowerCase() === "noon" ? "12:00" : text) ?? [];
  if (hours === undefined || Number(hours) > 23 || Number(minutes) > 59) return null;
  return Number(hours) * UNITS.h + Number(minutes) * UNITS.m;
}

/** Today, or yesterday when it is not that late yet. */
function lastAt(hour: number, now: number): number {
  const today = Math.floor(now / UNITS.d) * UNITS.d + hour;
  return today <= now ? today : today - UNITS.d;
}

/** The end of the coming day of this name, which is today's when today is one; null for any other text. */
function weekdayEnd(text: string, now: number): number | null {
  const wanted = WEEKDAYS.indexOf(text.toLowerCase());
  if (wanted === -1) return null;
  const days = (wanted - new Date(now).getUTCDay() + 7) % 7;
  return (Math.floor(now / UNITS.d) + days + 1) * UNITS.d;
}

/**
 * An end of access, at the next whole quarter of an hour. It is a moment in the future, a span from now like `3d`, or the last
 * moment of a day like `friday`, in UTC.
 */
export function parseEnd(argument: string, text: string, now: number = Date.now()): string {
  const given = text.trim();
  const span = spanIn(given.replace(/^in\s+/i, ""));
  const end = span === null ? (weekdayEnd(given, now) ?? Date.parse(parseMoment(argument, text, now))) : now + span;
  if (end > now) return moment(argument, Math.ceil(end / QUARTER) * QUARTER);
  throw new TaskFailure("invalid_arguments", { message: `${argument} must be in the future` });
}

function moment(argument: string, milliseconds: number): string {
  const date = new Date(milliseconds);
  if (Number.isNaN(milliseconds) || date.getUTCFullYear() < 1970 || date.getUTCFullYear() > 9999)
    throw refused(argument);
  return date.toISOString();
}

function refused(argument: string): TaskFailure {
  return new TaskFailure("invalid_arguments", { message: `${argument} must be ${FORMS}` });
}
