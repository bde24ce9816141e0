/** The steps of a story. Each is printed as it ends; after one that failed, the rest is not tried. */

export interface Step {
  /** A short name, stable: `vault`, `joined`, … */
  readonly name: string;
  readonly ok: boolean;
  /** What happened, in one sentence; of a step that failed, why. */
  readonly said: string;
  /** Seconds. */
  readonly seconds: number;
}

/** What a step found: a sentence alone is a success. */
export type Found = string | { readonly ok: boolean; readonly said: string };

export class Story {
  readonly steps: Step[] = [];
  readonly #say: (line: string) => void;
  readonly #signal: AbortSignal;
  #brokeOff = false;

  constructor(say: (line: string) => void, signal: AbortSignal) {
    this.#say = say;
    this.#signal = signal;
  }

  /** Every step came to what it should. */
  get ok(): boolean {
    return !this.#brokeOff && this.steps.every(({ ok }) => ok);
  }

  /** Runs what the story cannot begin without: rejects with what `work` throws. */
  async begin<Value>(
    name: string,
    work: () => Promise<{ readonly value: Value; readonly said: string }>,
  ): Promise<Value> {
    this.#signal.throwIfAborted();
    const start = performance.now();
    const { value, said } = await work();
    this.#end({ name, ok: true, said, seconds: (performance.now() - start) / 1000 });
    return value;
  }

  /** Rejects only when the signal aborts; what `work` throws is the step's failure, and ends the story. */
  async step(name: string, work: () => Promise<Found>): Promise<void> {
    this.#signal.throwIfAborted();
    if (this.#brokeOff) return;
    const start = performance.now();
    const { ok, said } = await this.#resultOf(work);
    this.#signal.throwIfAborted();
    this.#end({ name, ok, said, seconds: (performance.now() - start) / 1000 });
  }

  #end(step: Step): void {
    this.steps.push(step);
    this.#say(`${step.ok ? "ok" : "FAILED"}  ${step.said}`);
  }

  async #resultOf(work: () => Promise<Found>): Promise<{ ok: boolean; said: string }> {
    try {
      const found = await work();
      return typeof found === "string" ? { ok: true, said: found } : found;
    } catch (error) {
      this.#brokeOff = true;
      return { ok: false, said: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
    }
  }
}
