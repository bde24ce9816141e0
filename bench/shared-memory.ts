import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { bundle } from "./bundle.ts";
import { writeSample } from "./machine.ts";
import { measured, type Benchmark } from "./outcome.ts";
import { openScratch } from "./service.ts";
import type { Job, Took } from "./shared-memory-client.ts";
import { openSharedVaults, type SharedVaults } from "./shared-vaults.ts";

const run = promisify(execFile);
const PROGRAM = new URL("shared-memory-client.ts", import.meta.url).pathname;
const MEBIBYTE = 1024 * 1024;
const MEBIBYTES = 2048;
const RANGE = { offset: 1536 * MEBIBYTE, length: MEBIBYTE };
const RANGE_BYTES = 1.1 * MEBIBYTE;

/** What a client's memory grows by, from the opened vault on, while it encrypts, decrypts and reads a piece of a large file. */
export const sharedMemory: Benchmark = async () => {
  await using scratch = await openScratch();
  const { directory } = scratch;
  const sample = join(directory, "sample");
  writeSample(sample, MEBIBYTES);
  await using stack = await openSharedVaults(directory);
  // Its name is what a client opens the vault for.
  await stack.client.files.upload({ vaultId: stack.sharedVault, name: "first", body: new Uint8Array(1000) });
  const perform = await clientsOf(directory, stack);
  const upload = await perform({ kind: "upload", path: sample, journalDirectory: join(directory, "journals") });
  const { fileId } = upload;
  const download = await perform({ kind: "download", fileId, path: join(directory, "back") });
  const range = await perform({ kind: "range", fileId, ...RANGE });
  const idle = await perform({ kind: "idle" });
  await requireDigests(sample, [upload, download], range);
  if (range.fetched > RANGE_BYTES) throw new Error(`${String(range.fetched)} bytes were read for a range of 1 MiB`);
  const all = { upload, download, range, "nothing done": idle };
  const above = ({ opened, peak }: Took): number => peak - opened;
  return measured({
    name: "shared-memory",
    about: `what a client's resident memory peaks above its opened vault: ${String(MEBIBYTES)} MiB in and out, 1 MiB at 1.5 GiB`,
    value: Math.max(above(upload), above(download), above(range)),
    unit: "MiB",
    limit: { at: "most", value: 64 },
    series: Object.fromEntries(Object.entries(all).map(([name, took]) => [`${name}, MiB above`, [above(took)]])),
    facts: {
      "opened, MiB": Object.values(all)
        .map(({ opened }) => opened.toFixed(0))
        .join(", "),
      "file bytes read for the range": `${(range.fetched / MEBIBYTE).toFixed(3)} MiB (at most 1.1)`,
      "upload, download": [upload, download]
        .map(({ seconds }) => `${(MEBIBYTES / seconds).toFixed(0)} MiB/s`)
        .join(", "),
    },
  });
};

/** Each piece of work in a process of its own, which opens the vault first. */
async function clientsOf(
  directory: string,
  { settings, sharedVault }: SharedVaults,
): Promise<(work: Job["work"]) => Promise<Took>> {
  const program = join(directory, "client.mjs");
  const jobPath = join(directory, "job.json");
  await bundle(PROGRAM, program);
  return async (work) => {
    const job: Job = { ...settings, vaultId: sharedVault, work };
    writeFileSync(jobPath, JSON.stringify(job));
    return JSON.parse((await run(process.execPath, [program, jobPath])).stdout) as Took;
  };
}

/** A benchmark of a client that loses bytes would measure nothing. */
async function requireDigests(sample: string, whole: readonly Took[], piece: Took): Promise<void> {
  const [all, part] = [createHash("sha256"), createHash("sha256")];
  for await (const bytes of createReadStream(sample)) all.update(bytes as Buffer);
  const { length, offset } = RANGE;
  for await (const bytes of createReadStream(sample, { start: offset, end: offset + length - 1 }))
    part.update(bytes as Buffer);
  const expected = all.digest("hex");
  if (whole.some(({ sha256 }) => sha256 !== expected) || piece.sha256 !== part.digest("hex"))
    throw new Error("what came back is not what was uploaded");
}
