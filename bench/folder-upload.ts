import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "@coffer/sdk";
import { syncFolder, uploadFolder } from "@coffer/sdk/node";
import { processorSeconds } from "./machine.ts";
import { measured, median, medianRatio, renderRatios, type Benchmark } from "./outcome.ts";
import { openScratch, startService } from "./service.ts";
import { openSharedVaults } from "./shared-vaults.ts";

const FILES = 1000;
/** Uploads one after the other take so much longer that fewer of them show their rate. */
const SINGLES = 250;
const BYTES = 4096;
const ROUNDS = 7;

/** A way to store a directory of small files: seconds for all of them, and processor time in milliseconds for each. */
interface Way {
  /** Files of a round. */
  readonly count: number;
  readonly store: (directory: string, names: readonly string[], round: number) => Promise<void>;
  readonly rate: number[];
  readonly client: number[];
  readonly server: number[];
}

/** A directory of small files in one call: beside single uploads, a bare loop that makes each file durable, and a shared vault. */
export const folderUpload: Benchmark = async () => {
  await using scratch = await openScratch();
  await using stack = await openSharedVaults(scratch.directory);
  const { client, plain, publicVault, service, sharedVault } = stack;
  const journalDirectory = join(scratch.directory, "journals");
  const whole =
    (by: Client, vaultId: string): Way["store"] =>
    async (directory, names, round) => {
      const { id: folderId } = await by.folders.create({ vaultId, name: `whole ${String(round)}` });
      const { failed, files } = await uploadFolder(by, directory, { vaultId, folderId, journalDirectory });
      if (failed.length > 0 || files.length !== names.length) throw new Error("not all files were stored");
    };
  const ways = {
    bare: way((directory, names, round) =>
      bareLoop(directory, names, join(scratch.directory, `bare-${String(round)}`)),
    ),
    single: way(async (directory, names, round) => {
      const { id: folderId } = await plain.folders.create({ vaultId: publicVault, name: `single ${String(round)}` });
      for (const name of names)
        await plain.files.upload({ vaultId: publicVault, folderId, name, body: await readFile(join(directory, name)) });
    }, SINGLES),
    whole: way(whole(plain, publicVault)),
    shared: way(whole(client, sharedVault)),
  };
  const names = Array.from({ length: FILES }, (_, at) => `file-${String(at).padStart(4, "0")}.txt`);
  // Round 0 warms up both processes, and opens the keys of the shared vault.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const order = Object.values(ways);
    for (const one of round % 2 === 0 ? order : order.reverse()) {
      const stored = names.slice(0, one.count);
      const directory = await makeFiles(scratch.directory, stored);
      const [began, ours, theirs] = [performance.now(), process.cpuUsage(), processorSeconds(service.pid)];
      await one.store(directory, stored, round);
      if (round === 0) continue;
      const { user, system } = process.cpuUsage(ours);
      one.rate.push((one.count / (performance.now() - began)) * 1000);
      one.client.push((user + system) / 1000 / one.count);
      one.server.push(((processorSeconds(service.pid) - theirs) * 1000) / one.count);
    }
  }
  return outcomeOf(ways);
};

function outcomeOf({ bare, shared, single, whole: ours }: Record<"bare" | "shared" | "single" | "whole", Way>) {
  const worked = ({ client: here, server }: Way): string => `${median(here).toFixed(2)} + ${median(server).toFixed(2)}`;
  return measured({
    name: "folder-upload",
    about: `${String(FILES)} files of 4 KiB into a public vault by uploadFolder, over a loop that awaits files.upload for each`,
    value: medianRatio(ours.rate, single.rate),
    unit: "x",
    limit: { at: "least", value: 4 },
    alsoHeld: {
      "uploadFolder over a bare loop of write, fsync, rename, fsync of the directory": {
        value: medianRatio(ours.rate, bare.rate),
        limit: { at: "least", value: 0.7 },
      },
      "shared over public": { value: medianRatio(shared.rate, ours.rate), limit: { at: "least", value: 0.6 } },
    },
    series: {
      "uploadFolder, public, files/s": ours.rate,
      "uploadFolder, shared, files/s": shared.rate,
      "one files.upload after the other, files/s": single.rate,
      "bare loop, files/s": bare.rate,
    },
    facts: {
      "over single uploads": renderRatios(ours.rate, single.rate),
      "over the bare loop": renderRatios(ours.rate, bare.rate),
      "shared over public": renderRatios(shared.rate, ours.rate),
      "processor time for a file, ms (client + server)": `public ${worked(ours)}, shared ${worked(shared)}, single ${worked(single)}`,
    },
  });
}

function way(store: Way["store"], count = FILES): Way {
  return { count, store, rate: [], client: [], server: [] };
}

let directories = 0;

async function makeFiles(base: string, names: readonly string[]): Promise<string> {
  const directory = join(base, `tree-${String((directories += 1))}`);
  mkdirSync(directory);
  for (const name of names) await writeFile(join(directory, name), randomBytes(BYTES));
  return directory;
}

/** What durable storage costs without a service: no more can be expected of one commit for each file. */
async function bareLoop(directory: string, names: readonly string[], target: string): Promise<void> {
  mkdirSync(target);
  const parent = openSync(target, "r");
  for (const name of names) {
    const bytes = await readFile(join(directory, name));
    const temporary = join(target, `${name}.part`);
    const file = openSync(temporary, "wx");
    writeSync(file, bytes);
    fsyncSync(file);
    closeSync(file);
    renameSync(temporary, join(target, name));
    fsyncSync(parent);
  }
  closeSync(parent);
}

const TREE = { folders: 100, filesOfEach: 100 };
const SYNCS = 7;

/** The processor time that finding nothing to do takes over the lists themselves. */
export const folderSync: Benchmark = async () => {
  const { createClient } = await import("@coffer/sdk");
  await using scratch = await openScratch();
  await using service = await startService(scratch.directory);
  const client = createClient({ baseUrl: service.baseUrl, credentials: { apiKey: service.keys[0] ?? "" } });
  const { id: vaultId } = await client.vaults.create({ name: "bench-sync", type: "public" });
  const root = join(scratch.directory, "root");
  const count = TREE.folders * TREE.filesOfEach;
  for (let folder = 0; folder < TREE.folders; folder += 1) {
    mkdirSync(join(root, String(folder)), { recursive: true });
    for (let file = 0; file < TREE.filesOfEach; file += 1)
      await writeFile(join(root, String(folder), `${String(file)}.txt`), `${String(folder)} ${String(file)}`);
  }
  const options = { vaultId, direction: "up", journalDirectory: join(scratch.directory, "journals") } as const;
  await syncFolder(client, root, options);
  const lists: number[] = [];
  const syncs: number[] = [];
  for (let round = -1; round < SYNCS; round += 1) {
    const listed = await processorMs(async () => {
      let files = 0;
      for await (const _ of client.folders.list({ vaultId, limit: 1000 }));
      for await (const _ of client.files.list({ vaultId, limit: 1000 })) files += 1;
      if (files !== count) throw new Error(`${String(files)} files are listed`);
    });
    const synced = await processorMs(async () => {
      const { plan } = await syncFolder(client, root, options);
      if (plan.unchanged !== count) throw new Error(`${String(plan.unchanged)} files are unchanged`);
    });
    if (round < 0) continue;
    lists.push(listed / count);
    syncs.push(synced / count);
  }
  const over = syncs.map((each, at) => each - (lists[at] ?? 0));
  return measured({
    name: "folder-sync",
    about: `processor time per file of syncFolder over the lists, for ${String(count)} unchanged files`,
    value: median(over),
    unit: "ms",
    limit: { at: "most", value: 0.1 },
    series: { "over the lists, ms a file": over, "syncFolder, ms a file": syncs, "lists alone, ms a file": lists },
    facts: {},
  });
};

async function processorMs(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
