/** A PostgreSQL of a benchmark's own, and what it costs. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openCluster } from "@coffer/devstack/engines";
import { childSeconds, processorSeconds } from "./machine.ts";

export interface Engine extends AsyncDisposable {
  /** Makes an empty database; its address. */
  make(database: string): Promise<string>;
  /** Processor seconds of its connections so far, those included that have ended: each is a process. */
  seconds(): number;
}

/** `settings`: of the server; without any it forgets what a crash takes. */
export async function startEngine(settings: readonly string[] = []): Promise<Engine> {
  const cluster = await openCluster({ settings });
  const pid = Number(readFileSync(join(cluster.directory, "data", "postmaster.pid"), "utf8").split("\n")[0]);
  return {
    async make(database) {
      await cluster.run(`CREATE DATABASE ${database}`);
      return cluster.urlOf(database);
    },
    seconds: () => secondsBelow(pid) + childSeconds(pid),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

/** Processor seconds so far of the processes that name the directory on their command line. */
export function secondsOf(directory: string): number {
  return secondsWhere((entry) => readFileSync(`/proc/${entry}/cmdline`, "utf8").includes(directory));
}

function secondsBelow(parent: number): number {
  return secondsWhere((entry) => {
    const text = readFileSync(`/proc/${entry}/stat`, "utf8");
    const [, ppid] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return Number(ppid) === parent;
  });
}

function secondsWhere(isMeant: (entry: string) => boolean): number {
  let sum = 0;
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      if (isMeant(entry)) sum += processorSeconds(Number(entry));
    } catch {
      // It ended while it was looked for.
    }
  }
  return sum;
}
