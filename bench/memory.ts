import { join } from "node:path";
import { measured, type Benchmark } from "./outcome.ts";
import { curl, missingTools, peakMebibytes, writeSample } from "./machine.ts";
import { openScratch, startService } from "./service.ts";
import { STREAMED, uploadFile } from "./transfer.ts";

const TRANSFERS = 8;
const MEBIBYTES = 256;

/** Peak memory of the server over eight concurrent uploads and then eight concurrent downloads. */
export const memory: Benchmark = async () => {
  const name = "memory";
  const missing = missingTools("curl");
  if (missing !== null) return { kind: "not measured", name, reason: missing };
  await using scratch = await openScratch();
  const sample = join(scratch.directory, "sample");
  writeSample(sample, MEBIBYTES);
  await using service = await startService(scratch.directory);
  const idle = peakMebibytes(service.pid);
  const authorization = ["-H", `authorization: Bearer ${service.keys[0] ?? ""}`];
  const all = (work: (at: number) => Promise<number>) =>
    Promise.all(Array.from({ length: TRANSFERS }, (_, at) => work(at)));
  const up = await all((at) =>
    curl("upload", 201, [
      ...STREAMED,
      ...authorization,
      "--upload-file",
      sample,
      `${service.baseUrl}/api/files?name=memory-${String(at)}`,
    ]),
  );
  const afterUploads = peakMebibytes(service.pid);
  const { url } = await uploadFile(service, sample, "memory-read");
  const down = await all(() => curl("download", 200, [...authorization, url]));
  return measured({
    name,
    about: `peak resident memory over ${String(TRANSFERS)} concurrent ${String(MEBIBYTES)} MiB uploads, then as many downloads`,
    value: peakMebibytes(service.pid),
    unit: "MiB",
    limit: { at: "most", value: 256 },
    series: { "upload, MiB/s each": up, "download, MiB/s each": down },
    facts: {
      "peak when started": `${idle.toFixed(0)} MiB`,
      "peak after the uploads": `${afterUploads.toFixed(0)} MiB`,
    },
  });
};
