import { expect, it } from "vitest";
import { KNOWN_NETWORKS } from "./network-catalog.ts";
import { type NetworkConfiguration, parseNetworkConfiguration } from "./network.ts";
import { PACKAGE_DIGEST } from "./package/index.ts";

const id = (byte: string): string => `0x${byte.repeat(32)}`;
const server = { objectId: id("aa"), weight: 1, publicKey: Buffer.alloc(96, 1).toString("base64") };
const valid: NetworkConfiguration = {
  network: "localnet",
  chainId: KNOWN_NETWORKS.testnet.chainId,
  grpcUrl: "http://127.0.0.1:9000",
  originalPackageId: id("01"),
  latestPackageId: id("01"),
  packageDigest: PACKAGE_DIGEST,
  keyServerSets: [{ threshold: 1, servers: [server] }],
};

it("reads what publishing writes", () => {
  expect(parseNetworkConfiguration(JSON.parse(JSON.stringify(valid)))).toEqual(valid);
  for (const { network, chainId, grpcUrl, keyServers } of Object.values(KNOWN_NETWORKS)) {
    const servers = keyServers.servers.map((known) => ({ ...known, publicKey: server.publicKey, apiKey: "k" }));
    const known = { ...valid, network, chainId, grpcUrl, keyServerSets: [{ ...keyServers, servers }] };
    expect(parseNetworkConfiguration(known)).toEqual(known);
  }
});

it("knows the networks without anybody's API key", () => {
  expect(JSON.stringify(KNOWN_NETWORKS)).not.toContain('"apiKey"');
});

const witnesses = (count: number): string[] => Array.from({ length: count }, (_, at) => `https://w${at}.example`);

it("takes up to four witnesses, and none that is not asked for", () => {
  expect(parseNetworkConfiguration({ ...valid, witnessUrls: witnesses(4) }).witnessUrls).toEqual(witnesses(4));
  expect(parseNetworkConfiguration({ ...valid, witnessUrls: ["http://127.0.0.1:9001"] }).witnessUrls).toHaveLength(1);
  expect(parseNetworkConfiguration(valid)).not.toHaveProperty("witnessUrls");
});

const set = (threshold: number, servers: readonly unknown[]): unknown => ({
  ...valid,
  keyServerSets: [{ threshold, servers }],
});

it.each([
  ["an unknown network", { ...valid, network: "devnet" }],
  ["a chain id that is none", { ...valid, chainId: "0OIl" }],
  ["a node without TLS", { ...valid, grpcUrl: "http://node.example" }],
  ["a node that only looks local", { ...valid, grpcUrl: "http://127.0.0.1.example" }],
  ["a node that is no address", { ...valid, grpcUrl: "file:///etc/passwd" }],
  ["a witness without TLS", { ...valid, witnessUrls: ["http://node.example"] }],
  ["the node as its own witness", { ...valid, witnessUrls: [`${valid.grpcUrl}/other-path`] }],
  ["one witness twice", { ...valid, witnessUrls: ["https://w.example", "https://w.example:443/"] }],
  ["five witnesses", { ...valid, witnessUrls: witnesses(5) }],
  ["a short package id", { ...valid, originalPackageId: "0x2" }],
  ["an upper-case package id", { ...valid, latestPackageId: id("AB") }],
  ["a digest that is none", { ...valid, packageDigest: "00" }],
  ["no key servers", { ...valid, keyServerSets: [] }],
  ["an empty set", set(1, [])],
  ["a threshold of nothing", set(0, [server])],
  ["a threshold that no shares reach", set(2, [server])],
  ["one server twice", set(1, [server, server])],
  ["a server without a key", set(1, [{ ...server, publicKey: "" }])],
  ["a server without weight", set(1, [{ ...server, weight: 0 }])],
  ["a header that splits", set(1, [{ ...server, apiKeyName: "X\r\nY", apiKey: "k" }])],
  ["an aggregator without TLS", set(1, [{ ...server, aggregatorUrl: "http://a.example" }])],
  ["a field too many", { ...valid, extra: 1 }],
  ["nothing", null],
])("refuses %s", (_, value) => {
  expect(() => parseNetworkConfiguration(value)).toThrow();
});
