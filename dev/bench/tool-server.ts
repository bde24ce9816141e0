/** The tool server beside the reference server for local files: to its first answers, per call, and what a model reads of it. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createClient, type Client } from "@coffer/sdk";
import { fileStore, uploadFolder } from "@coffer/sdk/node";
import { installPeers, PEER_MODULES } from "../scripts/peers.ts";
import { openScratch } from "./machine.ts";
import { inTurns, type Benchmark, type Comparison, type Outcome } from "./ratio.ts";
import { startService } from "./service.ts";
import { makeFiles } from "./small-files.ts";

const PROGRAM = new URL("../../packages/mcp/dist/main.js", import.meta.url).pathname;
const PEER = join(PEER_MODULES, "@modelcontextprotocol", "server-filesystem", "dist", "index.js");
const UNIT = "ms";

export const toolServer: Benchmark = async () => {
  if (!existsSync(PROGRAM)) throw new Error("Run npm run build first.");
  await installPeers();
  const parts = [await starts(), await calls()];
  return { comparisons: parts.flatMap(({ comparisons }) => comparisons) };
};

const START_ROUNDS = 20;

/** Both from the first byte of the process, without credentials, as a host starts them. */
async function starts(): Promise<Outcome> {
  await using scratch = await openScratch();
  const lists = { ours: [] as number[], peer: [] as number[] };
  const characters = { ours: 0, peer: 0 };
  const start = (who: "ours" | "peer", words: readonly string[]) => async (round: number) => {
    const began = performance.now();
    const server = openServer(words, { HOME: scratch.directory });
    await server.initialize();
    const started = performance.now() - began;
    const list = await server.request("tools/list", {});
    if (round > 0) lists[who].push(performance.now() - began);
    characters[who] = JSON.stringify(list["tools"]).length;
    await server.end();
    return started;
  };
  const initialized = await inTurns(START_ROUNDS, {
    ours: start("ours", [PROGRAM, "--profile", "owner"]),
    peer: start("peer", [PEER, scratch.directory]),
  });
  return {
    comparisons: [
      {
        title: "start to the answer of initialize over server-filesystem",
        better: "lower",
        unit: UNIT,
        ...initialized,
      },
      { title: "start to the list of tools over server-filesystem", better: "lower", unit: UNIT, ...lists },
      {
        title: "characters of the list of tools, which a model reads, over those of server-filesystem",
        better: "lower",
        unit: "characters",
        ours: [characters.ours],
        peer: [characters.peer],
      },
    ],
  };
}

const CALL_ROUNDS = 30;
/** In a row: a process that has just slept is slower at its first calls, whoever calls it. */
const CALLS = 50;

async function calls(): Promise<Outcome> {
  await using scratch = await openScratch();
  const { directory } = scratch;
  await using service = await startService(directory);
  const { apiKey, baseUrl } = service;
  const client = createClient({ baseUrl, credentials: { apiKey } });
  const vault = await client.vaults.create({ name: "bench", type: "public" });
  const { file } = await client.files.upload({ vaultId: vault.id, name: "one.txt", body: "x" });
  const local = join(directory, "local.txt");
  await writeFile(local, "8 bytes.");
  await mkdir(join(directory, "home"));
  const environment = { HOME: join(directory, "home"), SERVICE_BASE_URL: baseUrl, SERVICE_API_KEY: apiKey };
  const server = openServer([PROGRAM, "--allow", directory], environment);
  const peer = openServer([PEER, directory], { HOME: directory });
  await Promise.all([server.initialize(), peer.initialize()]);
  const each = (work: () => Promise<unknown>) => async (): Promise<number> => {
    const began = performance.now();
    for (let at = 0; at < CALLS; at += 1) await work();
    return (performance.now() - began) / CALLS;
  };
  const taken = await inTurns(CALL_ROUNDS, {
    tool: each(() => server.call("file_get", { files: [file.id] })),
    sdk: each(async () => {
      await client.files.get(file.id);
      await client.files.versions(file.id, { limit: 20 });
    }),
    bare: each(() => server.request("tools/call", { name: "transfer_get", arguments: { transferId: "none" } })),
    read: each(() => peer.call("read_text_file", { path: local })),
  });
  const folder = await byFolder(directory, client, { server, vaultId: vault.id });
  await Promise.all([server.end(), peer.end()]);
  return {
    comparisons: [
      {
        title: "file_get over the two requests of the SDK that it makes",
        better: "lower",
        unit: UNIT,
        ours: taken.tool,
        peer: taken.sdk,
      },
      {
        title: "a call that asks no service over read_text_file of server-filesystem",
        better: "lower",
        unit: UNIT,
        ours: taken.bare,
        peer: taken.read,
      },
      folder,
    ],
  };
}

const FOLDER_ROUNDS = 10;
const FILES = 250;

/** The same new files by one call, and by the SDK in this process. */
async function byFolder(
  directory: string,
  client: Client,
  { server, vaultId }: { readonly server: ToolProgram; readonly vaultId: string },
): Promise<Comparison> {
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await work();
    return performance.now() - began;
  };
  const series = await inTurns(FOLDER_ROUNDS, {
    ours: async (round) => {
      const files = makeFiles(join(directory, `tool-${String(round)}`), FILES);
      return timed(async () => {
        const { structuredContent } = await server.call("file_upload", { paths: [files], vaultId });
        const { created } = structuredContent as { created?: number };
        if (created !== FILES) throw new Error(`${String(created)} files were stored`);
      });
    },
    peer: async (round) => {
      const files = makeFiles(join(directory, `sdk-${String(round)}`), FILES);
      const { id: folderId } = await client.folders.create({ vaultId, name: `sdk ${String(round)}` });
      const store = fileStore(join(directory, "store"));
      return timed(() => uploadFolder(client, files, { vaultId, folderId, store }));
    },
  });
  return { title: `${String(FILES)} files by file_upload over uploadFolder`, better: "lower", unit: UNIT, ...series };
}

/** A server on stdio, spoken to by hand: a client's own time would be in the numbers. */
export interface ToolProgram {
  readonly pid: number;
  initialize(): Promise<void>;
  request(method: string, params: object): Promise<Readonly<Record<string, unknown>>>;
  /** Calls a tool, whose answer must not be an error. */
  call(name: string, args: object): Promise<Readonly<Record<string, unknown>>>;
  end(): Promise<void>;
}

export function openServer(words: readonly string[], environment: NodeJS.ProcessEnv): ToolProgram {
  const child = spawn(process.execPath, words, { env: { PATH: process.env["PATH"], ...environment } });
  child.stderr.resume();
  const waiting = new Map<number, (result: Record<string, unknown>) => void>();
  createInterface(child.stdout).on("line", (line) => {
    const { id, result } = JSON.parse(line) as { id?: number; result?: Record<string, unknown> };
    if (id !== undefined) waiting.get(id)?.(result ?? {});
  });
  let requests = 0;
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const request: ToolProgram["request"] = (method, params) =>
    new Promise((resolve) => {
      requests += 1;
      waiting.set(requests, resolve);
      send({ id: requests, method, params });
    });
  return {
    pid: child.pid ?? 0,
    request,
    initialize: async () => {
      const clientInfo = { name: "bench", version: "1" };
      await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
      send({ method: "notifications/initialized" });
    },
    call: async (name, args) => {
      const result = await request("tools/call", { name, arguments: args });
      if (result["isError"] === true) throw new Error(JSON.stringify(result["structuredContent"] ?? result["content"]));
      return result;
    },
    end: async () => {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.stdin.end();
      await ended;
    },
  };
}
