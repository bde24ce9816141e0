/** Times as people and models name them. */
import { TaskFailure } from "./failure.ts";

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const FORMS = 'a date like 2026-11-20, a time in UTC like 2026-11-20T17:00Z, or an age like 30m, 2h, 3d, 1w or "today"';

/**
 * The moment that a text names, as the service takes it: `2026-11-20T17:00:00.000Z`. An age counts back from now, and
 * `today` and `yesterday` are days in UTC.
 * @throws TaskFailure `invalid_arguments`.
 */
export function parseMoment(argument: string, text: string, now: number = Date.now()): string {
  const given = text.trim();
  const age = /^(\d{1,6})\s*([mhdw])(\s+ago)?$/i.exec(given);
  const unit = age?.[2]?.toLowerCase();
  if (unit === "m" || unit === "h" || unit === "d" || unit === "w")
    return moment(argument, now - Number(age?.[1]) * UNITS[unit]);
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

/** An end of access: a moment in the future, or a span from now like `3d`, at the next whole quarter of an hour. */
export function parseEnd(argument: string, text: string, now: number = Date.now()): string {
  const span = /^(in\s+)?(\d{1,6})\s*([mhdw])$/i.exec(text.trim());
  const unit = span?.[3]?.toLowerCase();
  const isSpan = unit === "m" || unit === "h" || unit === "d" || unit === "w";
  const end = isSpan ? now + Number(span?.[2]) * UNITS[unit] : Date.parse(parseMoment(argument, text, now));
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
