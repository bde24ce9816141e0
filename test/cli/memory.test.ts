/** A large file takes a bounded part of the memory, whichever way it goes. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { runProgram } from "../kit/coffer-program.ts";

const BENCH = join(import.meta.dirname, "../../bench/main.ts");

// Without the scan: it notes all that its programs send, 3 GiB here, and takes memory in each of them for that.
const PROGRAM = ["env", "-u", "NODE_OPTIONS", process.execPath, "--conditions=coffer-source"] as const;

it("coffer, the tool server and the server stay within the bounds of the benchmark cli-memory [issue 19]", async (context) => {
  if (process.platform !== "linux") context.skip("the peak of a process is read from /proc");
  const { code, err, out } = await runProgram([BENCH, "cli-memory"], { env: {}, program: PROGRAM });
  expect([code, err], out).toEqual([0, ""]);
  expect(out).toMatch(/^PASS {2}cli-memory/m);
});
