import { randomBytes } from "node:crypto";
import type { Client } from "@coffer/sdk";
import { measured, median, type Benchmark } from "./outcome.ts";
import { openScratch } from "./service.ts";
import { openSharedVaults } from "./shared-vaults.ts";

const ROUNDS = 200;
const BYTES = 4096;

/** What the second file of an opened vault costs over a plain download of the same size. */
export const sharedSecondFile: Benchmark = async () => {
  await using scratch = await openScratch();
  await using stack = await openSharedVaults(scratch.directory);
  const files = {
    plain: await put(stack.client, stack.publicVault),
    first: await put(stack.client, stack.sharedVault),
    second: await put(stack.client, stack.sharedVault),
  };
  const client = stack.another();
  await read(client, files.first);
  await read(stack.plain, files.plain);
  const before = stack.keyRequests();
  const coldSecond = await timed(() => read(client, files.second));
  for (let round = 0; round < 50; round += 1) {
    await read(stack.plain, files.plain);
    await read(client, files.first);
  }
  const [plain, shared]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    plain.push(await timed(() => read(stack.plain, files.plain)));
    shared.push(await timed(() => read(client, files.second)));
  }
  const asked = stack.keyRequests().map((count, at) => count - (before[at] ?? 0));
  if (asked.some((count) => count > 0)) throw new Error(`key servers were asked again: ${asked.join(", ")}`);
  return measured({
    name: "shared-second-file",
    about: "what a download from an opened shared vault takes longer than one from a public vault",
    value: median(shared.map((value, at) => value - (plain[at] ?? Number.NaN))),
    unit: "ms",
    limit: { at: "most", value: 2 },
    series: { "shared, ms": shared, "public, ms": plain },
    facts: {
      "requests to each key server for the second file": asked.join(", "),
      "the very first read of the second file, ms": coldSecond.toFixed(1),
    },
  });
};

async function put(client: Client, vaultId: string): Promise<string> {
  const name = randomBytes(8).toString("hex");
  return (await client.files.upload({ vaultId, name, body: randomBytes(BYTES) })).file.id;
}

async function read(client: Client, fileId: string): Promise<void> {
  const bytes = await (await client.files.download(fileId)).bytes();
  if (bytes.length !== BYTES) throw new Error(`${String(bytes.length)} bytes came back`);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
