/** How far a long copy is, for an operator who waits: a line every two seconds. */
import type { Content } from "./blobs.ts";

const PROGRESS_EVERY = 2_000;

export function progressOf(say: (line: string) => void, what: string) {
  let [rows, bytes, said] = [0, 0, performance.now()];
  const report = (): void => {
    if (performance.now() - said < PROGRESS_EVERY) return;
    said = performance.now();
    say(`${what}: ${String(rows)}${bytes === 0 ? "" : `, ${String(Math.round(bytes / 1024 ** 2))} MiB`}`);
  };
  return {
    rows: (count: number): void => {
      rows += count;
      report();
    },
    content: ({ size }: Content): void => {
      rows += 1;
      bytes += size;
      report();
    },
  };
}
