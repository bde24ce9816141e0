import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { measured, median, type Benchmark } from "./outcome.ts";
import { openScratch, startService, storeFile } from "./service.ts";

const run = promisify(execFile);
const PROGRAM = new URL("sdk-call-client.ts", import.meta.url).pathname;

/** Processor time that the SDK adds to a JSON call over a bare fetch, in a process of its own. */
export const sdkCall: Benchmark = async () => {
  await using scratch = await openScratch();
  await using service = await startService(scratch.directory);
  const fileId = await storeFile(service, "sdk-call.bin");
  const words = ["--conditions=coffer-source", PROGRAM, service.baseUrl, service.keys[0] ?? "", fileId];
  const { stdout } = await run(process.execPath, words);
  const { bare, sdk } = JSON.parse(stdout) as { bare: number[]; sdk: number[] };
  return measured({
    name: "sdk-call",
    about: "processor time that client.files.get adds to fetch and JSON.parse",
    value: median(sdk.map((value, at) => value - (bare[at] ?? Number.NaN))),
    unit: "ms",
    limit: { at: "most", value: 0.4 },
    series: { "SDK, ms per call": sdk, "fetch, ms per call": bare },
    facts: {},
  });
};
