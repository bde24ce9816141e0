import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { VaultPin } from "../vaults/pins.ts";
import { filePins } from "./pin-file.ts";
import { openSharedVaults } from "./shared-vaults.ts";
import { openTestDirectory } from "./test-directory.ts";
import { generateChainKey } from "../chain/chain-key.ts";

const pin = (vaultId: string, more: Partial<VaultPin> = {}): VaultPin => ({
  ...{ origin: "https://coffer.example", vaultId, shared: true },
  ...{ chainObjectId: `0x${"1".repeat(64)}`, ownerAddress: `0x${"2".repeat(64)}`, chainId: "c" },
  ...more,
});

describe("pins in a file", () => {
  it("outlive the process, for the owner alone, one for each vault and service", async () => {
    await using directory = await openTestDirectory();
    const path = join(directory.path, "deep", "pins.json");
    const pins = filePins(path);
    expect(await pins.load("https://coffer.example", "a")).toBeNull();
    await pins.save(pin("a"));
    await pins.save(pin("b", { shared: false, chainObjectId: null }));
    await pins.save(pin("a", { ownerAddress: null }));
    await pins.save(pin("a", { origin: "https://other.example", shared: false }));
    const again = filePins(path);
    expect(await again.load("https://coffer.example", "a")).toEqual(pin("a", { ownerAddress: null }));
    expect(await again.load("https://other.example", "a")).toMatchObject({ shared: false });
    expect(await again.load("https://coffer.example", "c")).toBeNull();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("remember the highest generation, also when another process saw a later one", async () => {
    await using directory = await openTestDirectory();
    const path = join(directory.path, "pins.json");
    const [one, two] = [filePins(path), filePins(path)];
    expect(await one.loadGeneration("0x1")).toBeNull();
    await one.saveGeneration("0x1", 7n);
    await two.saveGeneration("0x1", 5n);
    await two.saveGeneration("0x2", 2n ** 63n);
    expect([await one.loadGeneration("0x1"), await one.loadGeneration("0x2")]).toEqual([7n, 2n ** 63n]);
  });

  it("that were damaged are an error, never an empty list", async () => {
    await using directory = await openTestDirectory();
    const path = join(directory.path, "pins.json");
    for (const text of [
      "",
      "{",
      '{"version":2,"pins":[],"generations":{}}',
      '{"version":1,"pins":[{}],"generations":{}}',
    ]) {
      await writeFile(path, text);
      await expect(filePins(path).load("https://coffer.example", "a")).rejects.toMatchObject({ code: "configuration" });
      await expect(filePins(path).save(pin("a"))).rejects.toMatchObject({ code: "configuration" });
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
    await using directory = await openTestDirectory();
    const { privateKey } = await generateChainKey();
    const networkFile = join(directory.path, "network.json");
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
