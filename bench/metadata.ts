import { measured, medianRatio, type Benchmark } from "./outcome.ts";
import { missingTools, processorSeconds, startProgram, wrk } from "./machine.ts";
import { openScratch, RATE, startService, storeFile } from "./service.ts";

const ROUNDS = 7;
const SECONDS = 4;
const HELLO = new URL("hello.ts", import.meta.url).pathname;

/** Processor time per GET of a file's metadata, with every check, rate limit and scope, against a Fastify that says hello. */
export const metadata: Benchmark = async () => {
  const name = "metadata";
  const missing = missingTools("wrk");
  if (missing !== null) return { kind: "not measured", name, reason: missing };
  await using scratch = await openScratch();
  await using hello = await startProgram(process.execPath, (port) => [HELLO, String(port)]);
  await using service = await startService(scratch.directory);
  const url = `${service.baseUrl}/api/files/${await storeFile(service, "metadata.bin")}`;
  const authorization = `authorization: Bearer ${service.readKey}`;
  const perRequest = async (pid: number, target: string, headers: readonly string[]) => {
    const before = processorSeconds(pid);
    const requests = await wrk(SECONDS, target, headers);
    return ((processorSeconds(pid) - before) / requests) * 1e6;
  };
  // Compiled once before it is measured.
  await wrk(1, hello.baseUrl);
  await wrk(1, url, [authorization]);
  const ours: number[] = [];
  const peer: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // At the same time, so that both run on a machine that is never idle: a load generator that falls asleep between
    // answers costs the server a wake-up per answer, and it sleeps more the slower the server is.
    const [own, other] = await Promise.all([
      perRequest(service.pid, url, [authorization]),
      perRequest(hello.pid, hello.baseUrl, []),
    ]);
    ours.push(own);
    peer.push(other);
  }
  return measured({
    name,
    about: "processor time of GET /api/files/{id} over that of a Fastify hello",
    value: medianRatio(ours, peer),
    unit: "times",
    limit: { at: "most", value: 2.8 },
    series: { "GET metadata, µs": ours, "Fastify hello, µs": peer },
    facts: {
      load: `wrk -t1 -c32 -d${String(SECONDS)}s, on both at the same time`,
      mode: "production, log to a file",
      credential: "an API key with the scope files:read",
      limits: `on; set to ${RATE.toLocaleString("en")} requests a minute, which nothing here reaches`,
    },
  });
};
