/** Times as callers see them. */

const DAY = 86_400_000;
let lastDay = { number: NaN, text: "" };

/** RFC 3339 UTC with milliseconds. The date of the last day asked for is kept: a page of files has thousands of times. */
export function toTimestamp(milliseconds: number): string {
  const number = Math.floor(milliseconds / DAY);
  if (number !== lastDay.number) lastDay = { number, text: new Date(milliseconds).toISOString().slice(0, 11) };
  const rest = milliseconds - number * DAY;
  const seconds = Math.floor(rest / 1000);
  const [hour, minute, second] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${lastDay.text}${pad(hour, 2)}:${pad(minute, 2)}:${pad(second, 2)}.${pad(rest % 1000, 3)}Z`;
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, "0");
}
