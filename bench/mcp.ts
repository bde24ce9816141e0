/** The tool server beside the reference server for local files: to the first answer, to the list, and per call. */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient, type Client } from "@coffer/sdk";
import { uploadFolder } from "@coffer/sdk/node";
import { installPeers, PEER_MODULES } from "../scripts/peers.ts";
import { measured, median, medianRatio, renderRatios, type Benchmark } from "./outcome.ts";
import { openScratch, startService } from "./service.ts";
import { callTool, greet, LAUNCHER, speak } from "./tool-server.ts";

const PEER = join(PEER_MODULES, "@modelcontextprotocol", "server-filesystem", "dist", "index.js");
const START_ROUNDS = 20;
/** In turns: a process that has just slept is slower at its first calls, whoever calls it. */
const CALL_ROUNDS = 8;
const CALLS_A_ROUND = 125;
const FILES = 500;
const FILE_ROUNDS = 5;

async function requireBuilt(): Promise<void> {
  if (!existsSync(LAUNCHER)) throw new Error("run npm run build first");
  await installPeers();
}

/** Both from the first byte of the process, without credentials, as a host starts them. */
export const mcpStart: Benchmark = async () => {
  await requireBuilt();
  await using scratch = await openScratch();
  const environment = { HOME: scratch.directory };
  const ways = { ours: times([LAUNCHER, "--profile", "owner"]), peer: times([PEER, scratch.directory]) };
  for (let round = 0; round <= START_ROUNDS; round += 1)
    for (const way of round % 2 === 0 ? [ways.ours, ways.peer] : [ways.peer, ways.ours]) {
      const began = performance.now();
      const server = speak(way.args, environment);
      await greet(server);
      const started = performance.now();
      await server.request("tools/list", {});
      const listed = performance.now();
      await server.end();
      if (round === 0) continue;
      way.start.push(started - began);
      way.list.push(listed - began);
    }
  const { ours, peer } = ways;
  return measured({
    name: "mcp-start",
    about: "start to the answer of initialize, over @modelcontextprotocol/server-filesystem",
    value: medianRatio(ours.start, peer.start),
    unit: "x",
    limit: { at: "most", value: 0.6 },
    alsoHeld: {
      "to the first list over the same": {
        value: medianRatio(ours.list, peer.list),
        limit: { at: "most", value: 0.7 },
      },
    },
    series: {
      "initialize, ms": ours.start,
      "peer, ms": peer.start,
      "list, ms": ours.list,
      "peer's list, ms": peer.list,
    },
    facts: {
      "starts, by round": renderRatios(ours.start, peer.start),
      "lists, by round": renderRatios(ours.list, peer.list),
    },
  });
};

function times(args: readonly string[]) {
  const start: number[] = [];
  const list: number[] = [];
  return { args, start, list };
}

/**
 * One call over the same call of the SDK in this process, one that asks no service over a call of the reference server, and 500 files by one
 * call over uploadFolder.
 */
export const mcpCalls: Benchmark = async () => {
  await requireBuilt();
  await using scratch = await openScratch();
  await mkdir(join(scratch.directory, "service"));
  await using service = await startService(join(scratch.directory, "service"));
  const [apiKey = ""] = service.keys;
  const client = createClient({ baseUrl: service.baseUrl, credentials: { apiKey } });
  const vault = await client.vaults.create({ name: "bench", type: "public" });
  const { file } = await client.files.upload({ vaultId: vault.id, name: "one.txt", body: "x" });
  const local = join(scratch.directory, "local.txt");
  await writeFile(local, "8 bytes.");
  const environment = { HOME: scratch.directory, SERVICE_BASE_URL: service.baseUrl, SERVICE_API_KEY: apiKey };
  const server = speak([LAUNCHER, "--allow", scratch.directory], environment);
  const peer = speak([PEER, scratch.directory], { HOME: scratch.directory });
  await Promise.all([greet(server), greet(peer)]);
  const call = (name: string, args: object) => callTool(server, name, args);
  const { sdk, tool, bare, read } = await timesInTurns({
    sdk: async () => {
      await client.files.get(file.id);
      await client.files.versions(file.id, { limit: 20 });
    },
    tool: () => call("file_get", { files: [file.id] }),
    bare: () => server.request("tools/call", { name: "transfer_get", arguments: { transferId: "none" } }),
    read: () => callTool(peer, "read_text_file", { path: local }),
  });
  const folders = await compareFolders(scratch.directory, client, vault.id, call);
  await Promise.all([server.end(), peer.end()]);
  return measured({
    name: "mcp-calls",
    about: "file_get over stdio, above the two requests of the SDK that it makes",
    value: median(tool) - median(sdk),
    unit: "ms",
    limit: { at: "most", value: 0.6 },
    alsoHeld: {
      "a call without a request over read_text_file of server-filesystem": {
        value: median(bare) / median(read),
        limit: { at: "most", value: 1 },
      },
      [`${String(FILES)} files by file_upload over uploadFolder`]: {
        value: medianRatio(folders.whole, folders.bare),
        limit: { at: "most", value: 1.3 },
      },
      "characters of its answer": { value: folders.answer, limit: { at: "most", value: 2_400 } },
    },
    series: {
      ...{ "SDK, ms a call": sdk, "tool, ms a call": tool, "without a request, ms": bare, "peer's read, ms": read },
      ...{ "uploadFolder, ms": folders.bare, "file_upload, ms": folders.whole },
    },
    facts: { "500 files, by round": renderRatios(folders.whole, folders.bare) },
  });
};

/** Milliseconds of each call. Round 0 warms up. */
async function timesInTurns<Name extends string>(
  ways: Readonly<Record<Name, () => Promise<unknown>>>,
): Promise<Record<Name, number[]>> {
  const runs = Object.entries<() => Promise<unknown>>(ways).map(([name, run]) => ({
    name,
    run,
    times: [] as number[],
  }));
  for (let round = 0; round <= CALL_ROUNDS; round += 1)
    for (const { run, times } of runs)
      for (let at = 0; at < CALLS_A_ROUND; at += 1) {
        const began = performance.now();
        await run();
        if (round > 0) times.push(performance.now() - began);
      }
  return Object.fromEntries(runs.map(({ name, times }) => [name, times])) as Record<Name, number[]>;
}

/** The same new files by the SDK in this process and by one call. Round 0 warms up. */
async function compareFolders(
  parent: string,
  client: Client,
  vaultId: string,
  call: (name: string, args: object) => Promise<Record<string, unknown>>,
) {
  const [bare, whole]: [number[], number[]] = [[], []];
  let answer = 0;
  for (let round = 0; round <= FILE_ROUNDS; round += 1) {
    const directory = await makeFiles(parent, round);
    const { id: folderId } = await client.folders.create({ vaultId, name: `sdk ${String(round)}` });
    const began = performance.now();
    await uploadFolder(client, directory, {
      vaultId,
      folderId,
      journalDirectory: join(parent, "j"),
    });
    const between = performance.now();
    const result = await call("file_upload", { paths: [directory], vaultId });
    if (round === 0) continue;
    bare.push(between - began);
    whole.push(performance.now() - between);
    answer = JSON.stringify(result["content"]).length;
    const { created } = result["structuredContent"] as { created?: number };
    if (created !== FILES) throw new Error(`${String(created)} files were stored`);
  }
  return { bare, whole, answer };
}

async function makeFiles(parent: string, round: number): Promise<string> {
  const directory = join(parent, `files-${String(round)}`);
  await mkdir(directory);
  for (let at = 0; at < FILES; at += 1)
    await writeFile(join(directory, `file-${String(at)}.txt`), `${String(round)} ${String(at)} ${"x".repeat(1_000)}`);
  return directory;
}
