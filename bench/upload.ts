import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { measured, medianRatio, type Benchmark } from "./outcome.ts";
import { curl, findProgram, missingTools, processorSeconds, startProgram, writeSample } from "./machine.ts";
import { openScratch, startService } from "./service.ts";
import { STREAMED } from "./transfer.ts";

const ROUNDS = 7;
const MEBIBYTES = 256;

/** Throughput of a 256 MiB upload, with SHA-256 and fsync before the answer, against `rclone serve webdav`. */
export const upload: Benchmark = async () => {
  const name = "upload";
  const missing = missingTools("rclone", "curl");
  if (missing !== null) return { kind: "not measured", name, reason: missing };
  await using scratch = await openScratch();
  const sample = join(scratch.directory, "sample");
  const served = join(scratch.directory, "webdav");
  writeSample(sample, MEBIBYTES);
  mkdirSync(served);
  await using rclone = await startProgram(findProgram("rclone") ?? "rclone", (port) => [
    "serve",
    "webdav",
    served,
    "--addr",
    `127.0.0.1:${String(port)}`,
    "--config",
    "/dev/null",
  ]);
  await using service = await startService(scratch.directory);
  const target = [...STREAMED, "-H", `authorization: Bearer ${service.keys[0] ?? ""}`, "--upload-file", sample];
  const ours: number[] = [];
  const peer: number[] = [];
  const before = { ours: processorSeconds(service.pid), peer: processorSeconds(rclone.pid) };
  // Both keep what they store until the end: whoever deletes at once writes into memory that is still warm.
  for (let round = 0; round < ROUNDS; round += 1) {
    peer.push(
      await curl("upload", 201, [
        "-H",
        "Expect:",
        "--upload-file",
        sample,
        `${rclone.baseUrl}/sample-${String(round)}`,
      ]),
    );
    ours.push(await curl("upload", 201, [...target, `${service.baseUrl}/api/files?name=sample-${String(round)}`]));
  }
  const spent = (pid: number, since: number) => `${((processorSeconds(pid) - since) / ROUNDS).toFixed(2)} s`;
  return measured({
    name,
    about: `throughput of a ${String(MEBIBYTES)} MiB upload with SHA-256 and fsync over that of rclone serve webdav`,
    value: medianRatio(ours, peer),
    unit: "times",
    limit: { at: "least", value: 0.9 },
    series: { "Coffer, MiB/s": ours, "rclone serve webdav, MiB/s": peer },
    facts: {
      "processor time of Coffer per upload": spent(service.pid, before.ours),
      "processor time of rclone per upload": spent(rclone.pid, before.peer),
      client: "curl, one connection per transfer",
    },
  });
};
