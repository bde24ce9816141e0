import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { generateChainKey } from "../signers/chain-key.ts";
import { openSharedVaults } from "./shared-vaults.ts";

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
