/** Upper bounds in seconds. */
export const DURATION_BOUNDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600] as const;

/** How often something was done and how long it took, since the process began: plain numbers, because this is on every request's way. */
export class Durations {
  /** Below each of {@link DURATION_BOUNDS} and not below the one before; the last is for all that took longer. */
  readonly counts: number[] = [...DURATION_BOUNDS.map(() => 0), 0];
  seconds = 0;

  observe(milliseconds: number): void {
    const seconds = milliseconds / 1000;
    let bucket = 0;
    while (bucket < DURATION_BOUNDS.length && seconds > (DURATION_BOUNDS[bucket] ?? Infinity)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.seconds += seconds;
  }
}
