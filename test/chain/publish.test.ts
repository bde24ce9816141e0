import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createVault, fromSuiSigner, openChain, parseNetworkConfiguration } from "@coffer/chain";
import { PACKAGE_DIGEST } from "@coffer/chain/package";
import { type Localnet, openLocalnet } from "@coffer/localnet";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const keypair = new Ed25519Keypair();
let localnet: Localnet;
let url: string;
const directory = makeDirectory();

beforeAll(async () => {
  localnet = await openLocalnet();
  ({ url } = await localnet.listen());
  const sets = localnet.network().keyServerSets.map(({ threshold, servers }) => ({
    threshold,
    servers: servers.map(({ publicKey: _, ...server }) => server),
  }));
  writeFileSync(file("sets.json"), JSON.stringify(sets));
});
afterAll(async () => {
  await localnet.close();
});

const file = (name: string): string => path.join(directory, name);

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const publish = (args: readonly string[], key?: string): Promise<Ended> =>
  run("dev/scripts/chain-publish.ts", args, key);

function run(file: string, args: readonly string[], key?: string): Promise<Ended> {
  const { SERVICE_CHAIN_PRIVATE_KEY: _, ...env } = process.env;
  const program = spawn(process.execPath, ["--conditions=coffer-source", path.join(ROOT, file), ...args], {
    env: { ...env, ...(key === undefined ? {} : { SERVICE_CHAIN_PRIVATE_KEY: key }) },
  });
  const texts = { stdout: "", stderr: "" };
  program.stdout.on("data", (chunk: Buffer) => (texts.stdout += chunk.toString()));
  program.stderr.on("data", (chunk: Buffer) => (texts.stderr += chunk.toString()));
  return new Promise((resolve) => program.on("close", (code) => resolve({ code, ...texts })));
}

it("publishes and writes the configuration that clients pin, without the key", async () => {
  const out = file("network.json");
  const args = ["--network", "localnet", "--grpc-url", url, "--key-servers", file("sets.json"), "--out", out];
  const ended = await publish(args, keypair.getSecretKey());
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  expect(readFileSync(out, "utf8")).toBe(ended.stdout);
  expect(ended.stderr).toContain(createHash("sha256").update(readFileSync(out)).digest("hex"));
  const configuration = parseNetworkConfiguration(JSON.parse(ended.stdout));
  expect(configuration).toMatchObject({ grpcUrl: url, packageDigest: PACKAGE_DIGEST });
  expect(configuration.keyServerSets).toEqual(localnet.network().keyServerSets);
  expect(ended.stdout + ended.stderr).not.toContain(keypair.getSecretKey().slice(12, 40));
  const { vault } = await createVault(openChain(configuration), fromSuiSigner(keypair), {});
  expect(vault.generation).toBe(1n);
  // What was published is not written over.
  const again = await publish(args, keypair.getSecretKey());
  expect(again).toMatchObject({ code: 1, stdout: "" });
  expect(again.stderr).toContain("exists already");
});

it.each([
  ["no network", [], "key", "Name the network"],
  ["no node", ["--network", "localnet"], "key", "needs --grpc-url and --key-servers"],
  ["no key", ["--network", "testnet"], undefined, "Set SERVICE_CHAIN_PRIVATE_KEY"],
  ["a malformed key", ["--network", "testnet"], "suiprivkey1secret", "is not the suiprivkey1… text"],
])("refuses %s", async (_, args, key, message) => {
  const ended = await publish(args, key);
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toContain(message);
  expect(ended.stderr).not.toContain("suiprivkey1secret");
});

it.each([
  ["broken.json", "{", "is no JSON"],
  ["wrong.json", '[{"threshold":1,"servers":[{"objectId":"0x1","weight":0}]}]', "Nothing was published"],
])("refuses key servers in %s", async (name, text, message) => {
  writeFileSync(file(name), text);
  const args = ["--network", "localnet", "--grpc-url", url, "--key-servers", file(name)];
  const ended = await publish(args, keypair.getSecretKey());
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toContain(message);
  expect(ended.stderr).not.toMatch(/^ +at /m);
});

it("publishes nothing on a chain that is not the named network", async () => {
  const ended = await publish(["--network", "testnet", "--grpc-url", url], keypair.getSecretKey());
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toContain("not the one that was configured");
});

it.each([
  ["dev/scripts/chain-publish.ts", "--key-servers FILE"],
  ["dev/localnet/src/main.ts", "--directory DIR"],
])("%s tells its options, and refuses others in a sentence", async (program, option) => {
  expect(await run(program, ["--help"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(option) as string,
    stderr: "",
  });
  const refused = await run(program, ["--bogus"]);
  expect(refused.stdout).toBe("");
  expect(refused.stderr).toBe("Unknown option '--bogus'. --help names the options\n");
  expect(refused.code).toBeGreaterThan(0);
});
