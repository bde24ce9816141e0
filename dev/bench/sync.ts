/** `coffer sync` of a directory and an encrypted vault that are the same, beside `rclone sync` over WebDAV. */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { missingTools, openScratch } from "./machine.ts";
import { inTurns, median, type Benchmark, type Comparison, type Skipped } from "./ratio.ts";
import { startRclone, type Rclone } from "./rclone.ts";
import { startSharedService, type SharedService } from "./service.ts";

/** Files of each size, and in one folder of it. */
const SIZES = [5_000, 100_000];
const FOLDER_FILES = 1_000;
const ROUNDS = 3;
const CHANGES = 10;
const MEBIBYTE = 1024 * 1024;

/** Writes the most memory that a program had, in bytes, to the file that its environment names. */
const PEAK = `data:text/javascript,${encodeURIComponent(
  'import { writeFileSync } from "node:fs"; process.on("exit", () => writeFileSync(process.env.PEAK_FILE, String(process.resourceUsage().maxRSS * 1024)));',
)}`;

export const sync: Benchmark = async () => {
  const comparisons: Comparison[] = [];
  const skipped: Skipped[] = [];
  const facts: Record<string, string> = {};
  for (const files of SIZES) {
    await using scratch = await openScratch();
    const { directory } = scratch;
    await using stack = await startSharedService(directory);
    await using peers = new AsyncDisposableStack();
    const missing = missingTools("rclone");
    const fill = (root: string): void => makeTree(join(root, "tree"), files);
    const rclone = missing === null ? peers.use(await startRclone(join(directory, "webdav"), fill)) : null;
    fill(directory);
    const title = `coffer sync of ${String(files)} unchanged encrypted files over rclone sync`;
    const { seconds, peak, changed } = await measure(stack, directory, rclone);
    facts[`coffer sync of ${String(files)} unchanged encrypted files`] =
      `${median(seconds.coffer).toFixed(1)} s, ${(peak / MEBIBYTE).toFixed(0)} MiB of memory; after ${String(CHANGES)} changes ${changed.toFixed(1)} s`;
    if (missing === null)
      comparisons.push({ title, better: "lower", unit: "s", ours: seconds.coffer, peer: seconds.rclone });
    else skipped.push({ title, reason: missing });
  }
  return { comparisons, skipped, facts };
};

async function measure({ coffer, vaults }: SharedService, directory: string, rclone: Rclone | null) {
  const tree = join(directory, "tree");
  const peakFile = join(directory, "peak");
  const environment = { NODE_OPTIONS: `--import=${PEAK}`, PEAK_FILE: peakFile };
  let peak = 0;
  const run = async (): Promise<number> => {
    const seconds = await coffer(["sync", tree, `${vaults.shared}:`], true, environment);
    peak = Math.max(peak, Number(readFileSync(peakFile, "utf8")));
    return seconds;
  };
  // The first one sends all, and the second one builds the index of names.
  await run();
  await run();
  peak = 0;
  const seconds = await inTurns(ROUNDS, {
    coffer: run,
    rclone: async () => (rclone === null ? 0 : rclone.run(["sync", tree, ":webdav:tree"])),
  });
  const unchangedPeak = peak;
  for (let at = 0; at < CHANGES; at += 1) appendFileSync(join(tree, "folder-0", `file-${String(at)}.txt`), "more");
  return { seconds, peak: unchangedPeak, changed: await run() };
}

/** Small files: what is measured is what they are known by. */
function makeTree(root: string, files: number): void {
  mkdirSync(root);
  for (let at = 0; at < files; at += 1) {
    const folder = join(root, `folder-${String(Math.floor(at / FOLDER_FILES))}`);
    if (at % FOLDER_FILES === 0) mkdirSync(folder);
    writeFileSync(join(folder, `file-${String(at % FOLDER_FILES)}.txt`), `file ${String(at)}`);
  }
}
