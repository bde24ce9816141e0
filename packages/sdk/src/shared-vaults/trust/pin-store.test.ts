import { execFile } from "node:child_process";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { fileStore } from "../../node/store/file-store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import type { ProfileStore } from "../../store/profile-store.ts";
import { raiseTo } from "./pin-facts.ts";
import { pinStore } from "./pin-store.ts";
import { memoryPins, type Highest, type VaultPin } from "./pins.ts";

const pin = (vaultId: string, more: Partial<VaultPin> = {}): VaultPin => ({
  origin: "https://coffer.example",
  vaultId,
  shared: true,
  chainObjectId: `0x${"1".repeat(64)}`,
  ownerAddress: `0x${"2".repeat(64)}`,
  chainId: "c",
  ...more,
});

/** A process that meets twenty vaults, each under its own name, and sees a generation between; prints which of them it has pinned. */
const WRITER = `
  import { pinStore } from ${JSON.stringify(new URL("pin-store.ts", import.meta.url).href)};
  import { fileStore } from ${JSON.stringify(new URL("../../node/store/file-store.ts", import.meta.url).href)};
  const [directory, name] = process.argv.slice(1);
  const pins = pinStore(fileStore(directory));
  const told = {};
  for (let at = 0; at < 20; at += 1) {
    const pin = { origin: "https://coffer.example", vaultId: "v" + at, shared: true, chainObjectId: "0x1", ownerAddress: name, chainId: "c" };
    told[pin.vaultId] = await pins.save(null, pin);
    await pins.changeHighest("0x1", (kept) => ({ generation: kept.generation + 1n, floor: kept.floor }));
    if (at % 2 === 0) await pins.changeHighest("0x1", (kept) => ({ ...kept, floor: kept.floor + 1n }));
  }
  console.log(JSON.stringify(told));
`;

async function inProcess(program: string, ...args: string[]): Promise<string> {
  const options = ["--conditions=coffer-source", "--input-type=module", "--eval", program];
  return (await promisify(execFile)(process.execPath, [...options, "--", ...args])).stdout;
}

describe("pins in a profile store", () => {
  it("outlive the process, for the owner alone, one for each vault and service", async () => {
    const directory = join(makeDirectory(), "deep");
    const pins = pinStore(fileStore(directory));
    expect(await pins.load("https://coffer.example", "a")).toBeNull();
    expect(await pins.save(null, pin("a"))).toBe(true);
    expect(await pins.save(null, pin("b", { shared: false, chainObjectId: null }))).toBe(true);
    expect(await pins.save(pin("a"), pin("a", { ownerAddress: null }))).toBe(true);
    expect(await pins.save(null, pin("a", { origin: "https://other.example", shared: false }))).toBe(true);
    const again = pinStore(fileStore(directory));
    expect(await again.load("https://coffer.example", "a")).toEqual(pin("a", { ownerAddress: null }));
    expect(await again.load("https://other.example", "a")).toMatchObject({ shared: false });
    expect(await again.load("https://coffer.example", "c")).toBeNull();
    expect((await again.list("https://coffer.example")).map(({ vaultId }) => vaultId).sort()).toEqual(["a", "b"]);
    expect((await stat(join(directory, "pins.table"))).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["in files", () => pinStore(fileStore(makeDirectory()))],
    ["in a store in memory", () => pinStore(memoryStore())],
    ["in memory", () => memoryPins()],
  ])("change only from what was expected: %s", async (_where, open) => {
    const pins = open();
    expect(await pins.save(pin("a"), pin("a"))).toBe(false);
    expect(await pins.load("https://coffer.example", "a")).toBeNull();
    expect(await pins.save(null, pin("a"))).toBe(true);
    for (const other of [null, pin("b"), pin("a", { shared: false }), pin("a", { ownerAddress: null })])
      expect(await pins.save(other, pin("a", { chainObjectId: `0x${"9".repeat(64)}` }))).toBe(false);
    expect(await pins.load("https://coffer.example", "a")).toEqual(pin("a"));
  });

  it("are set by one of several processes that meet a vault at once [S23]", async () => {
    const directory = makeDirectory();
    const rivals = ["one", "two", "three"].map((name) => inProcess(WRITER, directory, name));
    const told = (await Promise.all(rivals)).map((text) => JSON.parse(text) as Record<string, boolean>);
    const winners = Object.keys(told[0] ?? {}).map((vaultId) => told.findIndex((outcome) => outcome[vaultId]));
    for (const [at, winner] of winners.entries()) {
      expect(told.filter((outcome) => outcome[`v${String(at)}`])).toHaveLength(1);
      const kept = await pinStore(fileStore(directory)).load("https://coffer.example", `v${String(at)}`);
      expect(kept?.ownerAddress).toBe(["one", "two", "three"][winner]);
    }
    expect(await pinStore(fileStore(directory)).loadHighest("0x1")).toEqual({ generation: 60n, floor: 30n });
  }, 60_000);

  it("remember the highest generation and floor, also when another process saw a later one [N2]", async () => {
    const directory = makeDirectory();
    const [one, two] = [pinStore(fileStore(directory)), pinStore(fileStore(directory))];
    expect(await one.loadHighest("0x1")).toEqual({ generation: 0n, floor: 0n });
    await one.changeHighest("0x1", raiseTo({ generation: 7n, floor: 2n }));
    expect(await two.changeHighest("0x1", raiseTo({ generation: 5n, floor: 3n }))).toEqual({
      generation: 7n,
      floor: 3n,
    });
    await two.changeHighest("0x2", raiseTo({ generation: 2n ** 63n, floor: 0n }));
    expect(await one.loadHighest("0x1")).toEqual({ generation: 7n, floor: 3n });
    expect((await one.loadHighest("0x2")).generation).toBe(2n ** 63n);
    await two.save(null, pin("a"));
    expect((await one.loadHighest("0x1")).floor).toBe(3n);
  });

  it("remember all that is known of a chain object, and nothing as nothing", async () => {
    const directory = makeDirectory();
    const highest: Highest = {
      generation: 7n,
      after: 2n ** 60n,
      floor: 3n,
      base: 2n,
      plainNames: false,
      candidates: [
        { generation: 9n, after: 4n, floor: 3n, base: 2n, since: 5 },
        { generation: 8n, floor: 3n, since: 6 },
      ],
      given: [{ of: "member", chainAddress: "0x2", last: "ab", since: 7, isAnswered: true }],
      makers: [{ generation: 7n, address: "cd", since: 8 }],
      made: ["ef"],
    };
    await pinStore(fileStore(directory)).changeHighest("0x1", () => highest);
    expect(await pinStore(fileStore(directory)).loadHighest("0x1")).toEqual(highest);
    const none = { generation: 1n, after: 0n, floor: 0n, base: 0n, candidates: [], makers: [], made: [] };
    await pinStore(fileStore(directory)).changeHighest("0x1", () => none);
    expect(await pinStore(fileStore(directory)).loadHighest("0x1")).toEqual({ generation: 1n, floor: 0n });
  });

  it("take what they know of objects that hold more", async () => {
    const directory = makeDirectory();
    const place = { generation: 3n, after: 4n, floor: 1n, time: 9n, vault: new Uint8Array(32) };
    const maker = { generation: 2n, address: "cd", since: 8, place };
    await pinStore(fileStore(directory)).changeHighest("0x1", () => ({ ...place, makers: [maker] }));
    expect(await pinStore(fileStore(directory)).loadHighest("0x1")).toEqual({
      generation: 3n,
      after: 4n,
      floor: 1n,
      makers: [{ generation: 2n, address: "cd", since: 8 }],
    });
  });

  it("that were damaged are an error, never an empty list [D7]", async () => {
    const directory = makeDirectory();
    const path = join(directory, "pins.table");
    for (const text of ["", "{", '{"version":1,"pins":[],"generations":{}}']) {
      await writeFile(path, text);
      const pins = pinStore(fileStore(directory));
      await expect(pins.load("https://coffer.example", "a")).rejects.toMatchObject({ code: "configuration" });
      await expect(pins.save(null, pin("a"))).rejects.toMatchObject({ code: "configuration" });
      expect(await readFile(path, "utf8")).toBe(text);
    }
  });

  it("in a form that this client does not know are an error as well [D7]", async () => {
    const store = memoryStore();
    for (const value of ["", "{", '{"origin":"https://coffer.example"}']) {
      await put(store, "pin https://coffer.example a", value);
      await expect(pinStore(store).load("https://coffer.example", "a")).rejects.toMatchObject({
        code: "configuration",
      });
      await expect(pinStore(store).save(null, pin("a"))).rejects.toMatchObject({ code: "configuration" });
    }
    await store.table("pins").clear();
    await put(store, "object 0x1", '{"generation":1,"floor":"0"}');
    await expect(pinStore(store).loadHighest("0x1")).rejects.toMatchObject({ code: "configuration" });
  });
});

async function put(store: ProfileStore, key: string, value: string): Promise<void> {
  await store.table("pins").write([{ key, value: new TextEncoder().encode(value) }]);
}
