/** What may come as `sharedVaults.network` in spite of its type: refused in words, before a client is made. */
import { describe, expect, it } from "vitest";
import { createClient, type SharedVaultOptions, type SharedVaults } from "../index.ts";
import { openExport } from "../node/index.ts";
import { requireChain } from "./load-code.ts";
import { sharedVaults } from "../shared-vaults/index.ts";

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
    expect(() => sharedVaults(options)).toThrow(refusal);
    expect(() => sharedVaults(options)).toThrow(/^(?!.*swordfish)/);
    await expect(openExport("/absent", options)).rejects.toThrow(refusal);
  });
});

it("refuses the options themselves in place of what sharedVaults makes of them, with what to import", () => {
  const options = { signer: {}, network: { grpcUrl: "https://node.example", keyServerSets: [] } } as unknown;
  const open = () => createClient({ baseUrl: "http://127.0.0.1:1", sharedVaults: options as SharedVaults });
  expect(open).toThrow(expect.objectContaining({ code: "configuration" }) as Error);
  expect(open).toThrow(/imported from @coffer\/sdk\/shared/);
});

it("says what to import to a client without shared vaults that needs them", async () => {
  const { vaults } = createClient({ baseUrl: "http://127.0.0.1:1" });
  const refused = expect.objectContaining({
    code: "shared_vault",
    nextStep: expect.stringContaining('from "@coffer/sdk/shared"') as unknown,
  }) as Error;
  await expect(vaults.create({ name: "a", type: "shared" })).rejects.toThrow(refused);
  await expect(vaults.checkAccess("00000000-0000-4000-8000-000000000000")).rejects.toThrow(refused);
});

it("names the package that is missing where shared vaults are used without it, and passes on every other failure", async () => {
  const missing = (of: string) =>
    Object.assign(new Error(`Cannot find package '${of}' imported from /app/x.js`), { code: "ERR_MODULE_NOT_FOUND" });
  await expect(requireChain(Promise.reject(missing("@coffer/chain")))).rejects.toThrow(
    /need the package @coffer\/chain: install it from where you got/,
  );
  const other = missing("@coffer/crypto");
  await expect(requireChain(Promise.reject(other))).rejects.toBe(other);
});
