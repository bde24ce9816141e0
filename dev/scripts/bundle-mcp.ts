/**
 * `npm run bundle:mcp [-- --url ADDRESS]`: packs the tool server as `packages/mcp/dist/coffer.mcpb` for hosts that install bundles, with
 * the official packer. Then it unpacks the file and starts the server as a host does. With the address of a release it also writes
 * `packages/mcp/dist/server.json`, which names the bundle with its digest.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs, promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { installPeers, PEER_MODULES, PEER_PROGRAMS } from "./peers.ts";
import { mcpbManifest } from "./mcpb-manifest.ts";

const PACKAGE = path.join(import.meta.dirname, "..", "..", "packages", "mcp");
const DIST = path.join(PACKAGE, "dist");
/** The command line's one file, which is the tool server too. */
const ONE_FILE = path.join(PACKAGE, "..", "cli", "dist", "coffer.mjs");
const BUNDLE = path.join(DIST, "coffer.mcpb");
const MOST_BYTES = 2_000_000;

const { values } = parseArgs({ options: { url: { type: "string" } } });
const scratch = mkdtempSync(path.join(tmpdir(), "coffer-mcpb-"));
try {
  await installPeers();
  const directory = path.join(scratch, "bundle");
  writeBundle(directory);
  await mcpb("validate", path.join(directory, "manifest.json"));
  await mcpb("pack", directory, BUNDLE);
  const bytes = statSync(BUNDLE).size;
  if (bytes > MOST_BYTES) throw new Error(`the bundle has ${String(bytes)} bytes, at most ${String(MOST_BYTES)}`);
  const unpacked = path.join(scratch, "installed");
  await mcpb("unpack", BUNDLE, unpacked);
  const tools = await startAsHost(unpacked);
  const sha256 = createHash("sha256").update(readFileSync(BUNDLE)).digest("hex");
  if (values.url !== undefined) writeServerJson(values.url, sha256);
  console.log(`${BUNDLE}: ${String(bytes)} bytes, ${String(tools)} tools, sha256 ${sha256}`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function mcpb(...args: string[]): Promise<void> {
  const program = path.join(PEER_PROGRAMS, "mcpb");
  await promisify(execFile)(process.execPath, [program, ...args], { env: { ...process.env, HOME: scratch } });
}

function readJson(...names: string[]): Record<string, unknown> {
  return JSON.parse(readFileSync(path.join(PACKAGE, ...names), "utf8")) as Record<string, unknown>;
}

function writeBundle(directory: string): void {
  if (!existsSync(ONE_FILE)) throw new Error("run npm run build first");
  mkdirSync(path.join(directory, "server"), { recursive: true });
  cpSync(ONE_FILE, path.join(directory, "server", "coffer.mjs"));
  cpSync(path.join(PACKAGE, "..", "..", "LICENSE"), path.join(directory, "LICENSE"));
  const { version, engines } = readJson("package.json") as { version: string; engines: { node: string } };
  const tools = JSON.parse(readFileSync(path.join(PACKAGE, "src", "tool-list.json"), "utf8")) as Parameters<
    typeof mcpbManifest
  >[2];
  writeFileSync(
    path.join(directory, "manifest.json"),
    JSON.stringify(mcpbManifest(version, engines.node, tools), null, 2),
  );
}

interface Started {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

/** Starts it twice: as it is after its user chose two folders and nothing else, and where the profile's keys are in a keychain. */
async function startAsHost(directory: string): Promise<number> {
  const folders = ["one folder", "two"].map((name) => path.join(scratch, name));
  for (const folder of folders) mkdirSync(folder);
  const config = path.join(scratch, ".config", "coffer");
  const { tools, status } = await talk(directory, folders);
  const { allowedFolders, problem } = status as { allowedFolders?: string[]; problem?: string };
  if (allowedFolders?.length !== folders.length || problem !== "signed_out")
    throw new Error(`the started server says: ${JSON.stringify(status)}`);
  mkdirSync(config, { recursive: true, mode: 0o700 });
  const profile = { baseUrl: "http://127.0.0.1:1", keychain: { id: "any", keys: ["apiKey", "chainPrivateKey"] } };
  const content = JSON.stringify({ version: 1, defaultProfile: "default", profiles: { default: profile } });
  writeFileSync(path.join(config, "config.json"), content, { mode: 0o600 });
  const refused = JSON.stringify((await talk(directory, folders)).status);
  // A bundle has no place for what opens keychains: it says so, and where keys can be instead.
  if (!refused.includes("@napi-rs/keyring")) throw new Error(`with keys in a keychain it says: ${refused}`);
  return tools;
}

/** Fills the manifest in with the official code, and starts the server from another folder. */
async function talk(directory: string, folders: readonly string[]): Promise<{ tools: number; status: unknown }> {
  const official = path.join(PEER_MODULES, "@anthropic-ai", "mcpb", "dist", "index.js");
  const { getMcpConfigForManifest } = (await import(pathToFileURL(official).href)) as {
    getMcpConfigForManifest: (options: object) => Promise<Started>;
  };
  const manifest = JSON.parse(readFileSync(path.join(directory, "manifest.json"), "utf8")) as object;
  const started = await getMcpConfigForManifest({
    manifest,
    extensionPath: directory,
    systemDirs: {},
    userConfig: { folders },
    pathSeparator: path.sep,
  });
  const client = new Client({ name: "bundle", version: "1" });
  const env = { ...started.env, PATH: process.env["PATH"] ?? "", HOME: scratch };
  const { args } = started;
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env, cwd: scratch, stderr: "inherit" }),
  );
  try {
    const { tools } = await client.listTools();
    const { structuredContent } = await client.callTool({ name: "status_check", arguments: {} });
    return { tools: tools.length, status: structuredContent };
  } finally {
    await client.close();
  }
}

function writeServerJson(url: string, fileSha256: string): void {
  const described = readJson("server.json") as { packages: object[] };
  const bundle = { registryType: "mcpb", identifier: url, fileSha256, transport: { type: "stdio" } };
  const whole = { ...described, packages: [...described.packages, bundle] };
  writeFileSync(path.join(DIST, "server.json"), `${JSON.stringify(whole, null, 2)}\n`);
}
