/** `--events file.uploaded,vault.member_removed`, or `*`. */
import { EVENT_KINDS } from "@coffer/contract";
import { usage } from "../../../failure.ts";

export type Event = (typeof EVENT_KINDS)[number] | "*";

export function parseEvents(texts: readonly string[]): Event[] {
  return texts.map((text) => {
    const kind = (["*", ...EVENT_KINDS] as const).find((each) => each === text.trim());
    if (kind !== undefined) return kind;
    throw usage(`There is no such event: ${text}`, `name some of ${EVENT_KINDS.join(",")}, or '*'`);
  });
}
