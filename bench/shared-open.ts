import { randomBytes } from "node:crypto";
import type { Client } from "@coffer/sdk";
import { measured, medianRatio, renderRatios, type Benchmark } from "./outcome.ts";
import { openScratch } from "./service.ts";
import { openSharedVaults, type SharedVaults } from "./shared-vaults.ts";

/** How many generations the vaults have: one that nobody ever left is what the others are compared with. */
const GENERATIONS = [1, 20, 200] as const;
const ROUNDS = 40;
const BYTES = 4096;

/** A vault of some age with a file of its first generation, and what it took to open. */
interface OldVault {
  readonly generations: number;
  readonly vaultId: string;
  readonly first: string;
  /** Milliseconds, round by round. */
  readonly taken: number[];
}

/** What a client that has opened nothing yet waits for the first content of a vault: its age must not show. */
export const sharedOpen: Benchmark = async () => {
  await using scratch = await openScratch();
  await using stack = await openSharedVaults(scratch.directory);
  const vaults: OldVault[] = [];
  for (const generations of GENERATIONS) vaults.push(await grow(stack.client, generations));
  const asked = new Map<OldVault, string>();
  for (const vault of vaults) {
    await openAfresh(stack, vault);
    asked.set(vault, await keysOf(stack, vault));
  }
  for (let round = 0; round < ROUNDS; round += 1)
    // In turns, so that what else the machine does falls on all.
    for (const vault of round % 2 === 0 ? vaults : [...vaults].reverse())
      vault.taken.push(await openAfresh(stack, vault));
  const [young, ...older] = vaults.map(({ taken }) => taken);
  return measured({
    name: "shared-open",
    about: `a fresh client's first content of a vault with ${GENERATIONS.join(", ")} generations: the oldest over the youngest`,
    value: Math.max(...older.map((taken) => medianRatio(taken, young ?? []))),
    unit: "x",
    limit: { at: "most", value: 1.3 },
    series: Object.fromEntries(
      vaults.map(({ generations, taken }) => [`${String(generations)} generations, ms`, taken]),
    ),
    facts: Object.fromEntries(
      vaults.flatMap((vault) => {
        const age = `${String(vault.generations)} generations`;
        return [
          [`${age} over 1`, renderRatios(vault.taken, young ?? [])],
          [`${age}: requests to each key server`, asked.get(vault) ?? ""],
        ];
      }),
    ),
  });
};

/** Somebody comes and goes before each generation but the first, and a file is written in each. */
async function grow(client: Client, generations: number): Promise<OldVault> {
  const { id: vaultId } = await client.vaults.create({ name: `old-${String(generations)}`, type: "shared" });
  const first = await put(client, vaultId);
  for (let generation = 2; generation <= generations; generation += 1) {
    const passing = `0x${randomBytes(32).toString("hex")}`;
    await client.vaults.members.add(vaultId, passing);
    await client.vaults.members.remove(vaultId, passing);
    await put(client, vaultId);
  }
  return { generations, vaultId, first, taken: [] };
}

async function put(client: Client, vaultId: string): Promise<string> {
  const name = randomBytes(8).toString("hex");
  return (await client.files.upload({ vaultId, name, body: randomBytes(BYTES) })).file.id;
}

/** In milliseconds. The client is new: it reads the chain, signs in at the key servers and opens the vault's keys. */
async function openAfresh({ another }: SharedVaults, { first }: OldVault): Promise<number> {
  const client = another();
  const began = performance.now();
  const bytes = await (await client.files.download(first)).bytes();
  if (bytes.length !== BYTES) throw new Error(`${String(bytes.length)} bytes came back`);
  return performance.now() - began;
}

async function keysOf(stack: SharedVaults, vault: OldVault): Promise<string> {
  const before = stack.keyRequests();
  await openAfresh(stack, vault);
  return stack
    .keyRequests()
    .map((count, at) => count - (before[at] ?? 0))
    .join(", ");
}
