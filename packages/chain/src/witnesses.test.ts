import { describe, expect, it } from "vitest";
import { KNOWN_NETWORKS } from "./network-catalog.ts";
import { openPins } from "./pins.ts";
import { changeLast, fakeNode, id, type NodeFake, NOW, OPEN, OWNER, VAULT, vaultBcs } from "./node.test-kit.ts";
import { openVaultReader } from "./vault-reader.ts";

const refusal = (code: string): unknown => expect.objectContaining({ name: "ChainError", code });

/** Of two operators; every pause is over at once, and lasts as long as it should by the clocks of all. */
function witnessed() {
  const [first, witness] = [fakeNode(), fakeNode("witness.example:9000")];
  const state = { onPause: () => undefined as unknown };
  first.state.onWait = () => {
    const passed = first.state.waits.at(-1) ?? 0;
    for (const each of [first, witness]) {
      each.state.now += passed;
      each.state.nodeTime += passed;
    }
    state.onPause();
  };
  const sources = [{ node: witness.node, pins: openPins(witness.node) }];
  const { read } = openVaultReader(first.node, openPins(first.node), () => first.state.elapsed, sources);
  return { first: first.state, witness: witness.state, state, read };
}

describe("a witness", () => {
  it("that shows the same is asked once for each read, and not for what is remembered", async () => {
    const { first, witness, read } = witnessed();
    await read(VAULT);
    expect(await read(VAULT)).toMatchObject({ version: 10n });
    expect([first.reads, witness.reads]).toEqual([1, 1]);
    await Promise.all([read(VAULT, { maxAge: 0 }), read(VAULT, { maxAge: 0 })]);
    expect(first.waits).toEqual([]);
  });

  it.each<[string, (state: NodeFake) => unknown]>([
    ["a member more", (state) => (state.members = [id("66")])],
    ["another generation", (state) => (state.generation = 7n)],
    ["other contents", (state) => (state.contents = withKey(8))],
  ])("contradicts a node that shows %s in the same version, and both are named [N13]", async (_, lie) => {
    const { first, witness, read } = witnessed();
    lie(first);
    const reading = read(VAULT);
    await expect(reading).rejects.toEqual(refusal("chain_disagrees"));
    await expect(reading).rejects.toThrow(
      /witness\.example:9000 and node\.example|node\.example and witness\.example:9000/,
    );
    expect(first.waits).toEqual([]);
    lie(witness);
    await read(VAULT);
  });

  it("contradicts a later version that it would have seen: two seconds after it was shown, and no sooner", async () => {
    const { first, read } = witnessed();
    first.version = 11n;
    first.members = [id("66")];
    await expect(read(VAULT)).rejects.toEqual(refusal("chain_disagrees"));
    expect(first.waits).toEqual([300, 700, 1500]);
  });

  it("contradicts a vault that it does not know", async () => {
    const { witness, read } = witnessed();
    witness.exists = false;
    await expect(read(VAULT)).rejects.toEqual(refusal("chain_disagrees"));
  });

  it("agrees that there is no vault", async () => {
    const { first, witness, read } = witnessed();
    first.exists = witness.exists = false;
    await expect(read(VAULT)).rejects.toEqual(refusal("vault_not_found"));
    expect(first.waits).toEqual([]);
  });

  it("that lags is asked again, alone, until it shows the change", async () => {
    const { first, witness, state, read } = witnessed();
    first.version = 11n;
    witness.nodeTime -= 20_000;
    state.onPause = () => witness.nodeTime >= NOW && (witness.version = 11n);
    expect(await read(VAULT)).toMatchObject({ version: 11n });
    expect(first.reads).toBe(1);
    expect(witness.reads).toBe(first.waits.length + 1);
  });

  it("that is ahead has the first node asked again, alone", async () => {
    const { first, witness, state, read } = witnessed();
    witness.version = 11n;
    state.onPause = () => (first.version = 11n);
    expect(await read(VAULT)).toMatchObject({ version: 11n });
    expect([first.reads, witness.reads]).toEqual([2, 1]);
  });

  it("that never comes to an end with the changes is stale in the end, whoever is behind", async () => {
    const { first, witness, state, read } = witnessed();
    first.version = 11n;
    state.onPause = () => {
      const ahead = first.version > witness.version ? witness : first;
      ahead.version += 2n;
    };
    await expect(read(VAULT)).rejects.toEqual(refusal("chain_stale"));
    expect(first.waits).toHaveLength(10);
  });

  it("that lags more than 30 seconds is refused by name, as the first one is", async () => {
    const { first, witness, read } = witnessed();
    for (const [late, host] of [
      [witness, "witness\\.example:9000"],
      [first, "node\\.example"],
    ] as const)
      for (const off of [-30_001, 30_001]) {
        late.nodeTime = NOW + off;
        const reading = read(VAULT);
        await expect(reading).rejects.toEqual(refusal("chain_stale"));
        await expect(reading).rejects.toThrow(
          new RegExp(`^The time of the chain node ${host} is wrong: another node's`),
        );
        late.nodeTime = NOW;
      }
  });

  it("shows with the first one that this machine's clock is wrong", async () => {
    const { first, witness, read } = witnessed();
    first.nodeTime = witness.nodeTime = NOW - 60_000;
    await expect(read(VAULT)).rejects.toEqual(refusal("clock_skew"));
  });

  it.each<[string, string, (state: NodeFake) => unknown]>([
    ["chain_unavailable", "that is down", (state) => (state.down = true)],
    ["network_changed", "of another chain", (state) => (state.chainId = KNOWN_NETWORKS.mainnet.chainId)],
    ["network_changed", "with another package", (state) => (state.code = changeLast(state.code))],
    ["vault_changed", "that shows no vault", (state) => (state.contents = new Uint8Array(40))],
  ])("answers %s for one %s, and names it: nothing is believed meanwhile [N14]", async (code, _, change) => {
    const { witness, read } = witnessed();
    change(witness);
    const reading = read(VAULT);
    await expect(reading).rejects.toEqual(refusal(code));
    await expect(reading).rejects.toThrow(/^Witness witness\.example:9000: /);
  });
});

function withKey(byte: number): Uint8Array {
  return vaultBcs
    .serialize({
      id: VAULT,
      generation: 1,
      floor: 1,
      base: 1,
      plainNames: false,
      owner: { address: OWNER, key: new Uint8Array(32).fill(byte), ...OPEN },
      offered: null,
      members: [],
      former: [],
      oldest: 0,
      last: new Uint8Array(32),
      before: new Uint8Array(32),
    })
    .toBytes();
}
