/** How far work is, in one line of the terminal that is written over. */
import type { OutputStream } from "../world.ts";
import { cut, durationText, endOf, sizeText, widthOf } from "./visible.ts";

export interface Progress {
  /** So many of so many; `detail` is named beside them, and then as much of the end of `path` as there is room for. */
  update(done: number, total: number, detail?: string, path?: string): void;
  /** Takes the line away. Call it whatever happens. */
  end(): void;
}

export const quietProgress: Progress = { update: () => undefined, end: () => undefined };

const EVERY_MS = 100;
/** The rate of the last seconds, not of the whole: a stall is seen. */
const WINDOW_MS = 5_000;

/** What is counted. */
export type Unit = "bytes" | "items";

const amount = (count: number, unit: Unit): string => (unit === "bytes" ? sizeText(count) : String(count));

export function terminalProgress(
  title: string,
  stream: OutputStream,
  now: () => number,
  unit: Unit = "bytes",
): Progress {
  const points: { at: number; done: number }[] = [];
  let [shownAt, isShown] = [0, false];
  return {
    update: (done, total, detail = "", path = "") => {
      const at = now();
      if (at - shownAt < EVERY_MS && done < total) return;
      shownAt = at;
      points.push({ at, done });
      while (points.length > 2 && at - (points[0]?.at ?? at) > WINDOW_MS) points.shift();
      const [first] = points;
      const rate = first === undefined || at === first.at ? 0 : ((done - first.done) * 1_000) / (at - first.at);
      const remaining = rate > 0 ? ` ${durationText((total - done) / rate)} left` : "";
      const share = total > 0 ? `${String(Math.floor((100 * done) / total)).padStart(3)}%` : "";
      const line = `${title} ${share} ${amount(done, unit)} of ${amount(total, unit)} ${amount(Math.round(rate), unit)}/s${remaining} ${detail}`;
      const room = stream.columns - 1;
      const end = path === "" ? "" : ` ${endOf(path, Math.max(1, room - 1 - widthOf(line)))}`;
      isShown = true;
      void stream.write(`\r${cut(`${line}${end}`, room)}\u001b[K`);
    },
    end: () => {
      if (isShown) void stream.write("\r\u001b[K");
      isShown = false;
    },
  };
}
