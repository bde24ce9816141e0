/** Transfers to and from a store that speaks S3, against the least that a proxy in front of it can do. */
import { join } from "node:path";
import { createBucket, startCeph, whyNoCeph } from "@coffer/devstack/engines";
import {
  curl,
  missingTools,
  peakMebibytes,
  processorSeconds,
  type Program,
  startProgram,
  writeSample,
} from "./machine.ts";
import { secondsOf } from "./engine.ts";
import { measured, median, medianRatio, type Benchmark } from "./outcome.ts";
import { openScratch, type Service, startService } from "./service.ts";
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
  const series = await takeTurns(service, proxy, { sample, store: ceph.directory });
  const many = await transferMany(service, sample);
  return measured({
    name,
    about: `throughput of a ${String(MEBIBYTES)} MiB upload to Ceph RGW over that of a bare Fastify proxy with hashing`,
    value: medianRatio(series["upload, MiB/s"], series["upload of the bare proxy, MiB/s"]),
    unit: "times",
    limit: { at: "least", value: 0.85 },
    alsoHeld: {
      "download over the bare proxy's": {
        value: medianRatio(series["download, MiB/s"], series["download of the bare proxy, MiB/s"]),
        limit: { at: "least", value: 0.85 },
      },
      "peak resident memory, MiB, over eight uploads and eight downloads at once": {
        value: peakMebibytes(service.pid),
        limit: { at: "most", value: 300 },
      },
    },
    series,
    facts: { "eight at once, MiB/s each": many },
  });
};

async function takeTurns(
  service: Service,
  proxy: Program,
  { sample, store: directory }: { readonly sample: string; readonly store: string },
) {
  const { key, url } = await uploadFile(service, sample, "read");
  const bare = (at: string) =>
    curl("upload", 200, ["-H", "Expect:", "--upload-file", sample, `${proxy.baseUrl}/${at}`]);
  await bare("read");
  const series = {
    "upload, MiB/s": [] as number[],
    "upload of the bare proxy, MiB/s": [] as number[],
    "download, MiB/s": [] as number[],
    "download of the bare proxy, MiB/s": [] as number[],
    "upload, s of Node": [] as number[],
    "upload of the bare proxy, s of Node": [] as number[],
    "upload, s of the store": [] as number[],
    "upload of the bare proxy, s of the store": [] as number[],
  };
  const upload = async (of: "upload" | "upload of the bare proxy", pid: number, work: () => Promise<number>) => {
    const before = { node: processorSeconds(pid), store: secondsOf(directory) };
    series[`${of}, MiB/s`].push(await work());
    series[`${of}, s of Node`].push(processorSeconds(pid) - before.node);
    series[`${of}, s of the store`].push(secondsOf(directory) - before.store);
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const at = `sample-${String(round)}`;
    await upload("upload of the bare proxy", proxy.pid, () => bare(at));
    await upload("upload", service.pid, () => store(service, sample, at));
    series["download of the bare proxy, MiB/s"].push(await curl("download", 200, [`${proxy.baseUrl}/read`]));
    series["download, MiB/s"].push(await curl("download", 200, ["-H", `authorization: Bearer ${key}`, url]));
  }
  return series;
}

async function transferMany(service: Service, sample: string): Promise<string> {
  const { key, url } = await uploadFile(service, sample, "read-by-many");
  const all = (work: (at: number) => Promise<number>) =>
    Promise.all(Array.from({ length: TRANSFERS }, (_, at) => work(at)));
  const up = await all((at) => store(service, sample, `many-${String(at)}`));
  const down = await all(() => curl("download", 200, ["-H", `authorization: Bearer ${key}`, url]));
  return `up ${median(up).toFixed(0)}, down ${median(down).toFixed(0)}`;
}

function store(service: Service, sample: string, name: string): Promise<number> {
  const key = `authorization: Bearer ${service.keys[0] ?? ""}`;
  const url = `${service.baseUrl}/api/files?name=${name}`;
  return curl("upload", 201, [...STREAMED, "-H", key, "--upload-file", sample, url]);
}
