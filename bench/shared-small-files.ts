import { randomBytes } from "node:crypto";
import type { Client } from "@coffer/sdk";
import { processorSeconds } from "./machine.ts";
import { measured, median, medianRatio, renderRatios, type Benchmark } from "./outcome.ts";
import { openScratch } from "./service.ts";
import { openSharedVaults } from "./shared-vaults.ts";

const FILES = 1000;
const ROUNDS = 10;
const BYTES = 4096;
/** Files on their way at once, in both vaults. */
const AT_ONCE = 4;

/** Many small files into and out of a shared vault, beside a public one: encryption must not be what limits them. */
export const sharedSmallFiles: Benchmark = async () => {
  await using scratch = await openScratch();
  await using stack = await openSharedVaults(scratch.directory);
  const { client, plain, publicVault, sharedVault } = stack;
  // The generation's key is made and opened once, before anything is measured.
  await transfer(plain, publicVault, 20);
  await transfer(client, sharedVault, 20);
  const before = stack.keyRequests();
  const series: Record<"publicUp" | "sharedUp" | "publicDown" | "sharedDown", number[]> = {
    ...{ publicUp: [], sharedUp: [], publicDown: [], sharedDown: [] },
  };
  // Beside the rates, which a busy machine changes: what client and server worked for a file, there and back.
  const work: Record<"public" | "shared", { client: number[]; server: number[] }> = {
    public: { client: [], server: [] },
    shared: { client: [], server: [] },
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const vaults = [
      { by: plain, vault: publicVault, up: series.publicUp, down: series.publicDown, worked: work.public },
      { by: client, vault: sharedVault, up: series.sharedUp, down: series.sharedDown, worked: work.shared },
    ];
    // In turns, so that what else the machine does falls on both.
    for (const { by, vault, up, down, worked } of round % 2 === 0 ? vaults : vaults.reverse()) {
      const [ours, theirs] = [process.cpuUsage(), processorSeconds(stack.service.pid)];
      const rates = await transfer(by, vault, FILES / ROUNDS);
      up.push(rates.up);
      down.push(rates.down);
      const { user, system } = process.cpuUsage(ours);
      worked.client.push((user + system) / 1000 / (FILES / ROUNDS));
      worked.server.push(((processorSeconds(stack.service.pid) - theirs) * 1000) / (FILES / ROUNDS));
    }
  }
  const after = stack.keyRequests();
  const cold = await openAfresh(stack);
  const both = (ups: readonly number[], downs: readonly number[]): number[] =>
    ups.map((rate, at) => 1 / (1 / rate + 1 / (downs[at] ?? Number.NaN)));
  const [shared, plainly] = [both(series.sharedUp, series.sharedDown), both(series.publicUp, series.publicDown)];
  return measured({
    name: "shared-small-files",
    about: `${String(FILES)} files of 4 KiB in a shared vault, stored and read back, as a share of the rate in a public one`,
    value: medianRatio(shared, plainly),
    unit: "x",
    limit: { at: "least", value: 0.5 },
    series: {
      "shared, uploads/s": series.sharedUp,
      "public, uploads/s": series.publicUp,
      "shared, downloads/s": series.sharedDown,
      "public, downloads/s": series.publicDown,
    },
    facts: {
      "both, shared/public": renderRatios(shared, plainly),
      "up, shared/public": renderRatios(series.sharedUp, series.publicUp),
      "down, shared/public": renderRatios(series.sharedDown, series.publicDown),
      "processor time for a file there and back, ms": Object.entries(work)
        .map(([vault, { client, server }]) => `${vault} ${median(client).toFixed(2)} + ${median(server).toFixed(2)}`)
        .join(", ")
        .concat(" (client + server)"),
      "requests to each key server, meanwhile": after.map((count, at) => count - (before[at] ?? 0)).join(", "),
      "requests to each key server, of a fresh client that lists and reads 100 files": cold.join(", "),
      "files at once": String(AT_ONCE),
    },
  });
};

/** Uploads and downloads a second. */
async function transfer(client: Client, vaultId: string, count: number): Promise<{ up: number; down: number }> {
  const ids: string[] = [];
  const bodies = Array.from({ length: count }, () => randomBytes(BYTES));
  const up = await rateOf(count, async (at) => {
    const body = bodies[at] ?? Buffer.alloc(0);
    const { file } = await client.files.upload({ vaultId, name: `small-${randomBytes(8).toString("hex")}`, body });
    ids[at] = file.id;
  });
  const down = await rateOf(count, async (at) => {
    const bytes = await (await client.files.download(ids[at] ?? "")).bytes();
    if (Buffer.compare(bytes, bodies[at] ?? Buffer.alloc(0)) !== 0) throw new Error("other bytes came back");
  });
  return { up, down };
}

async function rateOf(count: number, work: (at: number) => Promise<void>): Promise<number> {
  const began = performance.now();
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) await work(at);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return (count / (performance.now() - began)) * 1000;
}

/** How often key servers are asked by somebody who meets the vault for the first time. */
async function openAfresh({ another, keyRequests, sharedVault }: Awaited<ReturnType<typeof openSharedVaults>>) {
  const before = keyRequests();
  const client = another();
  const { files } = await client.files.list({ vaultId: sharedVault, limit: 100 });
  for (const { id } of files) await (await client.files.download(id)).bytes();
  return keyRequests().map((count, at) => count - (before[at] ?? 0));
}
