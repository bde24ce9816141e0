/** Key servers that are given up: before, a vault's keys are sealed again for others, and then everything opens without the first ones. */
import { join } from "node:path";
import type { NetworkConfiguration } from "@coffer/chain";
import { signRecord } from "@coffer/crypto";
import type { Client, Middleware } from "@coffer/sdk";
import { exportVault, openExport } from "@coffer/sdk/node";
import { afterEach, beforeAll, expect, test } from "vitest";
import { allOf } from "../kit/bytes.ts";
import { makeDirectory } from "../kit/directory.ts";
import { lyingAt } from "../kit/lying-service.ts";
import { raiseGeneration, sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack();
let owner: SharedPerson;
let member: SharedPerson;
let vaultId: string;
/** Of two generations. */
let files: string[];
const place = makeDirectory();

beforeAll(async () => {
  owner = stack.owner;
  const { vaults } = owner.client;
  vaultId = (await vaults.create({ name: "moving", type: "shared" })).id;
  files = [await put("first")];
  await raiseGeneration(owner.client, vaultId);
  files.push(await put("second"));
  member = await stack.invite("member");
  await vaults.members.add(vaultId, member.signer.chainAddress);
});
afterEach(() => {
  independentAre({ down: false });
});

async function put(name: string, client: Client = owner.client): Promise<string> {
  return (await client.files.upload({ vaultId, name, body: Buffer.from(`content of ${name}`) })).file.id;
}

/** The three servers of the set that the vault was sealed for. */
function independentAre(fault: { readonly down: boolean }): void {
  for (const index of [0, 1, 2]) Object.assign(stack.localnet.faults.keyServer(index), fault);
}

/** Key servers as a client has them configured: the committee first, then those of before unless they are given up. */
function network({ givenUp }: { readonly givenUp: boolean }): NetworkConfiguration {
  const [independent, committee] = stack.network.keyServerSets;
  if (independent === undefined || committee === undefined) throw new Error("the localnet has two sets");
  return { ...stack.network, keyServerSets: givenUp ? [committee] : [committee, independent] };
}

async function readAll(client: Client): Promise<string[]> {
  const { files: listed } = await client.files.list({ vaultId });
  const read = listed.map(async ({ id, name }) => [name, await (await client.files.download(id)).bytes()] as const);
  return (await Promise.all(read)).map(([name, body]) => `${name}: ${Buffer.from(body).toString()}`).sort();
}

const ALL = ["first", "second"].map((name) => `${name}: content of ${name}`);

test("without it, nothing opens when the key servers are gone", async () => {
  independentAre({ down: true });
  await expect(readAll(member.another())).rejects.toMatchObject({ code: "key_servers_unavailable" });
});

test("seals every key for the key servers that are named first, goes on after a crash, and then finds nothing to do", async () => {
  const calls: string[] = [];
  const dies: Middleware = (request, next, { endpointId }) => {
    if (endpointId === "vaultKeys.publish") calls.push(endpointId);
    return calls.length > 1 ? Promise.reject(new Error("gone")) : next(request);
  };
  const dying = owner.another({
    middleware: [dies],
    retry: { limit: 0 },
    shared: { network: network({ givenUp: false }) },
  });
  await expect(dying.vaults.reseal(vaultId)).rejects.toThrow();
  const client = owner.another({ shared: { network: network({ givenUp: false }) } });
  const result = await client.vaults.reseal(vaultId);
  expect(result).toMatchObject({ resealed: 1, already: 1, failed: [] });
  expect(await client.vaults.reseal(vaultId)).toMatchObject({ resealed: 0, already: 2, failed: [] });
});

test("then everything opens when the first key servers are gone: contents, names, what is written now, an export [E11]", async () => {
  independentAre({ down: true });
  for (const givenUp of [false, true]) {
    const client = member.another({ shared: { network: network({ givenUp }) } });
    expect(await readAll(client)).toEqual(ALL);
    expect((await client.files.list({ vaultId, folderId: "root", name: "first" })).files).toHaveLength(1);
  }
  // Also for who has not changed the configuration yet.
  expect(await readAll(member.another())).toEqual(ALL);
  const given = network({ givenUp: true });
  const written = await put("third", member.another({ shared: { network: given } }));
  const copy = join(place, "copy");
  await exportVault(owner.another({ shared: { network: given } }), vaultId, copy);
  for (const configured of [given, stack.network]) {
    const opened = await openExport(copy, { signer: member.signer, network: configured });
    expect((await allOf(opened.files())).map(({ name }) => name).sort()).toEqual(["first", "second", "third"]);
    for (const id of [...files, written]) for await (const piece of opened.read(id)) expect(piece).toBeDefined();
  }
});

test("what was sealed before stays open to the key servers of before: nothing is taken back [E11]", async () => {
  const [independent] = stack.network.keyServerSets;
  const before = { ...stack.network, keyServerSets: [independent!] };
  expect((await readAll(member.another({ shared: { network: before } }))).filter((file) => ALL.includes(file))).toEqual(
    ALL,
  );
  const { effect } = await owner.another().vaults.reseal(vaultId);
  expect(effect).toContain("The key servers of before still open copies of the old sealed keys");
});

test("a member seals the keys of its own generations, and names the others", async () => {
  const other = await owner.client.vaults.create({ name: "partly", type: "shared" });
  const upload = (client: Client) =>
    client.files.upload({ vaultId: other.id, name: `${String(Math.random())}.txt`, body: Buffer.from("x") });
  await upload(owner.client);
  await raiseGeneration(owner.client, other.id);
  await owner.client.vaults.members.add(other.id, member.signer.chainAddress);
  await upload(owner.client);
  const client = member.another({ shared: { network: network({ givenUp: false }) } });
  const { resealed, failed, effect } = await client.vaults.reseal(other.id);
  expect(effect).toContain("is not complete");
  expect([resealed, failed.map(({ generation, code }) => [generation, code])]).toEqual([
    1,
    [[1, "signing_key_missing"]],
  ]);
  const rest = await owner.another({ shared: { network: network({ givenUp: false }) } }).vaults.reseal(other.id);
  expect(rest).toMatchObject({ resealed: 1, already: 1, failed: [] });
});

test("names a key whose maker the node does not show, and does not call the change complete [E11]", async () => {
  const { chainObjectId } = await owner.client.vaults.get(vaultId);
  const hidden = await stack.invite("hidden");
  const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replace("0x", ""), "hex"));
  const record = await signRecord(
    {
      vault: bytesOf(chainObjectId ?? ""),
      creator: bytesOf(hidden.signer.chainAddress),
      generation: 1n,
      after: 0n,
      check: new Uint8Array(32).fill(1),
      sealedKey: new Uint8Array(300).fill(2),
    },
    hidden.signer.statements,
  );
  const keyId = Buffer.from(record.keyId).toString("hex");
  const listed = {
    keyId,
    generation: 1,
    after: 0,
    current: false,
    createdAt: new Date().toISOString(),
    record: Buffer.from(record.bytes).toString("base64"),
  };
  const also = lyingAt("vaultKeys.list", ({ keys, ...said }: { keys: object[] }) => ({
    ...said,
    keys: [...keys, listed],
  }));
  const client = owner.another({ middleware: [also], shared: { network: network({ givenUp: false }) } });
  const { failed, effect } = await client.vaults.reseal(vaultId);
  expect(failed).toMatchObject([{ keyId, generation: 1, code: "damaged" }]);
  expect(effect).toContain("is not complete");
});
