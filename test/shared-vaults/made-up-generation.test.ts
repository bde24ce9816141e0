/** A chain node that makes a generation or a floor up: nothing shuts a vault for good, and its user heals it. */
import { toRequest, type Client, type ClientOptions, type Clock, type Transport, type Vault } from "@coffer/sdk";
import { pinStore } from "@coffer/sdk/shared";
import { fileStore } from "@coffer/sdk/node";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { read, sharedStack } from "../kit/shared-scene.ts";

const LARGEST = 2n ** 64n - 1n;
/** A client remembers what it read of a vault for less than this, in milliseconds. */
const REMEMBERED = 5001;

const stack = sharedStack();
/** Of one machine; each test has its own. */
let directory: string;
/** Stands still while a test runs, however long that takes, but for what the test passes. Milliseconds. */
let now: number;
let vault: Vault;
let fileId: string;

beforeAll(async () => {
  vault = await stack.owner.client.vaults.create({ name: "made up", type: "shared" });
  fileId = (await stack.owner.client.files.upload({ vaultId: vault.id, name: "a.txt", body: "content" })).file.id;
});
beforeEach(async () => {
  now = Date.now();
  directory = makeDirectory();
});

/** What a node says in the place of the vault's generation and floor. */
interface Lie {
  now: { readonly generation?: bigint; readonly floor?: bigint; readonly plainNames?: boolean } | null;
}

/** Rewrites the vault object's first fields, of 8 bytes each after its id, in every answer of the node. */
function lyingNode(lie: Lie): typeof fetch {
  const id = Buffer.from((vault.chainObjectId ?? "").slice(2), "hex");
  return async (input, init) => {
    const answer = await fetch(input, init);
    const said = lie.now;
    if (said === null || answer.headers.get("content-type") !== "application/grpc-web-text+proto") return answer;
    // Frames are encoded one by one.
    const frames = (await answer.text()).match(/[^=]+=*/g) ?? [];
    const body = Buffer.concat(frames.map((frame) => Buffer.from(frame, "base64")));
    for (let at = body.indexOf(id); at >= 0 && at + 57 <= body.length; at = body.indexOf(id, at + 1)) {
      if (said.generation !== undefined) body.writeBigUInt64LE(said.generation, at + 32);
      if (said.floor !== undefined) body.writeBigUInt64LE(said.floor, at + 40);
      if (said.plainNames !== undefined) body.writeUInt8(said.plainNames ? 1 : 0, at + 56);
    }
    return new Response(body.toString("base64"), { status: answer.status, headers: answer.headers });
  };
}

const pinsHere = () => pinStore(fileStore(directory));

/** The client's pauses are over at once; its limits, which are longer, never come. */
const pauses: Clock = {
  now: () => performance.now(),
  after: (milliseconds, action) => {
    const timer = milliseconds < 10_000 ? setImmediate(action) : undefined;
    return () => clearImmediate(timer);
  },
  random: () => 0.5,
};

/** A process of this machine, so many seconds ago. */
function newProcess(lie: Lie, secondsAgo = 0, network = stack.network, options: Partial<ClientOptions> = {}): Client {
  return stack.owner.another({
    ...options,
    clock: pauses,
    retry: { limit: 0 },
    shared: {
      network,
      pins: pinsHere(),
      fetch: lyingNode(lie),
      clock: () => now - secondsAgo * 1000,
    },
  });
}

const honest: Lie = { now: null };

const readIt = (client: Client) => read(client, fileId, { vaultId: vault.id });

const write = (client: Client) => client.files.replace(fileId, { body: "content", vaultId: vault.id });

/** What the node said, once, to a process of this machine. */
async function lieOnce(said: NonNullable<Lie["now"]>, secondsAgo = 0): Promise<void> {
  await readIt(newProcess({ now: said }, secondsAgo)).catch(() => undefined);
}

const refused = (what: bigint) => ({
  code: "rolled_back",
  message: expect.stringContaining(String(what)) as string,
  nextStep: expect.stringMatching(new RegExp(`vaults\\.forgetSeen\\("${vault.id}"\\).*vaults\\.trust`)) as string,
});

describe.each([
  ["generation", LARGEST, { generation: LARGEST }],
  ["generation that it may have", 1_000n, { generation: 1_000n }],
  ["floor", LARGEST, { floor: LARGEST }],
])("a %s that a node made up", (_what, number, lie) => {
  test("once, in another process, keeps nobody from reading; writing waits until its user has healed it [N15 N17]", async () => {
    await lieOnce(lie, 11);
    const client = newProcess(honest, 11);
    expect(await readIt(client)).toBe("content");
    await expect(write(client)).rejects.toMatchObject(refused(number));
    const another = newProcess(honest);
    expect(await readIt(another)).toBe("content");
    await expect(write(another)).rejects.toMatchObject(refused(number));
    await another.vaults.forgetSeen(vault.id);
    await write(another);
    expect(await readIt(newProcess(honest))).toBe("content");
    await write(newProcess(honest));
  });

  test.each(["itself", "another process"])(
    "once, in the same process, keeps it from nothing that it reads, and is healed by %s [N15]",
    async (by) => {
      const node: Lie = { now: null };
      // What it passes leads to the present: key servers take nothing of the future.
      now -= 2 * REMEMBERED;
      const client = newProcess(node);
      expect(await readIt(client)).toBe("content");
      node.now = lie;
      now += REMEMBERED;
      await readIt(client).catch(() => undefined);
      const { candidates = [] } = await pinsHere().loadHighest(vault.chainObjectId ?? "");
      expect(candidates.map(({ generation, floor }) => generation === number || floor === number)).toContain(true);
      // Of a generation that a vault may have the service says that its own node does not show it.
      const code = number === LARGEST ? "rolled_back" : "chain_unavailable";
      await expect(write(client)).rejects.toMatchObject({ code });
      node.now = null;
      // What was read last is remembered for five seconds, and nothing is written by that.
      await expect(write(client)).rejects.toMatchObject(refused(number));
      const { chain } = await client.vaults.checkAccess(vault.id);
      expect(chain).toMatchObject({ state: "failed", cause: "rolled_back", nextStep: refused(number).nextStep });
      expect(chain.nextStep).toContain(String(number));
      expect(await readIt(client)).toBe("content");
      // Also what its user does in another process heals it here.
      await (by === "itself" ? client : newProcess(honest)).vaults.forgetSeen(vault.id);
      await write(client);
    },
  );

  test("twice within ten seconds is not believed [N15]", async () => {
    await lieOnce(lie, 12);
    await lieOnce(lie, 6);
    expect(await readIt(newProcess(honest))).toBe("content");
  });

  test("twice, ten seconds apart, shuts the vault to every process until its user has healed it [N16]", async () => {
    await lieOnce(lie, 11);
    await lieOnce(lie);
    const client = newProcess(honest);
    await expect(readIt(client)).rejects.toMatchObject({ code: "rolled_back", nextStep: refused(number).nextStep });
    await expect(write(client)).rejects.toMatchObject({ code: "rolled_back" });
    const { chainObjectId } = vault;
    await client.vaults.trust(vault.id, {
      chainObjectId: chainObjectId ?? "",
      ownerAddress: stack.owner.signer.chainAddress,
    });
    await write(client);
    expect(await readIt(newProcess(honest))).toBe("content");
  });
});

describe("a generation that is true", () => {
  test("is not gone back behind: not once it was read twice, and not once witnesses have shown it [N16 N17]", async () => {
    const { client } = stack.owner;
    const leaving = await stack.invite("leaving");
    await client.vaults.members.add(vault.id, leaving.signer.chainAddress);
    await client.vaults.members.remove(vault.id, leaving.signer.chainAddress);
    const before: Lie = { now: { generation: 1n } };
    expect(await readIt(newProcess(honest, 11))).toBe("content");
    expect(await readIt(newProcess(before, 5))).toBe("content");
    expect(await readIt(newProcess(honest))).toBe("content");
    await expect(readIt(newProcess(before))).rejects.toMatchObject({ code: "rolled_back" });
    expect(await readIt(newProcess(honest))).toBe("content");
    directory = makeDirectory();
    const network = { ...stack.network, witnessUrls: [stack.network.grpcUrl] };
    expect(await readIt(newProcess(honest, 0, network))).toBe("content");
    await expect(readIt(newProcess(before))).rejects.toMatchObject({ code: "rolled_back" });
  });
});

test("names that a node calls plain are sent to nobody: a vault that encrypted them encrypts them for good [N18]", async () => {
  const name = "the-name-that-stays-here.txt";
  expect(await readIt(newProcess(honest))).toBe("content");
  const sent: string[] = [];
  const transport: Transport = async (outgoing) => {
    const request = toRequest(outgoing);
    sent.push(request.url, await request.clone().text());
    return fetch(request);
  };
  const node: Lie = { now: { plainNames: true } };
  now -= REMEMBERED;
  const client = newProcess(node, 0, stack.network, { transport });
  const upload = () => client.files.upload({ vaultId: vault.id, name, body: "more" });
  await expect(upload()).rejects.toMatchObject({
    code: "vault_changed",
    nextStep: expect.stringContaining("vaults.trust") as string,
  });
  await expect(client.folders.create({ vaultId: vault.id, name })).rejects.toMatchObject({ code: "vault_changed" });
  node.now = null;
  now += REMEMBERED;
  expect(await upload()).toMatchObject({ file: { vaultId: vault.id } });
  expect(sent.length).toBeGreaterThan(0);
  // Healed of what a node made up, it is not to be opened by the next lie.
  await client.vaults.forgetSeen(vault.id);
  node.now = { plainNames: true };
  now += REMEMBERED;
  await expect(upload()).rejects.toMatchObject({ code: "vault_changed" });
  expect(sent.filter((text) => text.includes(name))).toEqual([]);
  expect(await readIt(newProcess(honest))).toBe("content");
});

test("the kind of names that a node made up at a first meeting is healed by the owner's own words [N18]", async () => {
  await lieOnce({ plainNames: true });
  const client = newProcess(honest);
  await expect(readIt(client)).rejects.toMatchObject({ code: "vault_changed" });
  const told = { chainObjectId: vault.chainObjectId ?? "", ownerAddress: stack.owner.signer.chainAddress };
  await client.vaults.trust(vault.id, told);
  expect(await readIt(client)).toBe("content");
});
