/** Reads over PostgreSQL by two processes at once, against one alone. */
import { startEngine } from "./engine.ts";
import { missingTools, processorSeconds, wrk } from "./machine.ts";
import { type Benchmark, measured, median, medianRatio, renderRatios } from "./outcome.ts";
import { openScratch, startService, storeFile } from "./service.ts";

const ROUNDS = 7;
const SECONDS = 3;

interface Pace {
  readonly perSecond: number;
  /** Microseconds of the server's processes, and of the engine, for one request. */
  readonly node: number;
  readonly engine: number;
}

/**
 * What a process does in a second of its processor, when two share the rows and the engine. The clock alone would measure this
 * machine: the engine and the load generator take what is left of two cores.
 */
export const processes: Benchmark = async () => {
  const name = "processes";
  const missing = missingTools("wrk");
  if (missing !== null) return { kind: "not measured", name, reason: missing };
  await using scratch = await openScratch();
  await using engine = await startEngine();
  await using first = await startService(scratch.directory, 1, { SERVICE_DATABASE_URL: await engine.make("service") });
  await using second = await first.startAnother();
  const path = `/api/files/${await storeFile(first, "metadata.bin")}`;
  const authorization = `authorization: Bearer ${first.readKey}`;
  const paceOf = async (servers: readonly { readonly baseUrl: string; readonly pid: number }[]): Promise<Pace> => {
    const spent = () => servers.reduce((sum, { pid }) => sum + processorSeconds(pid), 0);
    const before = { node: spent(), engine: engine.seconds() };
    const counts = await Promise.all(servers.map(({ baseUrl }) => wrk(SECONDS, baseUrl + path, [authorization])));
    const requests = counts.reduce((sum, count) => sum + count, 0);
    const each = (after: number, since: number) => ((after - since) / requests) * 1e6;
    return {
      perSecond: requests / SECONDS,
      node: each(spent(), before.node),
      engine: each(engine.seconds(), before.engine),
    };
  };
  // Compiled and planned once before it is measured.
  await paceOf([first, second]);
  const one: Pace[] = [];
  const two: Pace[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // Each of both is the one that is alone in turn.
    one.push(await paceOf([round % 2 === 0 ? first : second]));
    two.push(await paceOf([first, second]));
  }
  const series = (of: readonly Pace[], what: keyof Pace) => of.map(({ [what]: value }) => value);
  return measured({
    name,
    about: "reads that two processes answer in a second of each one's processor, over those of one alone",
    value: 2 * medianRatio(series(one, "node"), series(two, "node")),
    unit: "times",
    limit: { at: "least", value: 1.5 },
    alsoHeld: {
      "PostgreSQL's processor time for a read beside another process, over that without": {
        value: medianRatio(series(two, "engine"), series(one, "engine")),
        limit: { at: "most", value: 1.2 },
      },
    },
    series: {
      "one, µs of Node": series(one, "node"),
      "two, µs of Node": series(two, "node"),
      "one, µs of PostgreSQL": series(one, "engine"),
      "two, µs of PostgreSQL": series(two, "engine"),
      "one, reads a second": series(one, "perSecond"),
      "two, reads a second": series(two, "perSecond"),
    },
    facts: {
      "two over one, by the clock": renderRatios(series(two, "perSecond"), series(one, "perSecond")),
      "why the clock is not held": `a read takes ${(median(series(two, "node")) + median(series(two, "engine"))).toFixed(0)} µs of two cores besides the load generator: one process has the second core for its engine already`,
      load: `wrk -t1 -c32 -d${String(SECONDS)}s for each process, in turns`,
    },
  });
};
