/** Whatever this process starts belongs to its unit, and what it prints to a log is noted, whoever chose its environment. */
import { ChildProcess, type SpawnOptions } from "node:child_process";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { SEED_VARIABLE, UNIT_VARIABLE, type ScanUnit } from "./unit.ts";

/** Of Node itself: where what is parsed and compiled once is kept. Without it every program of a test would begin anew. */
const COMPILED = "NODE_COMPILE_CACHE";
const PRELOAD = `--import=${new URL("preload.mjs", import.meta.url).href}`;
/** Their standard output is a log. That of other programs is what their own user asked for: answers of tools, a report, a name. */
const SERVICES = /\/(?:server\/dist\/program\/main\.js|dev\/localnet\/src\/main\.ts)$/;

interface Internals {
  spawn(options: SpawnOptions & { file: string; args?: string[]; envPairs?: string[] }): unknown;
}

export function tapChildren(unit: ScanUnit): void {
  const prototype = ChildProcess.prototype as unknown as Internals;
  const { spawn } = prototype;
  if (typeof spawn !== "function") throw new Error("this Node starts processes in another way");
  prototype.spawn = function (this: ChildProcess, options) {
    const joins = joinsUnit(unit, options.envPairs ?? []);
    options.envPairs = withUnit(unit, options.envPairs ?? [], joins);
    const result = spawn.call(this, options);
    const { args = [], file } = options;
    if (this.pid === undefined) return result;
    if (joins && basename(file) === "node") expectJoined(unit, this, [file, ...args]);
    tapOutput(unit, `${this.pid}-stderr`, this.stderr);
    if (args.some((word) => SERVICES.test(word))) tapOutput(unit, `${this.pid}-stdout`, this.stdout);
    return result;
  };
}

/** Not where the scan itself is tested: there a program gets a unit of its own. */
function joinsUnit(unit: ScanUnit, pairs: readonly string[]): boolean {
  const named = pairs.findLast((pair) => pair.startsWith(`${UNIT_VARIABLE}=`));
  return named === undefined || named === `${UNIT_VARIABLE}=${unit.directory}`;
}

/** Pairs are `NAME=value`; a later one replaces an earlier one. */
function withUnit(unit: ScanUnit, pairs: readonly string[], joins: boolean): string[] {
  const given = pairs.findLast((pair) => pair.startsWith("NODE_OPTIONS="))?.slice("NODE_OPTIONS=".length) ?? "";
  const options = given.includes(PRELOAD) ? given : `${given} ${PRELOAD}`.trim();
  const unitPairs = joins ? [`${UNIT_VARIABLE}=${unit.directory}`, `${SEED_VARIABLE}=${unit.seed}`] : [];
  const compiled = process.env[COMPILED];
  const ours = [
    `NODE_OPTIONS=${options}`,
    ...unitPairs,
    ...(compiled === undefined ? [] : [`${COMPILED}=${compiled}`]),
  ];
  const names = ours.map((pair) => pair.slice(0, pair.indexOf("=") + 1));
  return [...pairs.filter((pair) => !names.some((name) => pair.startsWith(name))), ...ours];
}

/** One that ends by itself without having joined was not tapped; one that was killed may not have come to it. */
function expectJoined(unit: ScanUnit, child: ChildProcess, words: readonly string[]): void {
  if (words.some((word) => /^(-v|--version|--run|--check|-c)$/.test(word))) return;
  const { generation } = unit;
  child.prependOnceListener("exit", (code) => {
    // One of an earlier test file joined a unit that is scanned and gone by now.
    if (code !== null && child.pid !== undefined && unit.generation === generation)
      unit.noteProcess(child.pid, words.join(" ").replaceAll(/\s+/g, " ").slice(0, 200));
  });
}

/** Looks at what comes without reading it: that is for whoever started the process. */
function tapOutput(unit: ScanUnit, name: string, stream: Readable | null): void {
  if (stream === null) return;
  const push = stream.push.bind(stream);
  stream.push = (chunk: unknown, encoding) => {
    if (chunk instanceof Uint8Array) unit.noteLog(name, chunk);
    return push(chunk, encoding);
  };
}
