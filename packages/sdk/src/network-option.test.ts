/** What may come as `sharedVaults.network` in spite of its type: refused in words, when the client is made. */
import { describe, expect, it } from "vitest";
import { createClient, type SharedVaultOptions } from "./index.ts";
import { openExport } from "./node/index.ts";

const WRONG: [string, unknown][] = [
  ["nothing", undefined],
  ["null", null],
  ["the path of its file", "/etc/coffer/network.json"],
  ["the text of its file", '{"grpcUrl":"https://node.example"}'],
  ["the promise of it", Promise.resolve({ network: "testnet", grpcUrl: "https://node.example", keyServerSets: [] })],
  ["a name", { network: "testnet" }],
  ["a part of it", { network: "testnet", grpcUrl: "https://node.example", apiKey: "swordfish" }],
];

const refusal = expect.objectContaining({
  code: "configuration",
  retryable: false,
  message: expect.stringMatching(
    /^The network .* parseNetworkConfiguration of @coffer\/chain .* openSharedVaults/,
  ) as unknown,
}) as Error;

describe("a network that was not parsed", () => {
  it.each(WRONG)("is refused as %s, and none of it is told", async (_name, network) => {
    const options = { signer: {}, network } as SharedVaultOptions;
    expect(() => createClient({ baseUrl: "http://127.0.0.1:1", sharedVaults: options })).toThrow(refusal);
    expect(() => createClient({ baseUrl: "http://127.0.0.1:1", sharedVaults: options })).toThrow(/^(?!.*swordfish)/);
    await expect(openExport("/absent", options)).rejects.toThrow(refusal);
  });
});
