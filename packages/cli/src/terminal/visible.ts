/** Text for a terminal: what others wrote becomes harmless, and tables have straight columns. */
import { Untrusted } from "@coffer/tasks/start";
import { asInvoked } from "../invocation.ts";
import type { Printable } from "../result.ts";
import type { World } from "../world.ts";

/** What is shown of a value. Control characters, escapes and characters that turn or hide text are spelled out. */
export function visibleText(value: Printable): string {
  if (value === null || value === undefined) return "";
  return value instanceof Untrusted ? value.visible() : String(value);
}

/** The same of a part of a line. Next steps in texts of ours begin with the reader's own command. */
export function visibleTextFor({ invocation }: Pick<World, "invocation">, value: Printable): string {
  return typeof value === "string" ? asInvoked(value, invocation) : visibleText(value);
}

/** Columns that a terminal takes for the text: East Asian wide characters and emoji take two, marks none. */
export function widthOf(text: string): number {
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += /\p{M}/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u;

/** Cuts a text to a width, with an ellipsis. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let fitting = "";
  for (const character of text) {
    if (widthOf(fitting + character) > width - 1) break;
    fitting += character;
  }
  return `${fitting}…`;
}

/** The end of a text, no wider than that: of a path it says the most. */
export function endOf(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let fitting = "";
  for (const character of Array.from(text).reverse()) {
    if (widthOf(character + fitting) > width - 1) break;
    fitting = character + fitting;
  }
  return `…${fitting}`;
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** 1.5 MiB */
export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < UNITS.length - 1) [value, unit] = [value / 1024, unit + 1];
  return unit === 0 ? `${String(bytes)} B` : `${value.toFixed(value < 10 ? 1 : 0)} ${UNITS[unit] ?? ""}`;
}

/** 2027-01-08 17:00, in UTC. */
export const timeText = (moment: string | null | undefined): string =>
  moment == null ? "" : `${moment.slice(0, 10)} ${moment.slice(11, 16)}Z`;

/** 1:05, or 2:03:04. */
export function durationText(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes, secondsPart] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (number: number): string => String(number).padStart(2, "0");
  return hours > 0 ? `${String(hours)}:${two(minutes)}:${two(secondsPart)}` : `${String(minutes)}:${two(secondsPart)}`;
}
