/** TEST ONLY: what a race is. */
import type { Environment } from "../config.ts";
import type { TestAnswer } from "../app.test-kit.ts";
import type { World } from "./world.test-kit.ts";

export interface Race {
  /** The racers and their prize. */
  readonly name: string;
  /**
   * What shows that it is one: a driver with this weakness (drivers/database/read-committed.test-kit.ts) breaks it; or, after "holds: ", why even that
   * driver cannot.
   */
  readonly bites: "early" | "unlocked" | `holds: ${string}`;
  readonly environment?: Environment;
  /** Sets it up; nothing runs beside. */
  start(world: World): Promise<Running>;
}

export interface Running {
  /** What goes on side by side. Each may be refused, and none may fail. */
  readonly acts: readonly (() => Promise<unknown>)[];
  /** What must be true afterwards, beyond what is true of every account; `answers` in the order of the acts. */
  readonly holds?: (answers: readonly unknown[]) => Promise<void> | void;
}

export function statusOf(answer: unknown): number {
  return (answer as TestAnswer).status;
}

/** How many of the answers are successes. */
export function successes(answers: readonly unknown[]): number {
  return answers.filter((answer) => statusOf(answer) < 300).length;
}
