/** Processes whose clock is wrong: libfaketime shifts what the wall clock says, and leaves the monotonic clock alone. */
import { globSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [LIBRARY] = globSync("/usr/lib/*/faketime/libfaketime.so.1");

/** Why tests of wrong clocks cannot run here; null: they can. */
export const NO_FAKETIME =
  LIBRARY === undefined ? "libfaketime is not installed (Debian: apt-get install libfaketime)" : null;

/** For a process whose clock is so many seconds ahead. */
export function clockAhead(seconds: number): Record<string, string> {
  return { ...preload(), FAKETIME: offset(seconds) };
}

export interface SetClock {
  readonly environment: Readonly<Record<string, string>>;
  /** Sets the clock of the process, which is right at first. It sees that within a second. */
  set(secondsAhead: number): void;
}

/** For a process whose clock is set while it runs. */
export function clockThatIsSet(directory: string): SetClock {
  const path = join(directory, "clock");
  const set = (seconds: number): void => writeFileSync(path, offset(seconds));
  set(0);
  return { environment: { ...preload(), FAKETIME_TIMESTAMP_FILE: path, FAKETIME_CACHE_DURATION: "1" }, set };
}

function preload(): Record<string, string> {
  return { LD_PRELOAD: LIBRARY ?? "", FAKETIME_DONT_FAKE_MONOTONIC: "1", DONT_FAKE_MONOTONIC: "1" };
}

function offset(seconds: number): string {
  return `${seconds < 0 ? "" : "+"}${String(seconds)}`;
}
