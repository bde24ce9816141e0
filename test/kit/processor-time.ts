import { readFileSync } from "node:fs";

/** Clock ticks of Linux per second: `sysconf(_SC_CLK_TCK)` is 100 on every platform that Node runs on. */
const TICKS = 100;

/**
 * Seconds of processor time that this process and the children that it has waited for have used so far. Elsewhere than on
 * Linux, nothing tells what the children used: then it is that of this process alone.
 */
export function processorSeconds(): number {
  if (process.platform !== "linux") return (process.cpuUsage().user + process.cpuUsage().system) / 1e6;
  return ticks(["utime", "stime", "cutime", "cstime"]) / TICKS;
}

/** Seconds that the children that this process has waited for have used so far; 0 elsewhere than on Linux. */
export function childProcessorSeconds(): number {
  return process.platform === "linux" ? ticks(["cutime", "cstime"]) / TICKS : 0;
}

/** The positions of proc(5), counted from the state, which follows the name in parentheses. */
const FIELDS = { utime: 11, stime: 12, cutime: 13, cstime: 14 };

function ticks(names: readonly (keyof typeof FIELDS)[]): number {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return names.reduce((sum, name) => sum + Number(fields[FIELDS[name]]), 0);
}
