/** A vault of 1,000 members and many generations: what §7 of the encryption design promises at that size, at real gas. */
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { readObject } from "../kit/crash-points.ts";
import { countKeys } from "../kit/counted-keys.ts";
import { enlargeVault } from "../kit/large-vault.ts";
import { lyingAt } from "../kit/lying-service.ts";
import { raiseGeneration, read, sharedStack, UNLIMITED } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";
import type { Client, Middleware } from "@coffer/sdk";

const GENERATIONS = process.env["COFFER_TEST_COUNTS"] === "full" ? 200 : 40;
const MEMBERS = 1_000;
/** The first and the last members are added by so many acts. To add all by acts would take minutes, and show nothing else. */
const ADDED_BY_ACTS = 10;
const PATIENCE = 900_000;

const stack = sharedStack(UNLIMITED);
let member: SharedPerson;
let vaultId: string;
/** A file of each generation, the oldest first. */
const files: string[] = [];

beforeAll(async () => {
  const { client } = stack.owner;
  member = await stack.invite("member");
  ({ id: vaultId } = await client.vaults.create({ name: "large", type: "shared" }));
  await client.vaults.members.add(vaultId, member.signer.chainAddress);
  for (let generation = 1; generation <= GENERATIONS; generation += 1) {
    // A maker lays no step until its `base` was shown for ten seconds (encryption design §9.1), and no vault grows as fast as this one.
    if (generation === 2) await pause(11_000);
    if (generation > 1) await raiseGeneration(client, vaultId);
    const content = `content ${String(generation)}`;
    files.push((await client.files.upload({ vaultId, name: content, body: content })).file.id);
  }
  const addStrangers = async (count: number): Promise<void> => {
    for (let added = 0; added < count; added += 1) await client.vaults.members.add(vaultId, anyAddress());
  };
  await addStrangers(ADDED_BY_ACTS / 2 - 1);
  const { chainObjectId } = await client.vaults.get(vaultId);
  if (chainObjectId === null) throw new Error("the vault is on no chain");
  await enlargeVault(stack.localnet, chainObjectId, ({ members }) => ({
    members: [
      ...members,
      ...Array.from({ length: MEMBERS - ADDED_BY_ACTS }, () => ({ ...members.at(-1)!, chainAddress: anyAddress() })),
    ],
  }));
  await addStrangers(ADDED_BY_ACTS / 2);
}, PATIENCE);

function anyAddress(): string {
  return `0x${randomBytes(32).toString("hex")}`;
}

/** What each key server gives to a fresh client of the member while it does this. */
async function given(work: (client: Client) => Promise<unknown>, middleware: Middleware[] = []): Promise<number> {
  const counted = countKeys();
  await work(member.another({ shared: { fetch: counted.fetch }, middleware }));
  return Math.max(...counted.given());
}

async function listed(client: Client): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of client.files.list({ vaultId })) names.push(name);
  return names;
}

test(`has 1,000 members beside its owner, and ${String(GENERATIONS)} generations`, async () => {
  expect((await stack.owner.client.vaults.members.list(vaultId)).items).toHaveLength(MEMBERS + 1);
  const { chainObjectId } = await stack.owner.client.vaults.get(vaultId);
  expect(await readObject(stack, chainObjectId)).toMatchObject({
    generation: BigInt(GENERATIONS),
    floor: 1n,
    base: 1n,
  });
});

test(
  "lists, and reads its oldest and its newest content, for two identities at each key server at most",
  { timeout: PATIENCE },
  async () => {
    // One for the newest key. The other for keys of the vault's first ten seconds, in which nothing has confirmed its `base`: no step leads
    // to them (encryption design §9.1).
    const atMost = 2;
    const list = async (client: Client) => expect(await listed(client)).toHaveLength(GENERATIONS);
    expect(await given(list)).toBeLessThanOrEqual(atMost);
    const first = files[0] ?? "";
    const readFirst = async (client: Client) => expect(await read(client, first)).toBe("content 1");
    expect(await given(readFirst)).toBeLessThanOrEqual(atMost);
    const readAll = (client: Client) =>
      Promise.all(files.map(async (id, at) => expect(await read(client, id)).toBe(`content ${String(at + 1)}`)));
    expect(await given(readAll)).toBeLessThanOrEqual(atMost);
  },
);

test("costs one identity more for a forged step, and loses nothing", { timeout: PATIENCE }, async () => {
  const forged = lyingAt("vaultKeys.steps", (said: { steps: string[] }) => ({
    ...said,
    steps: said.steps.map((step, at) => {
      if (at !== GENERATIONS / 2) return step;
      const bytes = Buffer.from(step, "base64");
      bytes[150] = (bytes[150] ?? 0) ^ 1;
      return bytes.toString("base64");
    }),
  }));
  const first = files[0] ?? "";
  expect(await given(async (client) => expect(await read(client, first)).toBe("content 1"), [forged])).toBe(2);
});
