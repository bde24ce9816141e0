/** Transfers to and from a store that speaks S3, against the least that a proxy in front of it can do. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ceph, createBucket, startCeph, whyNoCeph } from "@coffer/devstack/engines";
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
import { measured, median, medianRatio, renderRatios, type Benchmark } from "./outcome.ts";
import { openScratch, type Service, startService } from "./service.ts";
import { contentOf, STREAMED, uploadFile } from "./transfer.ts";

/** The disk is uneven: fewer of them differ by a tenth from run to run. */
const ROUNDS = 9;
const HTTP_ROUNDS = 3;
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
  await using secure = await openPair(scratch.directory, ceph, ceph.secureEndpoint);
  await using plain = await openPair(scratch.directory, ceph, ceph.endpoint);
  const [series, overHttp] = [seriesOfTransfers(), seriesOfTransfers()];
  for (let round = 0; round < ROUNDS; round += 1) {
    await takeTurn(secure, series, { sample, round, store: ceph.directory });
    if (round < HTTP_ROUNDS) await takeTurn(plain, overHttp, { sample, round, store: ceph.directory });
  }
  const many = await transferMany(secure.service, sample);
  return measured({
    name,
    about: `throughput of a ${String(MEBIBYTES)} MiB upload to Ceph RGW over HTTPS over that of a bare Fastify proxy with hashing, over HTTPS too`,
    value: medianRatio(series["upload, MiB/s"], series["upload of the bare proxy, MiB/s"]),
    unit: "times",
    limit: { at: "least", value: 0.85 },
    alsoHeld: {
      "download over the bare proxy's": {
        value: medianRatio(series["download, MiB/s"], series["download of the bare proxy, MiB/s"]),
        limit: { at: "least", value: 0.85 },
      },
      "peak resident memory, MiB, of eight uploads at once, then eight downloads": {
        value: peakMebibytes(secure.service.pid),
        limit: { at: "most", value: 300 },
      },
    },
    series,
    facts: {
      "eight at once, MiB/s each": many,
      "upload over the bare proxy's, by throughput": ratios(series, "upload", "MiB/s"),
      "upload over the bare proxy's, by seconds of Node": ratios(series, "upload", "s of Node"),
      "upload over the bare proxy's, by seconds of the store": ratios(series, "upload", "s of the store"),
      "over plain HTTP, where each body is signed: upload": ratios(overHttp, "upload", "MiB/s"),
      "over plain HTTP: download": ratios(overHttp, "download", "MiB/s"),
    },
  });
};

/** Our server and the bare proxy in front of the same store. */
interface Pair extends AsyncDisposable {
  readonly service: Service;
  readonly proxy: Program;
}

async function openPair(directory: string, ceph: Ceph, endpoint: string): Promise<Pair> {
  await using opened = new AsyncDisposableStack();
  const kind = new URL(endpoint).protocol.slice(0, -1);
  const { accessKeyId, secretAccessKey } = ceph;
  const certificate = join(directory, `${kind}.pem`);
  writeFileSync(certificate, ceph.certificate);
  const start = (port: number) => ["--conditions=coffer-source", PROXY, String(port), `${endpoint}/${BUCKET}`];
  const proxy = opened.use(
    await startProgram(process.execPath, (port) => [...start(port), certificate, accessKeyId, secretAccessKey]),
  );
  const own = join(directory, kind);
  mkdirSync(own);
  const service = opened.use(
    await startService(own, 1, {
      ...{ SERVICE_BLOBS_URL: `${endpoint}/${BUCKET}/${kind}`, SERVICE_BLOBS_CA_FILE: certificate },
      ...{ SERVICE_BLOBS_ACCESS_KEY_ID: accessKeyId, SERVICE_BLOBS_SECRET_ACCESS_KEY: secretAccessKey },
    }),
  );
  const all = opened.move();
  return { service, proxy, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

function seriesOfTransfers() {
  return {
    "upload, MiB/s": [] as number[],
    "upload of the bare proxy, MiB/s": [] as number[],
    "download, MiB/s": [] as number[],
    "download of the bare proxy, MiB/s": [] as number[],
    "upload, s of Node": [] as number[],
    "upload of the bare proxy, s of Node": [] as number[],
    "upload, s of the store": [] as number[],
    "upload of the bare proxy, s of the store": [] as number[],
  };
}
type Series = ReturnType<typeof seriesOfTransfers>;

function ratios(series: Series, what: "upload" | "download", unit: string): string {
  const all: Readonly<Record<string, readonly number[]>> = series;
  return renderRatios(all[`${what}, ${unit}`] ?? [], all[`${what} of the bare proxy, ${unit}`] ?? []);
}

async function takeTurn(
  { service, proxy }: Pair,
  series: Series,
  { sample, round, store: directory }: { readonly sample: string; readonly round: number; readonly store: string },
): Promise<void> {
  const upload = async (of: "upload" | "upload of the bare proxy", pid: number, work: () => Promise<number>) => {
    const before = { node: processorSeconds(pid), store: secondsOf(directory) };
    series[`${of}, MiB/s`].push(await work());
    series[`${of}, s of Node`].push(processorSeconds(pid) - before.node);
    series[`${of}, s of the store`].push(secondsOf(directory) - before.store);
  };
  const at = `sample-${String(round)}`;
  const turns = [
    () =>
      upload("upload of the bare proxy", proxy.pid, () =>
        curl("upload", 200, ["-H", "Expect:", "--upload-file", sample, `${proxy.baseUrl}/${at}`]),
      ),
    () => upload("upload", service.pid, () => store(service, sample, at)),
  ];
  // The store still works for whoever came before.
  for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
  const key = service.keys[0] ?? "";
  const url = await contentOf(service, at);
  series["download of the bare proxy, MiB/s"].push(await curl("download", 200, [`${proxy.baseUrl}/${at}`]));
  series["download, MiB/s"].push(await curl("download", 200, ["-H", `authorization: Bearer ${key}`, url]));
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
