import { decodeVaultObject } from "@coffer/contract";
import { expect, it } from "vitest";
import { KNOWN_NETWORKS } from "./network-catalog.ts";
import { openPins } from "./pins.ts";
import {
  changeLast,
  fakeNode,
  id,
  network,
  type NodeFake,
  NOW,
  OPEN,
  OWNER,
  PACKAGE,
  VAULT,
  vaultBcs,
} from "./node.test-kit.ts";
import { NO_END } from "@coffer/crypto";
import { findMember, toVaultView } from "./vault-object.ts";

const refusal = (code: string): unknown => expect.objectContaining({ name: "ChainError", code });

it("reads a vault, and what crypto needs of it", async () => {
  const { read } = fakeNode();
  const vault = await read(VAULT);
  expect(vault).toMatchObject({ objectId: VAULT, generation: 1n, version: 10n, initialSharedVersion: 4n, asOf: NOW });
  expect(findMember(vault, OWNER)?.since).toBe(1n);
  expect(findMember(vault, id("0e"))).toBeNull();
  const view = toVaultView(vault);
  expect(view.vault).toEqual(new Uint8Array(32).fill(2));
  expect(view.owner).toEqual({
    address: new Uint8Array(32).fill(3),
    signingKey: new Uint8Array(32).fill(9),
    since: 1n,
    endsAt: NO_END,
  });
  expect([view.base, view.time]).toEqual([1n, BigInt(NOW)]);
});

it("remembers for 5 seconds and no longer, and not for who wants it fresher", async () => {
  const { state, read } = fakeNode();
  await read(VAULT);
  state.now += 4999;
  state.nodeTime = state.now;
  await read(VAULT);
  expect(state.reads).toBe(1);
  await read(VAULT, { maxAge: 0 });
  await read(VAULT, { maxAge: 1 });
  expect(state.reads).toBe(2);
  state.now += 5000;
  state.nodeTime = state.now;
  await read(VAULT, { maxAge: 60_000 });
  expect(state.reads).toBe(3);
});

it("believes no memory from the future when the clock is set back", async () => {
  const { state, read } = fakeNode();
  await read(VAULT);
  state.now -= 3_600_000;
  state.nodeTime = state.now;
  await read(VAULT);
  expect(state.reads).toBe(2);
});

it("takes the chain's time within 30 seconds of the machine's, both ways: ends of memberships go by it [E16]", async () => {
  const { state, read } = fakeNode();
  for (const [ahead, code] of [
    [30_000, null],
    [30_001, "clock_skew"],
    [-30_000, null],
    [-30_001, "clock_skew"],
  ] as const) {
    state.nodeTime = state.now + ahead;
    const reading = read(VAULT, { maxAge: 0 });
    await (code === null ? reading : expect(reading).rejects.toMatchObject({ code }));
  }
});

it("waits for a node that is short of a claimed time, as long as two nodes may differ and no longer", async () => {
  const { state, read } = fakeNode();
  const pass = (): void => {
    const passed = state.waits.at(-1) ?? 0;
    for (const clock of ["now", "nodeTime", "elapsed"] as const) state[clock] += passed;
  };
  const waitedFor = async (ahead: number, onWait: () => unknown) => {
    Object.assign(state, { waits: [], onWait });
    const time = state.nodeTime + ahead;
    const { asOf } = await read(VAULT, { hintedTime: BigInt(time) });
    return [asOf >= time, state.waits.reduce((sum, wait) => sum + wait, 0)];
  };
  expect(await waitedFor(20_000, pass)).toEqual([true, 20_000]);
  expect(await waitedFor(60_000, pass)).toEqual([true, 60_000]);
  expect(await waitedFor(60_001, pass)).toEqual([false, 0]);
  // It stands still.
  expect(await waitedFor(20_000, () => undefined)).toEqual([false, 45_000]);
});

it("keeps nothing for longer when the clock is set back a little each time", async () => {
  const { state, read } = fakeNode();
  await read(VAULT);
  // Three seconds pass, and the clock is set back by two of them: by its own account one has passed.
  state.now += 1000;
  state.elapsed += 3000;
  await read(VAULT);
  expect(state.reads).toBe(1);
  state.now += 1000;
  state.elapsed += 2000;
  await read(VAULT);
  expect(state.reads).toBe(2);
});

it("refuses another vault than it asked for, and names both: transactions would act on that one", async () => {
  const { state, read } = fakeNode();
  state.answersWith = VAULT;
  const other = read(id("05"));
  await expect(other).rejects.toEqual(refusal("vault_changed"));
  await expect(other).rejects.toThrow(new RegExp(`${id("05")}.*${VAULT}`));
  expect((await read(VAULT)).objectId).toBe(VAULT);
});

it("shares one read among callers that ask at once", async () => {
  const { state, read } = fakeNode();
  await Promise.all([read(VAULT), read(VAULT), read(VAULT)]);
  expect(state.reads).toBe(1);
  await Promise.all([1, 2, 3].map(() => read(VAULT, { maxAge: 0 })));
  expect(state.reads).toBeLessThanOrEqual(3);
});

it("reads again when somebody claims a higher generation, and believes the chain", async () => {
  const { state, read } = fakeNode();
  await read(VAULT);
  expect((await read(VAULT, { hintedGeneration: 9n })).generation).toBe(1n);
  state.generation = 2n;
  state.version = 11n;
  expect((await read(VAULT, { hintedGeneration: 2n })).generation).toBe(2n);
  expect(state.reads).toBe(3);
});

it("refuses a node that lags more than 30 seconds, and says by how much [N2]", async () => {
  const { state, read } = fakeNode();
  state.nodeTime = NOW - 30_000;
  await read(VAULT);
  state.nodeTime = NOW - 30_001;
  const stale = read(VAULT, { maxAge: 0 });
  await expect(stale).rejects.toEqual(refusal("clock_skew"));
  await expect(stale).rejects.toThrow(
    /^This machine's clock is 31 s ahead of the chain node's\. Set it\..* node is late/,
  );
  state.nodeTime = NOW + 90_000;
  await expect(read(VAULT, { maxAge: 0 })).rejects.toThrow(
    /^This machine's clock is 90 s behind the chain node's\. Set it\./,
  );
});

it("refuses an older state than it has shown, after asking again [N2]", async () => {
  const { state, read } = fakeNode();
  state.generation = 5n;
  await read(VAULT);
  state.elapsed += 10_000;
  await read(VAULT);
  state.generation = 4n;
  await expect(read(VAULT, { maxAge: 0 })).rejects.toEqual(refusal("rolled_back"));
  expect(state.waits).toEqual([300, 700, 1500]);
  state.generation = 5n;
  state.version = 9n;
  await expect(read(VAULT, { maxAge: 0 })).rejects.toEqual(refusal("rolled_back"));
  state.version = 10n;
  expect((await read(VAULT, { maxAge: 0 })).generation).toBe(5n);
});

it.each<[string, Partial<NodeFake>]>([
  ["generation", { generation: 2n ** 64n - 1n }],
  ["floor", { floor: 2n ** 64n - 1n }],
  ["version", { version: 2n ** 64n - 1n }],
])("is not shut by a %s that was made up: it asks again, and takes what stays", async (_what, lie) => {
  const { state, read, newestShown } = fakeNode();
  const { generation, floor, version } = state;
  await read(VAULT);
  Object.assign(state, lie);
  const shown = await read(VAULT, { maxAge: 0 });
  Object.assign(state, { generation, floor, version });
  expect(await read(VAULT, { maxAge: 0 })).toMatchObject({ generation, floor, version });
  expect(state.waits).toEqual([300, 700, 1500]);
  // Who has seen that it does not stay waits for it no longer; who writes learns of it.
  expect(await read(VAULT, { maxAge: 0 })).toMatchObject({ generation, floor, version });
  expect([state.waits.length, newestShown(VAULT)]).toEqual([3, shown]);
});

it("takes what was shown twice, ten seconds apart, for true, until it is told to forget it", async () => {
  const { state, read, forget } = fakeNode();
  state.generation = 9n;
  await read(VAULT, { maxAge: 0 });
  state.elapsed += 9_999;
  await read(VAULT, { maxAge: 0 });
  state.generation = 1n;
  expect((await read(VAULT, { maxAge: 0 })).generation).toBe(1n);
  state.generation = 9n;
  state.elapsed += 1;
  await read(VAULT, { maxAge: 0 });
  state.generation = 1n;
  await expect(read(VAULT, { maxAge: 0 })).rejects.toEqual(refusal("rolled_back"));
  forget(VAULT);
  expect((await read(VAULT)).generation).toBe(1n);
});

it("refuses an older state than the caller has seen, also from memory", async () => {
  const { state, read } = fakeNode();
  await read(VAULT);
  await expect(read(VAULT, { minGeneration: 2n })).rejects.toThrow(/in generation 1, but 2 was seen before/);
  await expect(read(VAULT, { minVersion: 11n })).rejects.toEqual(refusal("rolled_back"));
  await expect(read(VAULT, { minFloor: 7n })).rejects.toThrow(/a floor above 0|a floor above 1/);
  state.onWait = () => (state.version = 11n);
  expect((await read(VAULT, { minVersion: 11n })).version).toBe(11n);
});

it.each<[string, string, (state: NodeFake) => unknown]>([
  ["vault_not_found", "no object", (state) => (state.exists = false)],
  ["vault_changed", "the type of another package", (state) => (state.type = `${OWNER}::vault::Vault`)],
  ["vault_changed", "another type of ours", (state) => (state.type = `${PACKAGE}::vault::Member`)],
  ["vault_changed", "an object that is not shared", (state) => (state.shared = false)],
  ["vault_changed", "bytes that are no vault", (state) => (state.contents = new Uint8Array(40))],
  ["vault_changed", "the bytes of another vault", (state) => (state.contents = otherVault())],
  ["network_changed", "another chain", (state) => (state.chainId = KNOWN_NETWORKS.mainnet.chainId)],
  ["network_changed", "another code", (state) => (state.code = changeLast(state.code))],
  ["network_changed", "a second version of the package", (state) => (state.packageVersion = "2")],
  ["chain_unavailable", "a node that is down", (state) => (state.down = true)],
])("answers %s for %s", async (code, _, change) => {
  const { state, read } = fakeNode();
  change(state);
  await expect(read(VAULT)).rejects.toEqual(refusal(code));
});

it("checks the chain's id with every read, the package once, and again after a failure [N2]", async () => {
  const { state, read } = fakeNode();
  state.down = true;
  await expect(read(VAULT)).rejects.toEqual(refusal("chain_unavailable"));
  state.down = false;
  await read(VAULT);
  state.code = changeLast(state.code);
  await read(VAULT, { maxAge: 0 });
  state.chainId = KNOWN_NETWORKS.mainnet.chainId;
  const other = read(VAULT, { maxAge: 0 });
  await expect(other).rejects.toEqual(refusal("network_changed"));
  await expect(other).rejects.toThrow(new RegExp(`${network.chainId}, but there is ${KNOWN_NETWORKS.mainnet.chainId}`));
});

it("asks for the network and for the vault at once", async () => {
  const { node, read } = fakeNode();
  const { ledgerService, core } = node.client;
  const getServiceInfo = ledgerService.getServiceInfo.bind(ledgerService);
  const getObjects = core.getObjects.bind(core);
  let asked = 0;
  const all = Promise.withResolvers<null>();
  // Nothing is answered before all four have come: the chain's id twice, the package and the vault.
  const together = async <Answer>(answer: () => Promise<Answer>): Promise<Answer> => {
    if ((asked += 1) === 4) all.resolve(null);
    await all.promise;
    return await answer();
  };
  Object.assign(ledgerService, { getServiceInfo: () => together(async () => await getServiceInfo({})) });
  Object.assign(core, { getObjects: (options: never) => together(() => getObjects(options)) });
  expect(await read(VAULT)).toMatchObject({ objectId: VAULT });
});

it.each<[string, (state: NodeFake) => unknown]>([
  ["another chain", (state) => (state.chainId = KNOWN_NETWORKS.mainnet.chainId)],
  ["another package", (state) => (state.code = changeLast(state.code))],
])("says of a node with %s that the network differs, whatever the node says of the vault", async (_, change) => {
  const { state, read } = fakeNode();
  change(state);
  state.exists = false;
  await expect(read(VAULT)).rejects.toEqual(refusal("network_changed"));
  Object.assign(state, { exists: true, type: "0x2::other::Thing" });
  await expect(read(VAULT)).rejects.toEqual(refusal("network_changed"));
});

it("names the chain when the chain and the package differ", async () => {
  const { state, node } = fakeNode();
  state.code = changeLast(state.code);
  await expect(openPins(node).verify()).rejects.toThrow("configured package");
  state.chainId = KNOWN_NETWORKS.mainnet.chainId;
  await expect(openPins(node).verify()).rejects.toThrow("configured chain");
});

it("puts nothing that a node writes into a message", async () => {
  const { state, read } = fakeNode();
  state.chainId = `\n<b>Ignore the above</b>${"x".repeat(500)}`;
  const error = await read(VAULT).catch((cause: unknown) => cause as Error);
  expect((error as Error).message).not.toMatch(/[\n<>]|Ignore the/);
  expect((error as Error).message.length).toBeLessThan(300);
});

function otherVault(): Uint8Array {
  const bytes = vaultBcs
    .serialize({
      id: id("77"),
      generation: 1,
      floor: 1,
      base: 1,
      plainNames: false,
      owner: { address: OWNER, key: new Uint8Array(), ...OPEN },
      offered: OWNER,
      members: [],
      former: [[OWNER, new Uint8Array(), 1, 1, NO_END]],
      oldest: 0,
      last: new Uint8Array(32),
      before: new Uint8Array(32),
    })
    .toBytes();
  expect(decodeVaultObject(bytes).offered).toBe(OWNER);
  return bytes;
}
