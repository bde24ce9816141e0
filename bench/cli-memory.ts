import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openCoffer } from "./cli-peers.ts";
import { peakMebibytes, writeSample } from "./machine.ts";
import { measured, type Benchmark } from "./outcome.ts";
import { openScratch } from "./service.ts";
import { openSharedVaults } from "./shared-vaults.ts";
import { callTool, greet, LAUNCHER, speak } from "./tool-server.ts";

const MEBIBYTES = 512;

/** What `coffer` and the tool server take at most while a large file goes up and comes back. */
export const cliMemory: Benchmark = async () => {
  await using scratch = await openScratch();
  const { directory } = scratch;
  const files = join(directory, "files");
  mkdirSync(files);
  const sample = join(files, "sample");
  writeSample(sample, MEBIBYTES);
  await using stack = await openSharedVaults(directory);
  const { environment, run } = openCoffer(directory, stack);
  const peaks = new Map<string, number>();
  const note = (what: string, mebibytes: number): void =>
    void peaks.set(what, Math.max(peaks.get(what) ?? 0, mebibytes));
  const there = (what: string, words: readonly string[], opens: boolean): Promise<number> =>
    run(words, { opens, notePeak: (mebibytes) => note(what, mebibytes) });
  for (const [kind, vault] of [
    ["public", stack.publicVault],
    ["shared", stack.sharedVault],
  ] as const) {
    const back = join(files, kind);
    await there(`${kind}, up`, ["upload", sample, "--name", kind, "--vault", vault], kind === "shared");
    await there(`${kind}, down`, ["download", `${vault}:${kind}`, back], kind === "shared");
    requireWhole(back);
  }
  const tools = speak([LAUNCHER, "--allow", files, "--downloads", files], environment);
  await greet(tools);
  const byTools = join(files, "by-tools");
  const vaultId = stack.publicVault;
  await callTool(tools, "file_upload", { paths: [sample], vaultId, name: "by-tools" });
  await callTool(tools, "file_download", { files: ["by-tools"], vaultId, dest: byTools });
  const ofTools = peakMebibytes(tools.pid);
  await tools.end();
  requireWhole(byTools);
  return measured({
    name: "cli-memory",
    about: `the most resident memory of coffer while ${String(MEBIBYTES)} MiB go up and come back`,
    ...{ value: Math.max(...peaks.values()), unit: "MiB", limit: { at: "most", value: 240 } },
    alsoHeld: {
      "the tool server, public": { value: ofTools, limit: { at: "most", value: 240 } },
      "the server": { value: peakMebibytes(stack.service.pid), limit: { at: "most", value: 300 } },
    },
    series: Object.fromEntries([...peaks].map(([what, peak]) => [`${what}, MiB`, [peak]])),
    facts: {},
  });
};

/** A program that is cut off takes little memory. */
function requireWhole(path: string): void {
  if (statSync(path).size !== MEBIBYTES * 1024 * 1024) throw new Error(`${path} was cut off`);
}
