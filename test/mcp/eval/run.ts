/** Runs the tasks, one after the other, and counts what each costs. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Counted } from "./agent.ts";
import type { EvalTask, Home } from "./task.ts";
import { changing } from "./tasks/changing.ts";
import { finding } from "./tasks/finding.ts";
import { refusing } from "./tasks/refusing.ts";
import { sharing } from "./tasks/sharing.ts";
import { storing } from "./tasks/storing.ts";
import { openWorld, type EarlyWorld, type World } from "./world.ts";

export const TASKS: readonly EvalTask[] = [...storing, ...finding, ...changing, ...sharing, ...refusing];

/** How one task went. */
export interface TaskReport {
  readonly name: string;
  readonly ask: string;
  readonly as: string;
  /** null: the end state is as it must be, within the calls and the failures that are allowed. */
  readonly problem: string | null;
  readonly calls: number;
  readonly most: number;
  /** Of arguments and answers, at four characters a token. */
  readonly tokens: number;
  readonly failures: readonly string[];
}

const CHARACTERS_OF_TOKEN = 4;

export async function runTasks(
  tasks: readonly EvalTask[],
  say: (report: TaskReport) => void = () => undefined,
): Promise<TaskReport[]> {
  const past = tasks.flatMap((task) =>
    task.past === undefined
      ? []
      : [
          {
            ago: task.past.ago,
            happen: async (early: EarlyWorld) => task.past?.happen(early, await homeOf(early, task)),
          },
        ],
  );
  await using world = await openWorld(past);
  const reports: TaskReport[] = [];
  for (const task of tasks) {
    const report = await runTask(world, task, await homeOf(world, task));
    say(report);
    reports.push(report);
  }
  return reports;
}

async function homeOf(world: EarlyWorld, task: EvalTask): Promise<Home> {
  const at = String(TASKS.indexOf(task) + 1);
  const directory = join(world.directory, at);
  await mkdir(directory, { recursive: true });
  return { directory, title: `Vault ${at}` };
}

async function runTask(world: World, task: EvalTask, home: Home): Promise<TaskReport> {
  const counted: Counted = { calls: 0, characters: 0, failures: [] };
  const problem = await problemOf(world, task, home, counted).catch((error: unknown) =>
    error instanceof Error ? error.message : String(error),
  );
  const { name, ask, as, most } = task;
  const { calls, characters, failures } = counted;
  return { name, ask, as, problem, calls, most, tokens: Math.ceil(characters / CHARACTERS_OF_TOKEN), failures };
}

async function problemOf(world: World, task: EvalTask, home: Home, counted: Counted): Promise<string | null> {
  const { play, verify } = await task.prepare(world, home);
  const told = await play((await world.host(task.as)).agent(counted));
  await verify(told);
  if (counted.calls > task.most) return `${String(counted.calls)} calls, at most ${String(task.most)}`;
  if (JSON.stringify(counted.failures) !== JSON.stringify(task.failures))
    return `failures ${counted.failures.join(", ")}, expected ${task.failures.join(", ")}: ${told}`;
  return null;
}

/** One line a task, and a sum. */
export function renderReport(reports: readonly TaskReport[]): string {
  const sum = (of: (report: TaskReport) => number): number => reports.reduce((all, each) => all + of(each), 0);
  const good = sum(({ problem }) => (problem === null ? 1 : 0));
  const failures = sum((each) => each.failures.length);
  const total = [
    `${String(good)} of ${String(reports.length)} tasks ok`,
    `${String(sum(({ calls }) => calls))} calls, ${String(sum(({ tokens }) => tokens))} tokens, ${String(failures)} refusals`,
  ];
  return total.join(", ");
}

export function renderTask({ name, as, problem, calls, most, tokens, failures }: TaskReport): string {
  const line = [
    (problem === null ? "ok" : "FAILED").padEnd(6),
    `${String(calls)}/${String(most)} calls`,
    `${String(tokens).padStart(5)} tokens`,
    as.padEnd(12),
    name,
  ].join("  ");
  const refused = failures.length === 0 ? "" : `  (${failures.join(", ")})`;
  return `${line}${refused}${problem === null ? "" : `\n        ${problem.replaceAll("\n", "\n        ")}`}`;
}
