import { execFile } from "node:child_process";
import { copyFileSync, statSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { raiseTo } from "../../shared-vaults/trust/pin-facts.ts";
import { memoryPins, type VaultPin } from "../../shared-vaults/trust/pins.ts";
import { filePins } from "./pin-file.ts";
import { openSharedVaults } from "../shared-vaults.ts";
import { generateChainKey } from "../../signers/chain-key.ts";

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
  import { filePins } from ${JSON.stringify(new URL("pin-file.ts", import.meta.url).href)};
  const [path, name] = process.argv.slice(1);
  const pins = filePins(path);
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

describe("pins in a file", () => {
  it("outlive the process, for the owner alone, one for each vault and service", async () => {
    const directory = makeDirectory();
    const path = join(directory, "deep", "pins.json");
    const pins = filePins(path);
    expect(await pins.load("https://coffer.example", "a")).toBeNull();
    expect(await pins.save(null, pin("a"))).toBe(true);
    expect(await pins.save(null, pin("b", { shared: false, chainObjectId: null }))).toBe(true);
    expect(await pins.save(pin("a"), pin("a", { ownerAddress: null }))).toBe(true);
    expect(await pins.save(null, pin("a", { origin: "https://other.example", shared: false }))).toBe(true);
    const again = filePins(path);
    expect(await again.load("https://coffer.example", "a")).toEqual(pin("a", { ownerAddress: null }));
    expect(await again.load("https://other.example", "a")).toMatchObject({ shared: false });
    expect(await again.load("https://coffer.example", "c")).toBeNull();
    expect((await again.list("https://coffer.example")).map(({ vaultId }) => vaultId).sort()).toEqual(["a", "b"]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["in a file", (directory: string) => filePins(join(directory, "pins.json"))],
    ["in memory", () => memoryPins()],
  ])("change only from what was expected: %s", async (_where, open) => {
    const directory = makeDirectory();
    const pins = open(directory);
    expect(await pins.save(pin("a"), pin("a"))).toBe(false);
    expect(await pins.load("https://coffer.example", "a")).toBeNull();
    expect(await pins.save(null, pin("a"))).toBe(true);
    for (const other of [null, pin("b"), pin("a", { shared: false }), pin("a", { ownerAddress: null })])
      expect(await pins.save(other, pin("a", { chainObjectId: `0x${"9".repeat(64)}` }))).toBe(false);
    expect(await pins.load("https://coffer.example", "a")).toEqual(pin("a"));
  });

  it("are set by one of several processes that meet a vault at once [S23]", async () => {
    const directory = makeDirectory();
    const path = join(directory, "pins.json");
    const rivals = ["one", "two", "three"].map((name) => inProcess(WRITER, path, name));
    const told = (await Promise.all(rivals)).map((text) => JSON.parse(text) as Record<string, boolean>);
    const winners = Object.keys(told[0] ?? {}).map((vaultId) => told.findIndex((outcome) => outcome[vaultId]));
    for (const [at, winner] of winners.entries()) {
      expect(told.filter((outcome) => outcome[`v${String(at)}`])).toHaveLength(1);
      const kept = await filePins(path).load("https://coffer.example", `v${String(at)}`);
      expect(kept?.ownerAddress).toBe(["one", "two", "three"][winner]);
    }
    expect(await filePins(path).loadHighest("0x1")).toEqual({ generation: 60n, floor: 30n });
  }, 60_000);

  it("remember the highest generation and floor, also when another process saw a later one [N2]", async () => {
    const directory = makeDirectory();
    const path = join(directory, "pins.json");
    const [one, two] = [filePins(path), filePins(path)];
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

  it("are not looked at twice before this process waits for something, and always after it", async () => {
    const path = join(makeDirectory(), "pins.json");
    const [one, other] = [join(makeDirectory(), "one.json"), filePins(path)];
    await filePins(one).changeHighest("0x1", raiseTo({ generation: 8n, floor: 0n }));
    await other.changeHighest("0x1", raiseTo({ generation: 7n, floor: 0n }));
    await vi.waitUntil(() => Date.now() - statSync(path).mtimeMs > 100);
    await other.loadHighest("0x1");
    await setImmediate();
    expect((await other.loadHighest("0x1")).generation).toBe(7n);
    copyFileSync(one, path);
    expect((await other.loadHighest("0x1")).generation).toBe(7n);
    await setImmediate();
    expect((await other.loadHighest("0x1")).generation).toBe(8n);
  });

  it("of before there were floors are read on", async () => {
    const directory = makeDirectory();
    const path = join(directory, "pins.json");
    await writeFile(path, JSON.stringify({ version: 1, pins: [pin("a")], generations: { "0x1": "7" } }));
    expect(await filePins(path).load("https://coffer.example", "a")).toEqual(pin("a"));
    expect(await filePins(path).loadHighest("0x1")).toEqual({ generation: 7n, floor: 0n });
  });

  it("that were damaged are an error, never an empty list [D7]", async () => {
    const directory = makeDirectory();
    const path = join(directory, "pins.json");
    for (const text of [
      "",
      "{",
      '{"version":2,"pins":[],"generations":{}}',
      '{"version":1,"pins":[{}],"generations":{}}',
    ]) {
      await writeFile(path, text);
      await expect(filePins(path).load("https://coffer.example", "a")).rejects.toMatchObject({ code: "configuration" });
      await expect(filePins(path).save(null, pin("a"))).rejects.toMatchObject({ code: "configuration" });
      expect(await readFile(path, "utf8")).toBe(text);
    }
  });
});

describe("shared vaults from settings", () => {
  it("need a key and a network, or neither", async () => {
    const { privateKey } = await generateChainKey();
    expect(await openSharedVaults({ chainPrivateKey: null, networkFile: null })).toBeNull();
    await expect(openSharedVaults({ chainPrivateKey: privateKey, networkFile: null })).rejects.toThrow(
      "SERVICE_NETWORK_FILE",
    );
    await expect(openSharedVaults({ chainPrivateKey: null, networkFile: "/x" })).rejects.toThrow(
      "SERVICE_CHAIN_PRIVATE_KEY",
    );
  });

  it("say what is wrong with the network's file without showing its content", async () => {
    const directory = makeDirectory();
    const { privateKey } = await generateChainKey();
    const networkFile = join(directory, "network.json");
    const servers = [{ objectId: "0x1", weight: 1, publicKey: "x", apiKey: "canary-api-key" }];
    await writeFile(networkFile, JSON.stringify({ network: "localnet", keyServerSets: [{ threshold: 1, servers }] }));
    const error: unknown = await openSharedVaults({ chainPrivateKey: privateKey, networkFile }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: "configuration" });
    expect(String(error)).toContain("chainId");
    expect(String(error)).toContain("keyServerSets.0.servers.0.objectId");
    expect(String(error)).not.toContain("canary");
    await writeFile(networkFile, "not json: canary");
    await expect(openSharedVaults({ chainPrivateKey: privateKey, networkFile })).rejects.toThrow(
      "cannot be read as JSON",
    );
  });
});
