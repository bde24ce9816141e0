import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { measured, type Benchmark } from "./outcome.ts";
import { bundle } from "./bundle.ts";
import { writeSample } from "./machine.ts";
import { openScratch, startService } from "./service.ts";

const run = promisify(execFile);
const PROGRAM = new URL("sdk-upload-client.ts", import.meta.url).pathname;
const MEBIBYTES = 2048;

/** Peak memory of a process that uploads 2 GiB with the SDK. */
export const sdkUpload: Benchmark = async () => {
  await using scratch = await openScratch();
  const sample = join(scratch.directory, "sample");
  writeSample(sample, MEBIBYTES);
  await using service = await startService(scratch.directory);
  const program = join(scratch.directory, "client.mjs");
  await bundle(PROGRAM, program);
  const words = [program, service.baseUrl, service.keys[0] ?? "", sample, join(scratch.directory, "journals")];
  const { stdout } = await run(process.execPath, words);
  const { partBytes, peak, seconds } = JSON.parse(stdout) as { partBytes: number; peak: number; seconds: number };
  return measured({
    name: "sdk-upload",
    about: `peak resident memory of a client that uploads ${String(MEBIBYTES)} MiB`,
    value: peak,
    unit: "MiB",
    limit: { at: "most", value: 128 },
    series: { "throughput, MiB/s": [MEBIBYTES / seconds] },
    facts: { "part size": `${String(partBytes / 1024 / 1024)} MiB` },
  });
};
