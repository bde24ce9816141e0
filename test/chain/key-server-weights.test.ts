/** Accepted sets whose key servers have more than one share: two of the first and one of the second, and two of three open. */
import type { NetworkConfiguration, SealKeyWrap } from "@coffer/chain";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { keypairOf, openKeyWrapBench, placeOf, type KeyWrapBench } from "../kit/key-wrap-bench.ts";

const [owner, stranger, added] = [keypairOf(1), keypairOf(2), keypairOf(3)];
const key = new Uint8Array(32).fill(7);
const [HEAVY, LIGHT] = [0, 1];

let bench: KeyWrapBench;
let network: NetworkConfiguration;
let sealed: Uint8Array;

beforeAll(async () => {
  bench = await openKeyWrapBench();
  network = weighing(2, 1);
  sealed = await bench.wrapOf(owner, { network }).wrap(key, placeOf(1n));
});
beforeEach(() => {
  bench.reset();
  bench.chain.members.clear();
  bench.chain.members.add(owner.toSuiAddress());
});

/** Nothing but a set of the first two servers, of such weights. */
function weighing(...weights: readonly number[]): NetworkConfiguration {
  const [first] = bench.network.keyServerSets;
  const servers = weights.map((weight, at) => ({ ...first!.servers[at]!, weight }));
  return { ...bench.network, keyServerSets: [{ threshold: 2, servers }] };
}

async function open(wrap: SealKeyWrap): Promise<Uint8Array[]> {
  return wrap.unwrap([{ sealedKey: sealed, place: placeOf(1n) }]);
}

describe("two shares of one server and one of another, of which two open", () => {
  it("are opened by both, each asked once, and by the heavy one alone", async () => {
    expect(await open(bench.wrapOf(owner, { network }))).toEqual([key]);
    expect(bench.asked()[HEAVY]).toBe(1);
    bench.servers.faults(LIGHT).down = true;
    expect(await open(bench.wrapOf(owner, { network }))).toEqual([key]);
  });

  it("are not opened by the light one, and the heavy one is named [K8]", async () => {
    bench.servers.faults(HEAVY).down = true;
    const failure = open(bench.wrapOf(owner, { network }));
    await expect(failure).rejects.toMatchObject({ code: "key_servers_unavailable" });
    await expect(failure).rejects.toThrow(
      /2 of 3 shares are needed\. key server 1 of 2 \(0x\w{4}…\w{4}\) cannot be reached(?!.*2 of 2 .* cannot).*Try again later\.$/,
    );
  });

  it.each([[[]], [[HEAVY]], [[LIGHT]], [[HEAVY, LIGHT]]])(
    "are closed to a stranger as one, with %j away",
    async (down) => {
      for (const index of down) bench.servers.faults(index).down = true;
      await expect(open(bench.wrapOf(stranger, { network }))).rejects.toMatchObject({ code: "not_a_member" });
    },
  );

  it("are waited for while the heavy one is behind, and not while the light one is", async () => {
    const pauses: number[] = [];
    const sleep = async (milliseconds: number): Promise<void> => {
      pauses.push(milliseconds);
      bench.servers.faults(HEAVY).stale = false;
    };
    for (const index of [HEAVY, LIGHT]) bench.servers.faults(index).stale = true;
    bench.chain.members.add(added.toSuiAddress());
    expect(await open(bench.wrapOf(added, { network, sleep }))).toEqual([key]);
    expect(pauses).toEqual([500]);
  });

  it("say what lasts only when waiting cannot bring enough shares", async () => {
    bench.servers.faults(HEAVY).otherAnswer = "old_version";
    await expect(open(bench.wrapOf(owner, { network }))).rejects.toThrow(/Waiting does not cure that/);
    bench.servers.faults(HEAVY).otherAnswer = null;
    bench.servers.faults(HEAVY).down = true;
    bench.servers.faults(LIGHT).otherAnswer = "old_version";
    await expect(open(bench.wrapOf(owner, { network }))).rejects.toThrow(/Try again later/);
  });
});

describe("a key that was sealed by other weights", () => {
  it.each([[[1, 2]], [[1, 1]], [[3, 1]], [[2, 1, 1]]])(
    "is refused where %j are accepted, and nobody is asked [K8]",
    async (weights) => {
      const failure = open(bench.wrapOf(owner, { network: weighing(...weights) }));
      await expect(failure).rejects.toMatchObject({
        code: "damaged",
        message: expect.stringContaining("not accepted"),
      });
      expect(bench.asked()).toEqual([0, 0, 0]);
    },
  );
});
