/** A membership that ends by itself makes a new place: what comes after it is under another key, with no act of anybody. */
import { END_STEP, vaultKeysGroup } from "@coffer/contract";
import { parseEntryStatement, parseVersionStatement } from "@coffer/crypto";
import type { File } from "@coffer/sdk";
import { exportVault, openExport } from "@coffer/sdk/node";
import { beforeAll, expect, test } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { onWire } from "../kit/lying-service.ts";
import { read, sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

let skew = 0;
const clock = (): number => Date.now() + skew;
const stack = sharedStack({ clock, ownNode: true });

/** Invited before the clock moves: to redeem an invite, an agent signs this machine's time. */
let reader: SharedPerson;
let keptOn: SharedPerson;
beforeAll(async () => {
  [reader, keptOn] = [await stack.invite("reader"), await stack.invite("kept on")];
});

const placesOf = (file: File) => {
  const { shared } = onWire(file);
  return [
    parseVersionStatement(Buffer.from(shared?.version ?? "", "base64")),
    parseEntryStatement(Buffer.from(shared?.entry ?? "", "base64")),
  ].map(({ generation, after }) => [generation, after]);
};

test("after the end of a member, all is written under a key of that end; the rest of the members read both [M14]", async () => {
  const { client: owner } = stack.owner;
  const staying = await stack.invite("staying");
  const ending = await stack.invite("ending");
  const { id: vaultId } = await owner.vaults.create({ name: "Places", type: "shared" });
  const end = Math.ceil((clock() + 10_000) / END_STEP) * END_STEP;
  await owner.vaults.members.add(vaultId, staying.signer.chainAddress);
  await owner.vaults.members.add(vaultId, ending.signer.chainAddress, { until: new Date(end) });
  const { file: before } = await ending.client.files.upload({ vaultId, name: "before.txt", body: "before" });
  expect(placesOf(await owner.files.get(before.id))).toEqual([
    [1n, 0n],
    [1n, 0n],
  ]);

  skew += Math.max(0, end - clock());
  const { file: after } = await owner.files.upload({ vaultId, name: "after.txt", body: "after" });
  expect(placesOf(await owner.files.get(after.id))).toEqual([
    [1n, BigInt(end)],
    [1n, BigInt(end)],
  ]);
  for (const reader of [staying.client, staying.another(), stack.owner.another()])
    expect([await read(reader, before.id), await read(reader, after.id)]).toEqual(["before", "after"]);
  // What it wrote before its end stays true, and what follows it is of the place that the vault is at now.
  await staying.client.files.replace(before.id, { body: "changed", vaultId });
  expect(placesOf(await owner.files.get(before.id))).toEqual([
    [1n, BigInt(end)],
    [1n, BigInt(end)],
  ]);
  const { keys } = await owner.call(vaultKeysGroup.list, { params: { vaultId } });
  expect(keys.map((key) => [key.generation, key.after, key.current]).sort()).toEqual(
    [
      [1, 0, true],
      [1, end, true],
    ].sort(),
  );
  await expect(ending.client.files.upload({ vaultId, name: "late.txt", body: "late" })).rejects.toMatchObject({
    code: "membership_ended",
  });
});

/** Pauses of a client's are over at once, and take their time of everybody's clock. */
const passing = {
  now: () => performance.now() + skew,
  after: (milliseconds: number, action: () => void) => {
    if (milliseconds > 5_000) return () => undefined;
    skew += milliseconds;
    const timer = setTimeout(action, 1);
    return () => clearTimeout(timer);
  },
  random: () => 0.5,
};

test("a reader whose node has not reached an end yet waits for it as long as its caller does, and calls nothing damaged that is only early", async () => {
  const { client: owner } = stack.owner;
  const { id: vaultId } = await owner.vaults.create({ name: "Early", type: "shared" });
  const end = Math.ceil((clock() + 90_000) / END_STEP) * END_STEP;
  await owner.vaults.members.add(vaultId, reader.signer.chainAddress);
  const ending = `0x${"e".repeat(64)}`;
  await owner.vaults.members.add(vaultId, ending, { until: new Date(end), signingKey: new Uint8Array(32).fill(7) });
  await owner.files.upload({ vaultId, name: "before.txt", body: "before" });
  skew += Math.max(0, end - clock());
  const { file } = await owner.files.upload({ vaultId, name: "after.txt", body: "after" });
  expect(placesOf(await owner.files.get(file.id))[0]).toEqual([1n, BigInt(end)]);

  const { url: grpcUrl } = await stack.localnet.openNode({ lag: 25_000 });
  const late = (paused = passing) =>
    reader.another({ clock: paused, shared: { network: { ...stack.network, grpcUrl } } });
  const before = skew;
  const { files } = await late().files.list({ vaultId });
  expect(new Map(files.map(({ name, unreadable }) => [name, unreadable]))).toEqual(
    new Map(["before.txt", "after.txt"].map((name) => [name, undefined])),
  );
  expect(skew - before).toBeGreaterThan(20_000);
  expect(skew - before).toBeLessThan(31_000);
  skew = before;
  expect(await read(late(), file.id)).toBe("after");

  skew = before;
  const caller = new AbortController();
  // Between two reads of the node the caller gives up; the pause itself never ends.
  const giveUp = (milliseconds: number, action: () => void) => {
    if (milliseconds !== 5_000) return passing.after(milliseconds, action);
    caller.abort("enough");
    return () => undefined;
  };
  const client = late({ ...passing, after: giveUp });
  const replaced = client.files.replace(file.id, { vaultId, body: "later" }, { signal: caller.signal });
  await expect(replaced).rejects.toMatchObject({ code: "aborted", reason: "enough" });
});

test("an export is of the latest place that anything in it was written at, also when an end was put off", async () => {
  const { client: owner, signer } = stack.owner;
  const { id: vaultId } = await owner.vaults.create({ name: "Put off", type: "shared" });
  const end = Math.ceil((clock() + 30_000) / END_STEP) * END_STEP;
  await owner.vaults.members.add(vaultId, keptOn.signer.chainAddress, { until: new Date(end) });
  skew += end - clock() - 10_000;
  // Two nodes whose clocks are ahead, the service's and the writer's.
  const ahead = await stack.localnet.openNode({ lag: -20_000 });
  if (stack.serviceNode !== null) stack.serviceNode.lag = -20_000;
  const writer = stack.owner.another({ shared: { network: { ...stack.network, grpcUrl: ahead.url } } });
  const { file } = await writer.files.upload({ vaultId, name: "early.txt", body: "early" });
  expect(placesOf(await writer.files.get(file.id))[0]).toEqual([1n, BigInt(end)]);
  if (stack.serviceNode !== null) stack.serviceNode.lag = 0;
  await owner.vaults.members.setUntil(vaultId, keptOn.signer.chainAddress, new Date(end + 8 * END_STEP));

  const directory = makeDirectory();
  const standing = {
    ...passing,
    after: (milliseconds: number, action: () => void) => passing.after(milliseconds > 5_000 ? milliseconds : 0, action),
  };
  await expect(exportVault(stack.owner.another({ clock: standing }), vaultId, directory)).rejects.toMatchObject({
    code: "chain_stale",
  });
  await exportVault(stack.owner.another({ clock: passing }), vaultId, directory);
  const opened = await openExport(directory, { signer, network: stack.network, clock });
  expect([opened.exportedBy, await opened.verify()]).toEqual([signer.chainAddress, []]);
});
