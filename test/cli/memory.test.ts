/** A large file takes a bounded part of the memory, whichever way it goes: of `coffer`, of the tool server and of the server. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openScratch } from "../../dev/bench/machine.ts";
import { startSharedService, type SharedService } from "../../dev/bench/service.ts";
import { openServer } from "../../dev/bench/tool-server.ts";
import { COFFER } from "../kit/coffer-program.ts";

/** More than a client may take. */
const FILE_MEBIBYTES = process.env["COFFER_TEST_COUNTS"] === "full" ? 512 : 320;
/** In MiB. */
const MOST_OF_CLIENT = 260;
const MOST_OF_SERVER = 300;
const LOOK_MS = 50;
const TOOL_SERVER = new URL("../../packages/mcp/dist/main.js", import.meta.url).pathname;

const opened = new AsyncDisposableStack();
let files: string;
let stack: SharedService;

beforeAll(async () => {
  if (process.platform !== "linux") return;
  const { directory } = opened.use(await openScratch());
  files = join(directory, "files");
  mkdirSync(files);
  stack = opened.use(await startSharedService(directory));
});
afterAll(() => opened.disposeAsync());

for (const kind of ["public", "shared"] as const)
  it(`coffer sends and gets a large file of a ${kind} vault [issue 19]`, async (context) => {
    if (process.platform !== "linux") context.skip("the peak of a process is read from /proc");
    const vault = stack.vaults[kind];
    const back = join(files, `back-${kind}`);
    const sample = writeFresh(kind);
    const up = await peakOf(kind, ["upload", sample, "--name", kind, "--vault", vault]);
    const down = await peakOf(kind, ["download", `${vault}:${kind}`, back]);
    expect(statSync(back).size).toBe(FILE_MEBIBYTES * 1024 * 1024);
    expect(Math.max(up, down)).toBeLessThan(MOST_OF_CLIENT);
    expect(peakMebibytes(stack.service.pid)).toBeLessThan(MOST_OF_SERVER);
  });

it("the tool server sends and gets one [issue 19]", async (context) => {
  if (process.platform !== "linux") context.skip("the peak of a process is read from /proc");
  const words = [TOOL_SERVER, "--allow", files, "--downloads", files];
  const tools = openServer(words, stack.environments.public);
  await tools.initialize();
  const vaultId = stack.vaults.public;
  const dest = join(files, "by-tools");
  await tools.call("file_upload", { paths: [writeFresh("tools")], vaultId, name: "by-tools" });
  await tools.call("file_download", { files: ["by-tools"], vaultId, dest });
  expect(peakMebibytes(tools.pid)).toBeLessThan(MOST_OF_CLIENT);
  await tools.end();
  expect(statSync(dest).size).toBe(FILE_MEBIBYTES * 1024 * 1024);
  expect(peakMebibytes(stack.service.pid)).toBeLessThan(MOST_OF_SERVER);
});

/** A large file with bytes of its own: those of a shared vault must be in no public one, where the scan would find them. */
function writeFresh(name: string): string {
  const path = join(files, name);
  for (let at = 0; at < FILE_MEBIBYTES; at += 1) appendFileSync(path, randomBytes(1024 * 1024));
  return path;
}

/** The most resident memory of a `coffer`, which must end with 0. */
async function peakOf(kind: "public" | "shared", words: readonly string[]): Promise<number> {
  const [command, ...program] = COFFER;
  const child = spawn(command, [...program, ...words], {
    env: stack.environments[kind],
    stdio: ["ignore", "pipe", "pipe"],
  });
  let peak = 0;
  const looking = setInterval(() => {
    // One that ends now has none.
    peak = Math.max(peak, peakMebibytes(child.pid ?? 0) || 0);
  }, LOOK_MS);
  const ended = new Promise<number | null>((resolve) => void child.once("exit", resolve)).finally(() =>
    clearInterval(looking),
  );
  const [code, , said] = await Promise.all([ended, buffer(child.stdout), buffer(child.stderr)]);
  expect(code, said.toString()).toBe(0);
  return peak;
}

/** So far (proc(5): VmHWM). */
function peakMebibytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, "utf8"))?.[1]) / 1024;
}
