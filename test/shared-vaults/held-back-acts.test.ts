/**
 * A chain node that holds back what the owner signed, seen by the owner's client: taking a right away is a transaction of
 * its own while the one that gives it may still be executed.
 */
import { randomBytes } from "node:crypto";
import { openChain } from "@coffer/chain";
import type { Client, Clock, Vault } from "@coffer/sdk";
import { pinStore } from "@coffer/sdk/shared";
import { fileStore } from "@coffer/sdk/node";
import { toHex } from "@mysten/sui/utils";
import { beforeEach, describe, expect, test } from "vitest";
import { readHeight } from "../kit/crash-points.ts";
import { makeDirectory } from "../kit/directory.ts";
import { OFTEN_CUT, sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const DAY = 24 * 60 * 60 * 1000;
const QUARTER = 900_000;

/** Milliseconds that a test has let pass. */
let passed = 0;
/** Of the chain, the service and every machine. */
const clock = (): number => Date.now() + passed;
const stack = sharedStack({ ...OFTEN_CUT, clock });
/** What the owner's machine remembers; each test has a machine of its own. */
let directory: string;
let vault: Vault;
let made = 0;

beforeEach(async () => {
  directory = makeDirectory();
  made += 1;
  vault = await newProcess().vaults.create({ name: `held back ${String(made)}`, type: "shared" });
});

/** The client's pauses are over at once; its limits, which are longer, never come. */
const pauses: Clock = {
  now: () => performance.now(),
  after: (milliseconds, action) => {
    const timer = milliseconds < 10_000 ? setImmediate(action) : undefined;
    return () => clearImmediate(timer);
  },
  random: () => 0.5,
};

/** A process of the owner's machine. */
function newProcess(carry: typeof fetch = fetch, network = stack.network): Client {
  return stack.owner.another({
    clock: pauses,
    retry: { limit: 0 },
    shared: { network, pins: pinStore(fileStore(directory)), fetch: carry, clock },
  });
}

interface Held {
  /** Sends what was held back to the chain. */
  readonly release: () => Promise<void>;
  /** What the transactions that were held back named as the owner's last act. */
  readonly named: string[];
}

/** A process whose node keeps every transaction, and does something else with its reads if it is told to. */
async function holdBack(act: (client: Client) => Promise<unknown>, read: typeof fetch = fetch): Promise<Held> {
  const held: Request[] = [];
  const named: string[] = [];
  const client = newProcess(async (input, init) => {
    const request = new Request(input, init);
    if (!request.url.endsWith("/ExecuteTransaction")) return read(request);
    held.push(request.clone());
    named.push(await namedIn(request));
    throw new TypeError("fetch failed");
  });
  await expect(act(client)).rejects.toMatchObject({ code: "transaction_unknown" });
  // What comes after it is paid for with another coin, so that this one can still be executed.
  await stack.localnet.faucet(stack.owner.signer.chainAddress, 500_000_000_000n);
  return {
    named,
    release: async () => {
      await fetch(held[0]!.clone());
    },
  };
}

/** The last value that the transaction's call is given: 32 bytes behind their length. */
async function namedIn(request: Request): Promise<string> {
  const body = Buffer.from(await request.text(), "base64");
  const values: string[] = [];
  // The transaction is somewhere in the message; the call's own values are the ones of that form.
  for (let at = body.indexOf(32); at >= 0 && at + 33 <= body.length; at = body.indexOf(32, at + 1))
    if (body[at - 1] === 33 && body[at - 2] === 0) values.push(toHex(body.subarray(at + 1, at + 33)));
  return values.at(-1) ?? "";
}

/** As the chain has it now. */
const object = () =>
  openChain(stack.network, { fetch: stack.localnet.fetch, clock }).readVault(vault.chainObjectId ?? "");
const randomAddress = (): string => `0x${randomBytes(32).toString("hex")}`;

/** The act, and how many transactions it was. */
async function countTransactions(act: () => Promise<unknown>): Promise<number> {
  const before = await readHeight(stack);
  await act();
  return Number((await readHeight(stack)) - before);
}

const isMember = async (address: string): Promise<boolean> =>
  (await object()).members.some(({ chainAddress }) => chainAddress === address);

describe("N7: taking away what a node may still give", () => {
  test("an addition of unknown outcome can be executed later: the owner's removal is what ends it [N7]", async () => {
    const [first, second] = [randomAddress(), randomAddress()];
    const control = await holdBack((client) => client.vaults.members.add(vault.id, first));
    await control.release();
    expect(await isMember(first)).toBe(true);
    const { release } = await holdBack((client) => client.vaults.members.add(vault.id, second));
    const { generation } = await object();
    expect(await countTransactions(() => newProcess().vaults.members.remove(vault.id, second))).toBe(1);
    await release();
    expect(await isMember(second)).toBe(false);
    // Nothing was there to take away.
    expect((await object()).generation).toBe(generation);
  });

  test("the present end is set once more, and an extension that was held back does not undo it [N7]", async () => {
    const address = randomAddress();
    const until = new Date((Math.ceil(clock() / QUARTER) + 2) * QUARTER);
    await newProcess().vaults.members.add(vault.id, address, { until });
    const { release } = await holdBack((client) => client.vaults.members.setUntil(vault.id, address, null));
    expect(await countTransactions(() => newProcess().vaults.members.setUntil(vault.id, address, until))).toBe(1);
    await release();
    expect((await object()).members).toMatchObject([{ endsAt: BigInt(until.getTime()) }]);
  });

  test.each([
    ["withdrawn", (client: Client, _to: string) => client.vaults.offerOwnership(vault.id, null)],
    ["taken from a removed address", (client: Client, to: string) => client.vaults.members.remove(vault.id, to)],
  ])("an offer that nobody sees is %s, and nobody gets the vault by it [N7]", async (_how, take) => {
    const heir = await stack.signUp(`heir-${String(made)}`);
    const { chainAddress } = heir.signer;
    const { release } = await holdBack((client) => client.vaults.offerOwnership(vault.id, chainAddress));
    expect(await countTransactions(() => take(newProcess(), chainAddress))).toBe(1);
    await release();
    expect(await object()).toMatchObject({ offered: null, owner: { chainAddress: stack.owner.signer.chainAddress } });
  });

  test("agents.revoke ends an addition that was held back as well", async () => {
    const agent: SharedPerson = await stack.invite(`agent ${String(made)}`);
    const address = agent.signer.chainAddress;
    const { release } = await holdBack((client) => client.vaults.members.add(vault.id, address));
    await newProcess().agents.revoke(agent.keyId ?? "", { vaultIds: [vault.id] });
    await release();
    expect(await isMember(address)).toBe(false);
  });

  test("what the owner forgets of a node's lies is not what it has given", async () => {
    const address = randomAddress();
    const { release } = await holdBack((client) => client.vaults.members.add(vault.id, address));
    await newProcess().vaults.forgetSeen(vault.id);
    await newProcess().vaults.members.remove(vault.id, address);
    await release();
    expect(await isMember(address)).toBe(false);
  });
});

describe("N7: until when a node may still give it", () => {
  test("one node's word and its epochs end it never, three days of this machine's clock do [N7]", async () => {
    const address = randomAddress();
    const remove = () => countTransactions(() => newProcess().vaults.members.remove(vault.id, address));
    await newProcess().vaults.members.add(vault.id, address);
    expect([await remove(), await remove()]).toEqual([1, 1]);
    for (let epoch = 0; epoch < 4; epoch += 1) stack.localnet.advanceEpoch();
    expect(await remove()).toBe(1);
    passed += 3 * DAY - 600_000;
    expect(await remove()).toBe(1);
    passed += 600_000;
    expect(await remove()).toBe(0);
    // Of another address, nothing is to be taken away at any time.
    expect(await countTransactions(() => newProcess().vaults.members.remove(vault.id, randomAddress()))).toBe(0);
  });

  test("a witness ends it, once it shows a later act; then nothing is remembered of it [N7]", async () => {
    const address = randomAddress();
    const network = { ...stack.network, witnessUrls: [stack.network.grpcUrl] };
    const remove = () => countTransactions(() => newProcess(fetch, network).vaults.members.remove(vault.id, address));
    const { release } = await holdBack((client) => client.vaults.members.add(vault.id, address));
    // The witness shows that the addition may still be executed.
    expect([await remove(), await remove()]).toEqual([1, 0]);
    await release();
    expect(await isMember(address)).toBe(false);
    const { given } = await pinStore(fileStore(directory)).loadHighest(vault.chainObjectId ?? "");
    expect(given).toBeUndefined();
  });
});

describe("N7: an attempt after one of unknown outcome", () => {
  /** In the place of what the vault says is the owner's last act, another one that its node made up. */
  const lying = (real: string, said: string): typeof fetch => {
    const [find, put] = [Buffer.from(real, "hex"), Buffer.from(said, "hex")];
    return async (input, init) => {
      const answer = await fetch(input, init);
      if (answer.headers.get("content-type") !== "application/grpc-web-text+proto") return answer;
      // Frames are encoded one by one.
      const frames = (await answer.text()).match(/[^=]+=*/g) ?? [];
      const body = Buffer.concat(frames.map((frame) => Buffer.from(frame, "base64")));
      for (let at = body.indexOf(find); at >= 0; at = body.indexOf(find, at + 1)) put.copy(body, at);
      return new Response(body.toString("base64"), { status: answer.status, headers: answer.headers });
    };
  };

  test("names the same act, whatever the node says is the last one: at most one of them is executed [N7]", async () => {
    const address = randomAddress();
    const { last } = await object();
    const add = (client: Client) => client.vaults.members.add(vault.id, address);
    const first = await holdBack(add);
    const lie = lying(last, "ab".repeat(32));
    const again = await holdBack(add, lie);
    expect(new Set([...first.named, ...again.named])).toEqual(new Set([last]));
    await again.release();
    expect(await isMember(address)).toBe(true);
    await newProcess().vaults.members.remove(vault.id, address);
    await first.release();
    await again.release();
    expect(await isMember(address)).toBe(false);
  });

  test("an act that names what a node made up does nothing", async () => {
    const { last } = await object();
    const lie = newProcess(lying(last, "ab".repeat(32)));
    const add = lie.vaults.members.add(vault.id, randomAddress());
    await expect(add).rejects.toMatchObject({ code: "act_outdated", retryable: false });
    expect((await object()).members).toEqual([]);
  });

  test("is refused once after a later act of another machine, and is a new act when its user repeats it", async () => {
    const [address, other] = [randomAddress(), randomAddress()];
    await holdBack((client) => client.vaults.members.add(vault.id, address));
    await stack.owner.client.vaults.members.add(vault.id, other);
    const add = () => newProcess().vaults.members.add(vault.id, address);
    await expect(add()).rejects.toMatchObject({ code: "act_outdated" });
    await add();
    expect(await isMember(address)).toBe(true);
  });

  test("is not in the way of other rights", async () => {
    const [address, other] = [randomAddress(), randomAddress()];
    const { release } = await holdBack((client) => client.vaults.members.add(vault.id, address));
    await release();
    await newProcess().vaults.members.add(vault.id, other);
    expect([await isMember(address), await isMember(other)]).toEqual([true, true]);
  });
});
