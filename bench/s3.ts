/** Transfers to and from a store that speaks S3, against the least that a proxy in front of it can do. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startCeph } from "../test/kit/ceph/ceph.ts";
import { createBucket } from "../test/kit/ceph/bucket.ts";
import { whyNoCeph } from "../test/kit/ceph/programs.ts";
import { curl, missingTools, peakMebibytes, processorSeconds, startProgram, writeSample } from "./machine.ts";
import { measured, median, medianRatio, type Benchmark } from "./outcome.ts";
import { openScratch, startService } from "./service.ts";
import { STREAMED, uploadFile } from "./transfer.ts";

const ROUNDS = 5;
const MEBIBYTES = 256;
const TRANSFERS = 8;
const BUCKET = "bench";
const PROXY = new URL("s3-proxy.ts", import.meta.url).pathname;

export const s3: Benchmark = async () => {
  const name = "s3";
  const missing = missingTools("curl") ?? whyNoCeph();
  if (missing !== null) return { kind: "not measured", name, reason: missing };
  await using scratch = await openScratch();
  await using ceph = await startCeph();
  await createBucket(ceph, BUCKET);
  const sample = join(scratch.directory, "sample");
  writeSample(sample, MEBIBYTES);
  const { endpoint, accessKeyId, secretAccessKey } = ceph;
  await using proxy = await startProgram(process.execPath, (port) => [
    "--conditions=coffer-source",
    ...[PROXY, String(port), `${endpoint}/${BUCKET}`, accessKeyId, secretAccessKey],
  ]);
  await using service = await startService(scratch.directory, 1, {
    SERVICE_BLOBS_URL: `${endpoint}/${BUCKET}/ours`,
    ...{ SERVICE_BLOBS_ACCESS_KEY_ID: accessKeyId, SERVICE_BLOBS_SECRET_ACCESS_KEY: secretAccessKey },
  });
  const key = ["-H", `authorization: Bearer ${service.keys[0] ?? ""}`];
  const put = (at: string) =>
    curl("upload", 201, [...STREAMED, ...key, "--upload-file", sample, `${service.baseUrl}/api/files?name=${at}`]);
  const series = { up: [] as number[], upBare: [] as number[], down: [] as number[], downBare: [] as number[] };
  const { url } = await uploadFile(service, sample, "read");
  await curl("upload", 200, ["-H", "Expect:", "--upload-file", sample, `${proxy.baseUrl}/read`]);
  const before = { ours: processorSeconds(service.pid), bare: processorSeconds(proxy.pid) };
  for (let round = 0; round < ROUNDS; round += 1) {
    const at = `sample-${String(round)}`;
    series.upBare.push(await curl("upload", 200, ["-H", "Expect:", "--upload-file", sample, `${proxy.baseUrl}/${at}`]));
    series.up.push(await put(at));
    series.downBare.push(await curl("download", 200, [`${proxy.baseUrl}/read`]));
    series.down.push(await curl("download", 200, [...key, url]));
  }
  const spent = (pid: number, since: number) => `${((processorSeconds(pid) - since) / ROUNDS).toFixed(2)} s`;
  const processor = { ours: spent(service.pid, before.ours), bare: spent(proxy.pid, before.bare) };
  const all = (work: (at: number) => Promise<number>) =>
    Promise.all(Array.from({ length: TRANSFERS }, (_, at) => work(at)));
  const many = {
    up: await all((at) => put(`many-${String(at)}`)),
    down: await all(() => curl("download", 200, [...key, url])),
  };
  return measured({
    name,
    about: `throughput of a ${String(MEBIBYTES)} MiB upload to Ceph RGW over that of a bare Fastify proxy with hashing`,
    value: medianRatio(series.up, series.upBare),
    unit: "times",
    limit: { at: "least", value: 0.85 },
    alsoHeld: {
      "download over the bare proxy's": {
        value: medianRatio(series.down, series.downBare),
        limit: { at: "least", value: 0.85 },
      },
      "peak resident memory, MiB, over eight uploads and eight downloads at once": {
        value: peakMebibytes(service.pid),
        limit: { at: "most", value: 300 },
      },
    },
    series: {
      "upload, MiB/s": series.up,
      "upload of the bare proxy, MiB/s": series.upBare,
      "download, MiB/s": series.down,
      "download of the bare proxy, MiB/s": series.downBare,
    },
    facts: {
      "processor time per round": `Coffer ${processor.ours}, the bare proxy ${processor.bare}`,
      "eight at once, MiB/s each": `up ${median(many.up).toFixed(0)}, down ${median(many.down).toFixed(0)}`,
      cores: String(readFileSync("/proc/cpuinfo", "utf8").match(/^processor/gm)?.length ?? 0),
    },
  });
};
