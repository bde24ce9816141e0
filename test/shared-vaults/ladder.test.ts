/**
 * The ladder of vault keys (encryption design §7, §9.1): one identity for a vault of any age, whatever the service makes
 * of the steps. Only who makes a key lays steps, with its record.
 */
import { vaultKeysGroup } from "@coffer/contract";
import { parseLadderStep } from "@coffer/crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { countKeys } from "../kit/counted-keys.ts";
import { lyingAt } from "../kit/lying-service.ts";
import { raiseGeneration, read, sharedStack, UNLIMITED } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";
import { type Client, type Clock, type Middleware, toRequest } from "@coffer/sdk";

const GENERATIONS = 8;

const stack = sharedStack(UNLIMITED);
let owner: SharedPerson;
let member: SharedPerson;
let vaultId: string;
/** A file of each generation, the oldest first. */
let files: string[];

beforeAll(async () => {
  owner = stack.owner;
  member = await stack.invite("member");
  ({ vaultId, files } = await grow(GENERATIONS));
}, 120_000);

/** The real clock, but for how long a maker waits for the older keys that its steps lead to. */
const clockWith = (patience: "endless" | "none"): Clock => ({
  now: () => performance.now(),
  random: () => 0,
  after: (ms, action) => {
    if (ms === 5_000 && patience === "endless") return () => undefined;
    const timer = setTimeout(action, ms === 5_000 ? 0 : ms);
    return () => {
      clearTimeout(timer);
    };
  },
});

/** A witness confirms the vault's base: without one, or ten seconds, nobody lays a step. */
const witnessed = (person: SharedPerson): Client =>
  person.another({
    clock: clockWith("endless"),
    shared: { network: { ...stack.network, witnessUrls: [stack.network.grpcUrl] } },
  });

async function grow(
  generations: number,
  writer: Client = witnessed(owner),
): Promise<{ vaultId: string; files: string[] }> {
  const name = `old-${String(generations)}-${crypto.randomUUID()}`;
  const { id } = await owner.client.vaults.create({ name, type: "shared" });
  await owner.client.vaults.members.add(id, member.signer.chainAddress);
  const made = [await put(writer, id, "content 1")];
  for (let generation = 2; generation <= generations; generation += 1) {
    await raiseGeneration(owner.client, id);
    made.push(await put(writer, id, `content ${String(generation)}`));
  }
  return { vaultId: id, files: made };
}

async function put(client: Client, id: string, content: string): Promise<string> {
  return (await client.files.upload({ vaultId: id, name: content, body: content })).file.id;
}

/** What a fresh process of somebody is given by each key server while it does this. */
async function given(
  person: SharedPerson,
  work: (client: Client) => Promise<unknown>,
  middleware: readonly Middleware[] = [],
): Promise<readonly number[]> {
  const counted = countKeys();
  await work(person.another({ shared: { fetch: counted.fetch }, middleware: [...middleware] }));
  return counted.given();
}

/** The key servers that are asked: two of three are enough, and the third may be asked too. */
const ofEach = (keys: readonly number[]): number => Math.max(...keys);

async function readAll(client: Client, ids = files): Promise<void> {
  for (const [index, id] of ids.entries()) expect(await read(client, id)).toBe(`content ${String(index + 1)}`);
}

const steps = async (id = vaultId): Promise<readonly string[]> =>
  (await owner.client.call(vaultKeysGroup.steps, { params: { vaultId: id } })).steps;

test("a fresh process lists and reads a vault of many generations with one identity at each key server [K1]", async () => {
  const listed = async (client: Client) => {
    const { files: all } = await client.files.list({ vaultId });
    expect(all.map(({ name }) => name).sort()).toEqual(files.map((_, index) => `content ${String(index + 1)}`));
  };
  expect(ofEach(await given(member, listed))).toBe(1);
  expect(ofEach(await given(member, (client) => readAll(client)))).toBe(1);
  expect(ofEach(await given(member, (client) => read(client, files[0] ?? "")))).toBe(1);
  expect(ofEach(await given(member, (client) => Promise.all(files.map((id) => read(client, id)))))).toBe(1);
  expect(await steps()).toHaveLength(GENERATIONS - 1);
});

describe("what the service makes of the steps opens no wrong key, and costs what a missing one costs", () => {
  type Said = { steps: string[] };
  const bytesOf = (step: string): Buffer => Buffer.from(step, "base64");
  const spoilt = (step: string, at: number): string => {
    const bytes = bytesOf(step);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    return bytes.toString("base64");
  };
  test.each<[string, number, (said: Said) => Said]>([
    [
      "one link altered",
      2,
      ({ steps: all }) => ({ steps: all.map((step, at) => (at === 3 ? spoilt(step, 150) : step)) }),
    ],
    [
      "one check altered",
      2,
      ({ steps: all }) => ({ steps: all.map((step, at) => (at === 3 ? spoilt(step, 70) : step)) }),
    ],
    [
      "one of another vault",
      2,
      ({ steps: all }) => ({ steps: all.map((step, at) => (at === 3 ? spoilt(step, 0) : step)) }),
    ],
    ["one cut", 2, ({ steps: all }) => ({ steps: all.map((step, at) => (at === 3 ? step.slice(0, 100) : step)) })],
    ["one missing", 2, ({ steps: all }) => ({ steps: all.filter((_, at) => at !== 3) })],
    ["all of them gone", 2, () => ({ steps: [] })],
    ["another order", 1, ({ steps: all }) => ({ steps: [...all].reverse() })],
    ["each of them three times", 1, ({ steps: all }) => ({ steps: [...all, ...all, ...all] })],
    [
      "the link of another step",
      2,
      ({ steps: all }) => ({
        steps: all.map((step, at) =>
          at === 3
            ? Buffer.concat([bytesOf(step).subarray(0, 96), bytesOf(all[0] ?? "").subarray(96)]).toString("base64")
            : step,
        ),
      }),
    ],
  ])("%s", async (_, most, change) => {
    const lying = lyingAt("vaultKeys.steps", (said: Said) => ({ ...said, ...change(said) }));
    expect(ofEach(await given(member, (client) => read(client, files[0] ?? ""), [lying]))).toBe(most);
    await given(member, (client) => readAll(client), [lying]);
  });

  test("a service that does not answer for steps keeps nobody from reading", async () => {
    const refusing: Middleware = (request, next, context) =>
      context.endpointId === "vaultKeys.steps"
        ? Promise.resolve(Response.json({ error: { code: "internal", message: "x" } }, { status: 500 }))
        : next(request);
    await given(member, (client) => readAll(client), [refusing]);
  });
});

test("a gap costs its readers one identity more, also for many keys below it, until the next maker closes it", async () => {
  const vault = await grow(3);
  // Nothing confirms the base of this writer's vault: it lays no step.
  await raiseGeneration(owner.client, vault.vaultId);
  vault.files.push(await put(owner.another(), vault.vaultId, "content 4"));
  expect(await steps(vault.vaultId)).toHaveLength(2);
  expect(ofEach(await given(member, (client) => readAll(client, vault.files)))).toBe(2);
  expect(ofEach(await given(member, (client) => read(client, vault.files[0] ?? "")))).toBe(2);
  expect(await steps(vault.vaultId)).toHaveLength(2);
  await raiseGeneration(owner.client, vault.vaultId);
  vault.files.push(await put(witnessed(member), vault.vaultId, "content 5"));
  const ends = (await steps(vault.vaultId)).map((step) =>
    parseLadderStep(Uint8Array.from(Buffer.from(step, "base64"))),
  );
  expect(ends.map(({ from, to }) => [from.generation, to.generation]).sort()).toEqual([
    [2n, 1n],
    [3n, 2n],
    [5n, 3n],
    [5n, 4n],
  ]);
  expect(ofEach(await given(member, (client) => readAll(client, vault.files)))).toBe(1);
});

test("key servers that never answer keep no maker from publishing", async () => {
  const vault = await grow(2);
  await raiseGeneration(owner.client, vault.vaultId);
  const aborting = new AbortController();
  let published: unknown = null;
  const noting: Middleware = async (request, next, { endpointId }) => {
    if (endpointId !== "vaultKeys.publish") return next(request);
    published = await toRequest(request).clone().json();
    aborting.abort();
    return next(request);
  };
  const silent: typeof fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    return url.includes("/fetch_key") ? new Promise(() => undefined) : fetch(input, init);
  };
  const network = { ...stack.network, witnessUrls: [stack.network.grpcUrl] };
  const writer = member.another({ middleware: [noting], clock: clockWith("none"), shared: { network, fetch: silent } });
  const upload = { vaultId: vault.vaultId, name: "content 3", body: "content 3" };
  await expect(writer.files.upload(upload, { signal: aborting.signal })).rejects.toMatchObject({ code: "aborted" });
  expect(published).toEqual({ record: expect.any(String) as string });
});

test("no step leads back across a rotation: a key that leaks afterwards opens no copy of before [K1]", async () => {
  const vault = await grow(3);
  const rotating = witnessed(owner);
  expect(await rotating.vaults.rotate(vault.vaultId)).toMatchObject({ generation: 4, floor: 4, failed: [] });
  await raiseGeneration(owner.client, vault.vaultId);
  await put(witnessed(owner), vault.vaultId, "content 4");
  for (const person of [member, owner]) await given(person, (client) => readAll(client, vault.files));
  const ways = (await steps(vault.vaultId)).map((step) =>
    parseLadderStep(Uint8Array.from(Buffer.from(step, "base64"))),
  );
  expect(ways.map(({ from, to }) => [from.generation, to.generation])).toContainEqual([5n, 4n]);
  expect(ways.filter(({ from, to }) => from.generation >= 4n && to.generation < 4n)).toEqual([]);
});
