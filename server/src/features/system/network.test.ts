/** GET /api/network: the bytes of the operator's file, for anybody. */
import { hash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { PRODUCTION, problemsOf } from "../../config/config.test-kit.ts";
import { parseConfig } from "../../config.ts";
import { openTestApp } from "../../app.test-kit.ts";

const directory = mkdtempSync(join(tmpdir(), "coffer-network-"));
afterAll(() => rmSync(directory, { recursive: true }));

const FACTS = {
  network: "testnet",
  chainId: "3".repeat(44),
  grpcUrl: "https://node.example",
  originalPackageId: `0x${"c".repeat(64)}`,
  keyServerSets: [{ threshold: 1, servers: [{ objectId: `0x${"d".repeat(64)}`, weight: 1 }] }],
};
const SERVICE_CHAIN_FILE = join(directory, "network.json");
/** Spaces and the end of the file count: a digest is compared. */
const TEXT = ` ${JSON.stringify(FACTS, null, 3)}\n\n`;
writeFileSync(SERVICE_CHAIN_FILE, TEXT);

function written(text: string | Uint8Array): string {
  const path = join(directory, `${hash("sha256", text)}.json`);
  writeFileSync(path, text);
  return path;
}

describe("GET /api/network", () => {
  it("gives the operator's file byte for byte, to anybody and with any credential", async () => {
    await using service = await openTestApp({
      environment: { SERVICE_CHAIN_FILE, SERVICE_CHAIN_URL: "http://127.0.0.1:1" },
    });
    for (const key of [undefined, "cof_nonsense"]) {
      const { status, headers, text } = await service.ask("GET", "/api/network", key === undefined ? {} : { key });
      expect([status, text]).toEqual([200, TEXT]);
      expect(headers["content-type"]).toBe("application/json");
    }
  });

  it("is 404 with what is missing where no file is named", async () => {
    await using service = await openTestApp();
    const { status, headers, body } = await service.ask("GET", "/api/network");
    expect([status, headers["x-error-code"]]).toEqual([404, "not_found"]);
    expect(body["error"]).toContain("SERVICE_CHAIN_FILE");
  });
});

describe("SERVICE_CHAIN_FILE", () => {
  it("is where the other settings of the chain take their values from, except what the environment says of the node", () => {
    const { chain, settings } = parseConfig({ ...PRODUCTION, SERVICE_CHAIN_FILE });
    expect(chain).toEqual({ url: FACTS.grpcUrl, packageId: FACTS.originalPackageId, chainId: FACTS.chainId });
    expect(settings.network).toBe("testnet");
    const SERVICE_CHAIN_URL = "https://own.example";
    expect(parseConfig({ ...PRODUCTION, SERVICE_CHAIN_FILE, SERVICE_CHAIN_URL }).chain?.url).toBe(SERVICE_CHAIN_URL);
    expect(parseConfig(PRODUCTION).settings.networkFile).toBeNull();
  });

  it("leaves no room for another network beside it", () => {
    const others = {
      SERVICE_CHAIN_NETWORK: "mainnet",
      SERVICE_CHAIN_PACKAGE: `0x${"e".repeat(64)}`,
      SERVICE_CHAIN_ID: "4".repeat(44),
    };
    for (const [name, value] of Object.entries(others))
      expect(problemsOf({ ...PRODUCTION, SERVICE_CHAIN_FILE, [name]: value })).toEqual([
        expect.stringMatching(new RegExp(`^${name}: SERVICE_CHAIN_FILE names `)),
      ]);
    const local = written(JSON.stringify({ ...FACTS, network: "localnet" }));
    expect(problemsOf({ ...PRODUCTION, SERVICE_CHAIN_FILE: local })).toEqual([
      expect.stringMatching(/^SERVICE_CHAIN_NETWORK: the local chain is for development/),
    ]);
  });

  const key = "an-api-key-of-a-key-server";
  const keyed = { ...FACTS, keyServerSets: [{ threshold: 1, servers: [{ objectId: "0x1", apiKey: key }] }] };
  it.each([
    ["is not there", join(directory, "nowhere.json"), /cannot be read: ENOENT/],
    ["is not JSON", written(`{ "apiKey": "${key}"`), /is not JSON/],
    ["is not UTF-8", written(Buffer.from([0x22, 0xff, 0x22])), /is not JSON/],
    ["is something else", written(JSON.stringify({ apiKey: key })), /see network, chainId, grpcUrl/],
    ["is very large", written(" ".repeat(300_000)), /larger than 262144 bytes/],
    ["would give away an API key of a key server", written(JSON.stringify(keyed)), /API key of a key server/],
  ])("starts no server when it %s, and says nothing of its content", (_what, path, words) => {
    const problems = problemsOf({ ...PRODUCTION, SERVICE_CHAIN_FILE: path });
    expect(problems).toEqual([expect.stringMatching(/^SERVICE_CHAIN_FILE: /)]);
    expect(problems[0]).toMatch(words);
    expect(problems[0]).not.toContain(key);
  });
});
