import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import type { Reporter, TestModule, TestSpecification } from "vitest/node";

/** Without a terminal a line is printed for what failed, and otherwise no more often than this. Milliseconds. */
const PAUSE = 10_000;

/**
 * A vitest reporter that says how far a run is: one line that changes on a terminal, plain lines elsewhere. It writes to the file
 * descriptor that `COFFER_TEST_PROGRESS` names, since vitest's own output is shown only when something failed.
 */
export default class ProgressReporter implements Reporter {
  readonly #target = Number(process.env["COFFER_TEST_PROGRESS"]);
  readonly #terminal = isatty(this.#target);
  #started = 0;
  #said = 0;
  #files = { done: 0, all: 0 };
  #tests = { passed: 0, failed: 0, skipped: 0 };

  onTestRunStart(files: readonly TestSpecification[]): void {
    this.#started = this.#said = performance.now();
    this.#files.all = files.length;
  }

  onTestModuleEnd(module: TestModule): void {
    this.#files.done += 1;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      this.#tests[state === "passed" || state === "failed" ? state : "skipped"] += 1;
    }
    const failed = module.state() === "failed";
    if (failed) this.#say(`FAILED ${module.relativeModuleId}`, true);
    const last = this.#files.done === this.#files.all;
    if (this.#terminal || last || performance.now() - this.#said > PAUSE) this.#say(this.#progress(), last);
  }

  #progress(): string {
    const { passed, failed, skipped } = this.#tests;
    const seconds = Math.round((performance.now() - this.#started) / 1000);
    const tests = `${passed} tests passed, ${failed} failed, ${skipped} skipped`;
    return `${this.#files.done} of ${this.#files.all} files, ${tests}, ${seconds} s`;
  }

  /** `stays`: the next line does not take its place. */
  #say(line: string, stays: boolean): void {
    this.#said = performance.now();
    writeSync(this.#target, this.#terminal ? `\r\x1b[K${line}${stays ? "\n" : ""}` : `${line}\n`);
  }
}
