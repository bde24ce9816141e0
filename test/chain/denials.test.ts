/** Why keys are not given: told by the chain and by what each key server said, never by SealClient's one error. */
import type { SealKeyWrap } from "@coffer/chain";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { OtherAnswer } from "@coffer/localnet/key-servers";
import { keypairOf, openKeyWrapBench, placeOf, type KeyWrapBench } from "../kit/key-wrap-bench.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const [owner, removed, stranger, added] = [1, 2, 3, 4].map(keypairOf) as [Key, Key, Key, Key];
type Key = ReturnType<typeof keypairOf>;

const key = new Uint8Array(32).fill(42);
let bench: KeyWrapBench;
let sealed: Uint8Array;

beforeAll(async () => {
  bench = await openKeyWrapBench();
  sealed = await bench.wrapOf(owner).wrap(key, placeOf(1n));
});
beforeEach(() => {
  bench.reset();
  bench.chain.members.clear();
  bench.chain.members.add(owner.toSuiAddress()).add(removed.toSuiAddress());
});

const open = async (wrap: SealKeyWrap, sealedKey = sealed, generation = 1n): Promise<Uint8Array[]> =>
  await wrap.unwrap([{ sealedKey, place: placeOf(generation) }]);

describe("a refusal says why", () => {
  it("not_a_member: also while a key server is down, when SealClient says that a fetch failed", async () => {
    bench.servers.faults(0).down = true;
    await expect(open(bench.wrapOf(stranger))).rejects.toMatchObject({ name: "ChainError", code: "not_a_member" });
    bench.servers.faults(1).down = true;
    await expect(open(bench.wrapOf(stranger))).rejects.toMatchObject({ code: "not_a_member" });
  });

  it("key_servers_unavailable: names those that are away and how many are needed; one may be [K3]", async () => {
    bench.servers.faults(2).down = true;
    expect(await open(bench.wrapOf(owner))).toEqual([key]);
    bench.servers.faults(0).down = true;
    const failure = open(bench.wrapOf(owner));
    await expect(failure).rejects.toMatchObject({ code: "key_servers_unavailable" });
    await expect(failure).rejects.toThrow(
      /2 of 3 shares are needed\. key server 1 of 3 \(0x\w{4}…\w{4}\) cannot be reached; /,
    );
    await expect(failure).rejects.toThrow(/key server 3 of 3 .* cannot be reached/);
  });

  it("key_servers_unavailable: names those that are slow, that fail, and whose keys do not fit", async () => {
    bench.servers.faults(0).slow = 2_000;
    bench.servers.faults(1).slow = 2_000;
    await expect(open(bench.wrapOf(owner, { timeout: 100 }))).rejects.toThrow(/1 of 3 .* takes too long to answer/);
    bench.reset();
    const warned = vi.spyOn(console, "warn").mockReturnValue();
    bench.servers.faults(0).wrongKey = true;
    bench.servers.faults(1).wrongKey = true;
    const failure = open(bench.wrapOf(owner));
    await expect(failure).rejects.toMatchObject({ code: "key_servers_unavailable" });
    await expect(failure).rejects.toThrow(/1 of 3 .* answers, with a key that may not fit/);
    warned.mockRestore();
  });

  it.each<[OtherAnswer, RegExp, "later" | "lasts"]>([
    [
      "Failure",
      /2 of 3 \(\S+\) answers that it failed, as it also does while its chain node is more than two minutes/,
      "later",
    ],
    ["InvalidMVRName", /2 of 3 \(\S+\) does not know the package by the name/, "lasts"],
    ["UnsupportedPackageId", /2 of 3 \(\S+\) does not serve the package/, "lasts"],
    ["DeprecatedSDKVersion", /2 of 3 \(\S+\) does not serve this version of the Seal client/, "lasts"],
    ["no_version", /2 of 3 \(\S+\) answers as no key server does/, "lasts"],
    ["old_version", /2 of 3 \(\S+\) runs a version that is too old/, "lasts"],
    ["not_json", /2 of 3 \(\S+\) answers as no key server does/, "lasts"],
    ["no_keys", /2 of 3 \(\S+\) answers as no key server does/, "lasts"],
    ["redirect", /2 of 3 \(\S+\) sends its callers to another address, which is not asked/, "lasts"],
    ["hang", /2 of 3 \(\S+\) takes too long to answer/, "later"],
  ])("key_servers_unavailable, with the matter in words: %s", async (otherAnswer, words, cure) => {
    for (const index of [1, 2]) bench.servers.faults(index).otherAnswer = otherAnswer;
    // The key server that is well may take its time, on a busy machine.
    const patience = otherAnswer === "hang" ? { timeout: 1_500 } : {};
    const failure = await open(bench.wrapOf(owner, patience)).catch((reason: unknown) => reason as Error);
    expect(failure).toMatchObject({ name: "ChainError", code: "key_servers_unavailable" });
    const { message } = failure as Error;
    expect(message).toMatch(words);
    expect(message).toMatch(
      cure === "later" ? /Try again later\.$/ : /Waiting does not cure that\. .* this program\.$/,
    );
    await expect(open(bench.wrapOf(stranger, patience))).rejects.toMatchObject({ code: "not_a_member" });
    if (otherAnswer !== "hang") return;
    bench.servers.faults(2).otherAnswer = null;
    expect(await open(bench.wrapOf(owner))).toEqual([key]);
  });

  it("clock_skew, and a new session once the clock is right", async () => {
    for (const index of [0, 1, 2]) bench.servers.faults(index).clockSkew = -60_000;
    const wrap = bench.wrapOf(owner);
    await expect(open(wrap)).rejects.toMatchObject({ code: "clock_skew" });
    for (const index of [0, 1, 2]) bench.servers.faults(index).clockSkew = 0;
    expect(await open(wrap)).toEqual([key]);
    expect(bench.signed.length).toBe(2);
  });

  it("no clock_skew by some seconds", async () => {
    for (const index of [0, 1, 2]) bench.servers.faults(index).clockSkew = -3_000;
    expect(await open(bench.wrapOf(owner))).toEqual([key]);
  });

  it("address_alias", async () => {
    for (const index of [0, 1, 2]) bench.servers.faults(index).addressAlias = true;
    await expect(open(bench.wrapOf(owner))).rejects.toMatchObject({ code: "address_alias" });
  });

  it("wrong_chain_key: a signer that signs for another address; nobody is asked", async () => {
    await expect(open(bench.wrapOf(owner, { signAs: stranger }))).rejects.toMatchObject({ code: "wrong_chain_key" });
    expect(bench.asked()).toEqual([0, 0, 0]);
  });

  it("clock_skew, with the direction: a node that refuses, and whose time is far from this machine's", async () => {
    for (const [lag, direction] of [
      [31_000, "ahead of"],
      [-31_000, "behind"],
    ] as const) {
      bench.chain.nodeLag = lag;
      await expect(open(bench.wrapOf(stranger))).rejects.toMatchObject({
        code: "clock_skew",
        message: expect.stringMatching(
          new RegExp(`^This machine's clock is 3\\d s ${direction} the chain node's`),
        ) as string,
      });
    }
    bench.chain.nodeLag = 0;
    await expect(open(bench.wrapOf(stranger))).rejects.toMatchObject({ code: "not_a_member" });
  });

  it("chain_stale: a node that has not seen the key's generation", async () => {
    const later = await bench.wrapOf(owner).wrap(key, placeOf(2n));
    await expect(open(bench.wrapOf(owner), later, 2n)).rejects.toMatchObject({ code: "chain_stale" });
  });

  it("chain_unavailable: nothing is decided without the chain", async () => {
    bench.chain.nodeDown = true;
    await expect(open(bench.wrapOf(owner))).rejects.toMatchObject({ code: "chain_unavailable" });
    await expect(bench.wrapOf(owner).wrap(key, placeOf(1n))).rejects.toMatchObject({ code: "chain_unavailable" });
    expect(bench.asked()).toEqual([0, 0, 0]);
  });

  it("vault_not_found", async () => {
    const vault = new Uint8Array(32).fill(0xcd);
    const place = { ...placeOf(1n), vault };
    const elsewhere = await bench.wrapOf(owner).wrap(key, place);
    await expect(bench.wrapOf(owner).unwrap([{ sealedKey: elsewhere, place }])).rejects.toMatchObject({
      code: "vault_not_found",
    });
  });

  it("network_changed: a key server on the chain that is not the pinned one is asked nothing, and nothing is sealed for it [K5]", async () => {
    const [writing, ...others] = bench.network.keyServerSets;
    const [first, ...rest] = writing!.servers;
    const pinned = { ...first!, publicKey: rest[0]!.publicKey };
    const network = { ...bench.network, keyServerSets: [{ ...writing!, servers: [pinned, ...rest] }, ...others] };
    await expect(open(bench.wrapOf(owner, { network }))).rejects.toMatchObject({ code: "network_changed" });
    await expect(bench.wrapOf(owner, { network }).wrap(key, placeOf(1n))).rejects.toMatchObject({
      code: "network_changed",
    });
    // Key servers of a real network are not asked without TLS, whatever the chain says.
    const testnet = { ...bench.network, network: "testnet" } as const;
    await expect(open(bench.wrapOf(owner, { network: testnet }))).rejects.toMatchObject({ code: "network_changed" });
    expect([bench.asked(), bench.signed]).toEqual([[0, 0, 0], []]);
  });
});

describe("key servers that are behind", () => {
  const behind = (): void => {
    for (const index of [0, 1, 2]) bench.servers.faults(index).stale = true;
    bench.chain.members.add(added.toSuiAddress());
  };

  it("are asked again until they have seen the change", async () => {
    behind();
    const pauses: number[] = [];
    const sleep = async (milliseconds: number): Promise<void> => {
      pauses.push(milliseconds);
      if (pauses.length === 3) for (const index of [0, 2]) bench.servers.faults(index).stale = false;
    };
    expect(await open(bench.wrapOf(added, { sleep }))).toEqual([key]);
    expect(pauses).toEqual([500, 1000, 2000]);
    expect(bench.signed.length).toBe(1);
  });

  it("are given up after two minutes: key_servers_behind [K4]", async () => {
    behind();
    let waited = 0;
    const sleep = async (milliseconds: number): Promise<void> => void (waited += milliseconds);
    const clock = (): number => Date.now() + waited;
    await expect(open(bench.wrapOf(added, { sleep, clock }))).rejects.toMatchObject({ code: "key_servers_behind" });
    expect(waited).toBeGreaterThan(100_000);
    expect(waited).toBeLessThanOrEqual(120_000);
  });

  it("do not open what was sealed after a removal that they have not seen [K4 E7]", async () => {
    for (const index of [0, 1, 2]) bench.servers.faults(index).stale = true;
    bench.chain.members.delete(removed.toSuiAddress());
    bench.chain.generation = 2n;
    const later = await bench.wrapOf(owner).wrap(key, placeOf(2n));
    await expect(open(bench.wrapOf(removed), later, 2n)).rejects.toMatchObject({ code: "not_a_member" });
    // The key of the older generation is still given by such servers, as the threat model says.
    expect(await open(bench.wrapOf(removed))).toEqual([key]);
  });
});

describe("a batch", () => {
  it("asks each key server once per batch of keys, and answers in its order", async () => {
    const [count, batch] = FULL ? [101, 100] : [3, 2];
    const keys = Array.from({ length: count }, (_, index) => new Uint8Array(32).fill(index));
    const wrap = bench.wrapOf(owner, FULL ? {} : { batch });
    const items = [];
    for (const each of keys) items.push({ sealedKey: await wrap.wrap(each, placeOf(1n)), place: placeOf(1n) });
    const opened = await wrap.unwrap([...items, items[0]!]);
    expect(opened).toEqual([...keys, keys[0]]);
    expect(bench.asked()).toEqual([2, 2, 2]);
    expect(await wrap.unwrap([])).toEqual([]);
    expect(bench.asked()).toEqual([2, 2, 2]);
  });

  const sealMany = async (count: number) => {
    const keys = Array.from({ length: count }, (_, index) => new Uint8Array(32).fill(index));
    const items = [];
    for (const each of keys)
      items.push({ sealedKey: await bench.wrapOf(owner).wrap(each, placeOf(1n)), place: placeOf(1n) });
    return { keys, items };
  };

  it("is as large as the key servers' budget allows by the chain's prices", async () => {
    const { keys, items } = await sealMany(5);
    bench.chain.price = 200_000_000n;
    expect(await bench.wrapOf(owner).unwrap(items)).toEqual(keys);
    // 3 of 5 would cost 600,000,000 MIST, 2 cost 400,000,000.
    expect(bench.asked()).toEqual([3, 3, 3]);
  });

  it("is halved when key servers refuse what the chain grants, before they are called behind", async () => {
    const { keys, items } = await sealMany(5);
    for (const index of [0, 1, 2]) bench.servers.faults(index).budget = 2_500_000n;
    const sleep = vi.fn(async () => {});
    expect(await bench.wrapOf(owner, { sleep }).unwrap(items)).toEqual(keys);
    // 5, then 3, 2 and 1 of them, then the other 2.
    expect(bench.asked()).toEqual([5, 5, 5]);
    expect(sleep).not.toHaveBeenCalled();
    bench.chain.members.delete(owner.toSuiAddress());
    await expect(bench.wrapOf(owner).unwrap(items)).rejects.toMatchObject({ code: "not_a_member" });
    expect(bench.asked()).toEqual([6, 6, 6]);
    bench.chain.members.add(owner.toSuiAddress());
  });

  it("of keys for two accepted sets asks each of them", async () => {
    const [independent, committee] = bench.network.keyServerSets;
    const other = { ...bench.network, keyServerSets: [committee!, independent!] };
    const byCommittee = await bench.wrapOf(owner, { network: other }).wrap(key, placeOf(1n));
    const items = [byCommittee, sealed].map((sealedKey) => ({ sealedKey, place: placeOf(1n) }));
    expect(await bench.wrapOf(owner).unwrap(items)).toEqual([key, key]);
    expect([...bench.asked(), bench.servers.requests(3).fetchKey]).toEqual([1, 1, 1, 1]);
    const only = { ...bench.network, keyServerSets: [independent!] };
    await expect(bench.wrapOf(owner, { network: only }).unwrap(items)).rejects.toMatchObject({ code: "damaged" });
  });
});

describe("the session", () => {
  it("is signed once for ten minutes, over the documented text, and again when it has ended", async () => {
    const wrap = bench.wrapOf(owner, { clock: () => bench.chain.access.now() });
    await open(wrap);
    await open(wrap);
    expect(bench.signed).toEqual([
      expect.stringMatching(
        /^Accessing keys of package 0x[0-9a-f]{64} for 10 mins from \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, session key [\w+/]{43}=$/,
      ),
    ]);
    bench.chain.skew = 10 * 60_000;
    expect(await open(wrap)).toEqual([key]);
    expect(new Set(bench.signed).size).toBe(2);
  });

  it("is forgotten when the wrap is closed, which then does nothing more", async () => {
    const wrap = bench.wrapOf(owner);
    wrap.close();
    await expect(open(wrap)).rejects.toThrow("closed");
    await expect(wrap.wrap(key, placeOf(1n))).rejects.toThrow("closed");
  });
});

describe("checkKeyServers", () => {
  it("says of each key server whether it answers, also behind an aggregator", async () => {
    bench.servers.faults(1).down = true;
    const states = await bench.wrapOf(owner).checkKeyServers();
    expect(states.map(({ state, detail }) => [state, detail])).toEqual([
      ["ok", undefined],
      ["failed", "It cannot be reached."],
      ["ok", undefined],
    ]);
    expect(states[1]).toMatchObject({
      code: "key_servers_unavailable",
      name: expect.stringMatching(/^key server 2 of 3/),
    });
    const network = { ...bench.network, keyServerSets: [bench.network.keyServerSets[1]!] };
    expect(await bench.wrapOf(owner, { network }).checkKeyServers()).toMatchObject([{ state: "ok" }]);
  });

  it("says of one that is too old, and of what is none, that it is", async () => {
    for (const [index, otherAnswer] of (["old_version", "no_version", "redirect"] as const).entries())
      bench.servers.faults(index).otherAnswer = otherAnswer;
    const states = await bench.wrapOf(owner).checkKeyServers();
    expect(states.map(({ state, detail }) => [state, detail])).toEqual([
      ["failed", "It runs a version that is too old for this client."],
      ["failed", "What answers is not a key server."],
      ["failed", "It sends its callers to another address, which is not asked."],
    ]);
  });

  it("does not know without a chain, and says when a key server is not the pinned one", async () => {
    bench.chain.nodeDown = true;
    expect((await bench.wrapOf(owner).checkKeyServers()).map(({ state }) => state)).toEqual([
      "unknown",
      "unknown",
      "unknown",
    ]);
    bench.chain.nodeDown = false;
    const [writing] = bench.network.keyServerSets;
    const servers = writing!.servers.map((server) => ({ ...server, publicKey: "A".repeat(128) }));
    const network = { ...bench.network, keyServerSets: [{ ...writing!, servers }] };
    expect(await bench.wrapOf(owner, { network }).checkKeyServers()).toMatchObject(
      [0, 1, 2].map(() => ({ state: "failed", code: "network_changed" })),
    );
  });
});
