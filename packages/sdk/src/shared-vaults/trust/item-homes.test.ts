import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { openHomes } from "./item-homes.ts";
import { memoryPins, type VaultPin } from "./pins.ts";
import { rememberMemories } from "./seen-memory.ts";

const ORIGIN = "https://service.example";
const pinOf = (more: Partial<VaultPin>): VaultPin => ({
  origin: ORIGIN,
  vaultId: randomUUID(),
  shared: false,
  chainObjectId: null,
  ownerAddress: null,
  chainId: null,
  ...more,
});

it("believes what a member signed more than what a caller took for public, in whatever order it was noted", async () => {
  const signed = { number: 1n, generation: 1n, after: 0n, hash: new Uint8Array(32) };
  for (const publicFirst of [true, false]) {
    const [pins, memoryOf] = [memoryPins(), rememberMemories()];
    const clear = pinOf({});
    const shared = pinOf({ shared: true, chainObjectId: `0x${"5a".repeat(32)}` });
    for (const pin of publicFirst ? [clear, shared] : [shared, clear]) await pins.save(null, pin);
    const homes = openHomes(ORIGIN, pins, memoryOf);
    const [both, publicAlone] = [randomUUID(), randomUUID()];
    await homes.recordPublic(clear, both);
    await homes.recordPublic(clear, publicAlone);
    (await memoryOf(shared.chainObjectId ?? "")).record("version", both, signed);
    const find = await homes.read();
    expect([find(both), find(publicAlone), find(randomUUID())]).toEqual([shared, clear, null]);
  }
});
