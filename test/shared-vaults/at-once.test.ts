/** Two processes of one machine that do the same at once, as a double click does: one effect, and both are told how it ended. */
import { randomBytes } from "node:crypto";
import type { Client, CreationJournal, Vault } from "@coffer/sdk";
import { vaultStores } from "@coffer/sdk/shared";
import { fileStore } from "@coffer/sdk/node";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readHeight, readObject, readRows } from "../kit/crash-points.ts";
import { type Machine, openMachine } from "../kit/mortal-process.ts";
import { OFTEN_CUT, sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack(OFTEN_CUT);
let owner: SharedPerson;
let vault: Vault;
let machine: Machine;

beforeAll(async () => {
  owner = stack.owner;
  vault = await owner.client.vaults.create({ name: "at once", type: "shared" });
});
beforeEach(async () => {
  machine = await openMachine(stack);
  return () => machine[Symbol.asyncDispose]();
});

/** What both say. */
async function twice<Result>(act: (client: Client) => Promise<Result>, person = owner): Promise<Result[]> {
  const lives = await Promise.all([machine.live(person, act), machine.live(person, act)]);
  return lives.flatMap(({ result }) => (result === null ? [] : [result.value]));
}

const object = (of = vault) => readObject(stack, of.chainObjectId);

describe("twice at once", () => {
  test("create makes one object and one vault, which both are given", async () => {
    const before = await readHeight(stack);
    const made = await twice((client) => client.vaults.create({ name: "twice", type: "shared" }));
    expect([made.length, (await readHeight(stack)) - before]).toEqual([2, 1n]);
    expect(made[0]).toEqual(made[1]);
    const { vaults } = await owner.client.vaults.list({ type: "shared" });
    expect(vaults.filter(({ name }) => name === "twice").map(({ id }) => id)).toEqual([made[0]?.id]);
    expect(await fileStore(machine.home).tables("creations")).toEqual([]);
  });

  test("create makes one vault also where another process begins and ends between a look at the journal and the next", async () => {
    const journal = vaultStores(fileStore(machine.home)).creations;
    const first = owner.another({ shared: { creations: journal } });
    const others: Vault[] = [];
    const late: CreationJournal = {
      load: (creation) => journal.load(creation),
      replace: async (creation, before, kept) => {
        if (others.length === 0) others.push(await first.vaults.create({ name: "overtaken", type: "shared" }));
        return journal.replace(creation, before, kept);
      },
    };
    const height = await readHeight(stack);
    const second = owner.another({ shared: { creations: late } });
    expect([await second.vaults.create({ name: "overtaken", type: "shared" })]).toEqual(others);
    expect((await readHeight(stack)) - height).toBe(1n);
    expect(await fileStore(machine.home).tables("creations")).toEqual([]);
  });

  test("a vault that has members by then is not answered as one just made", async () => {
    const agent = await stack.invite("of another vault");
    let hasMade = false;
    const late: CreationJournal = {
      load: () => Promise.resolve(null),
      replace: async () => {
        if (hasMade) return true;
        hasMade = true;
        const { id } = await owner.client.vaults.create({ name: "with a member", type: "shared" });
        await owner.client.vaults.members.add(id, agent.signer.chainAddress);
        return true;
      },
    };
    const second = owner.another({ shared: { creations: late } });
    await expect(second.vaults.create({ name: "with a member", type: "shared" })).rejects.toMatchObject({
      code: "name_exists",
    });
  });

  test("add adds once, remove raises the generation once, revoke ends everything once", async () => {
    const agent = await stack.invite("clicked");
    const address = agent.signer.chainAddress;
    const before = (await object()).generation;
    expect(await twice((client) => client.vaults.members.add(vault.id, address, { label: "one" }))).toHaveLength(2);
    const added = await object();
    expect([added.generation, added.members.map(({ chainAddress }) => chainAddress)]).toEqual([before, [address]]);
    expect(await twice((client) => client.vaults.members.remove(vault.id, address))).toHaveLength(2);
    const removed = await object();
    expect([removed.generation, removed.members, removed.former.length]).toEqual([before + 1n, [], 1]);
    await owner.client.vaults.members.add(vault.id, address);
    const revoked = await twice((client) => client.agents.revoke(agent.keyId ?? ""));
    expect(revoked.map(({ chainAddress }) => chainAddress)).toEqual([address, address]);
    const after = await object();
    expect([after.generation, after.members, after.former.length]).toEqual([before + 2n, [], 2]);
    expect((await owner.client.vaults.members.list(vault.id)).items).toHaveLength(1);
    expect((await owner.client.apiKeys.get(agent.keyId ?? "")).revokedAt).not.toBeNull();
  });

  test("setSigningKey, offerOwnership and acceptOwnership happen once", async () => {
    const heir = await stack.signUp("clicking-heir");
    const { chainAddress } = heir.signer;
    const handed = await owner.client.vaults.create({ name: "handed at once", type: "shared" });
    await owner.client.vaults.members.add(handed.id, chainAddress);
    const key = new Uint8Array(randomBytes(32));
    expect(await twice((client) => client.vaults.setSigningKey(handed.id, key), heir)).toHaveLength(2);
    expect(await twice((client) => client.vaults.offerOwnership(handed.id, chainAddress))).toHaveLength(2);
    const { generation } = await object(handed);
    expect(await twice((client) => client.vaults.acceptOwnership(handed.id), heir)).toHaveLength(2);
    const after = await object(handed);
    expect([after.owner.chainAddress, after.generation, after.offered]).toEqual([chainAddress, generation + 1n, null]);
  });

  test("rotate encrypts every file once and raises the floor once", async () => {
    const rotated = await owner.client.vaults.create({ name: "rotated at once", type: "shared" });
    const put = async (name: string, body: Uint8Array) =>
      (await owner.client.files.upload({ vaultId: rotated.id, name, body })).file.id;
    const large = randomBytes(200_000);
    const files = [
      await put("one.txt", new Uint8Array([1])),
      await put("two.txt", new Uint8Array([2])),
      await put("large", large),
    ];
    const address = `0x${randomBytes(32).toString("hex")}`;
    await owner.client.vaults.members.add(rotated.id, address);
    await owner.client.vaults.members.remove(rotated.id, address);
    const results = await twice((client) => client.vaults.rotate(rotated.id, { partBytes: 65_536 }));
    // The later one joins what is under way, or begins anew where both began in the same moment.
    for (const result of results) expect(result).toMatchObject({ failed: [] });
    const { generation, floor, base } = await object(rotated);
    expect([floor, base]).toEqual([generation, generation]);
    expect([3n, 4n]).toContain(generation);
    for (const id of files)
      expect(readRows(stack, "select count(*) from file_versions where file_id = ?", id)).toEqual([1]);
    expect(Buffer.compare(await (await owner.client.files.download(files[2] ?? "")).bytes(), large)).toBe(0);
    const unfinished = "select count(*) from uploads where vault_id = ? and finished_file_id is null";
    expect(readRows(stack, unfinished, rotated.id)).toEqual([0]);
    expect(await fileStore(machine.home).tables("uploads")).toEqual([]);
  });
});
