/** Processor time of a GET of a file's metadata, with every check, rate limit and scope, over that of a Fastify that says hello. */
import { missingTools, openScratch, processorSeconds, startProgram, wrk } from "./machine.ts";
import type { Benchmark } from "./ratio.ts";
import { startService } from "./service.ts";

const HELLO = new URL("programs/hello.ts", import.meta.url).pathname;
const ROUNDS = 10;
const SECONDS = 3;

export const metadata: Benchmark = async () => {
  const title = "processor time of GET /api/files/{id} over that of a Fastify hello";
  const missing = missingTools("wrk");
  if (missing !== null) return { comparisons: [], skipped: [{ title, reason: missing }] };
  await using scratch = await openScratch();
  await using hello = await startProgram(process.execPath, (port) => [HELLO, String(port)]);
  await using service = await startService(scratch.directory);
  const headers = { authorization: `Bearer ${service.apiKey}` };
  const body = new Uint8Array(1000);
  const stored = await fetch(`${service.baseUrl}/api/files?name=metadata.bin`, { method: "POST", headers, body });
  const { file } = (await stored.json()) as { file: { id: string } };
  const microseconds = async (pid: number, url: string, words: readonly string[] = []): Promise<number> => {
    const before = processorSeconds(pid);
    const requests = await wrk(SECONDS, url, words);
    return ((processorSeconds(pid) - before) / requests) * 1e6;
  };
  const ours: number[] = [];
  const peer: number[] = [];
  // Round 0 warms both up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    // At the same time, so that both run on a machine that is never idle: a load generator that falls asleep between
    // answers costs the server a wake-up per answer, and it sleeps more the slower the server is.
    const [own, other] = await Promise.all([
      microseconds(service.pid, `${service.baseUrl}/api/files/${file.id}`, [
        `authorization: Bearer ${service.readKey}`,
      ]),
      microseconds(hello.pid, hello.baseUrl),
    ]);
    if (round === 0) continue;
    ours.push(own);
    peer.push(other);
  }
  return { comparisons: [{ title, better: "lower", unit: "µs", ours, peer }] };
};
