/** How commands take times, and how they show the ends that follow from them. */
import { FUTURE_FORMS, parseEnd, parseMoment, PAST_FORMS, ZONE_FORMS } from "@coffer/tasks";
import type { Context } from "./context.ts";

/** For the help of commands that take bounds. */
export const LOOKS_BACK = `TIME looks back: ${PAST_FORMS}. It is ${ZONE_FORMS.local}.`;

/** For the help of commands that take ends of access. */
export const LOOKS_FORWARD = `TIME looks forward: ${FUTURE_FORMS}. It is ${ZONE_FORMS.local}, and is rounded up to a quarter of an hour.`;

/** A bound of a list or of a rewind, on the clock of this machine. */
export const boundOf = ({ world }: Pick<Context, "world">, flag: string, text: string): string =>
  parseMoment(flag, text, "local", world.now());

/** An end of access, on the clock of this machine. */
export const endOf = ({ world }: Pick<Context, "world">, flag: string, text: string): string =>
  parseEnd(flag, text, "local", world.now());

/** Says an end before it is decided. The result says it again. */
export function printEnd({ printNote }: Pick<Context, "printNote">, endsAt: string | null): void {
  printNote(`The access will end: ${endText(endsAt)}`);
}

/** When something ends by itself: `2027-01-08 17:00+01:00`, on the clock of this machine (`TZ`). It can be given back as it stands. */
export function endText(endsAt: string | null): string {
  if (endsAt === null) return "never";
  const east = -new Date(endsAt).getTimezoneOffset();
  const [date = "", time = ""] = new Date(Date.parse(endsAt) + east * 60_000).toISOString().split("T");
  return `${date} ${time.slice(0, 5)}${offsetText(east)}`;
}

/** `+01:00`; minutes east of UTC. */
function offsetText(east: number): string {
  if (east === 0) return "Z";
  const two = (number: number): string => String(number).padStart(2, "0");
  const minutes = Math.abs(east);
  return `${east < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
