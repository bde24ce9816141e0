/**
 * Two processes write new versions of the same files of a shared vault, each on the condition of the version that it has read, and are
 * killed at any moment: every version has one successor, and none that a writer was told of is lost.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { FileVersion } from "@coffer/sdk";
import { beforeEach, expect, test } from "vitest";
import { COFFER, runProgram } from "../kit/coffer-program.ts";
import { contentOver } from "./content-over.ts";
import { makeDirectory } from "../kit/directory.ts";
import { openRawTools } from "../kit/raw-tools.ts";
import { OFTEN_CUT, read, sharedStack } from "../kit/shared-scene.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
/** Writes that the service confirmed, of both processes together. */
const WRITES = FULL ? { sdk: 10_000, tools: 500, commands: 100 } : { sdk: 500, tools: 50, commands: 10 };
const FILES = 50;
const FIRST = "the first version";

const stack = sharedStack(OFTEN_CUT);
let vaultId: string;
let fileIds: string[];
let environment: Record<string, string>;

beforeEach(async () => {
  const { client, apiKey, privateKey } = stack.owner;
  vaultId = (await client.vaults.create({ name: crypto.randomUUID(), type: "shared" })).id;
  const inputs = Array.from({ length: FILES }, (_, at) => ({ vaultId, name: `${String(at)}.json`, body: FIRST }));
  fileIds = (await client.files.uploadMany(inputs)).map(({ result }) => result?.file.id ?? "");
  const home = makeDirectory();
  const networkFile = join(home, "network.json");
  await writeFile(networkFile, JSON.stringify(stack.network));
  environment = {
    HOME: home,
    SERVICE_BASE_URL: stack.baseUrl,
    SERVICE_API_KEY: apiKey,
    SERVICE_CHAIN_PRIVATE_KEY: privateKey,
    SERVICE_NETWORK_FILE: networkFile,
  };
});

/** A version that a writer was told of, and the one that it had read before. */
interface Confirmed {
  readonly fileId: string;
  readonly read: string;
  readonly made: string;
}

/** What a process of `start` tells `confirm`, until there are enough. It is killed after up to `longest` milliseconds, and another one follows. */
async function writeAndKill(
  confirmed: Confirmed[],
  enough: number,
  longest: number,
  start: (
    confirm: (each: Confirmed) => void,
  ) => Promise<{ readonly child: ChildProcess; readonly failed: Promise<unknown> }>,
): Promise<void> {
  while (confirmed.length < enough) {
    const { child, failed } = await start((each) => void confirmed.push(each));
    const exited = once(child, "exit");
    const before = confirmed.length;
    const isOver = (async () => {
      // Each process lives until it has written something, so that the writers get on however slow the machine is.
      while (confirmed.length === before) await pause(5);
      const end = performance.now() + Math.random() * longest;
      while (confirmed.length < enough && performance.now() < end) await pause(5);
    })();
    await Promise.race([isOver, failed]);
    child.kill("SIGKILL");
    await exited;
  }
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, milliseconds));

const draw = (): string => fileIds[Math.floor(Math.random() * fileIds.length)] ?? "";

/** Each version but the first was written over the one before it, and what was confirmed is among them. */
async function expectOneSuccessorEach(confirmed: readonly Confirmed[]): Promise<void> {
  const made = new Map(confirmed.map((each) => [each.made, each]));
  expect(made.size).toBe(confirmed.length);
  expect(new Set(confirmed.map((each) => each.read)).size).toBe(confirmed.length);
  const { client } = stack.owner;
  let writes = 0;
  for (const fileId of fileIds) {
    const versions: FileVersion[] = [];
    for await (const version of client.files.versions(fileId)) versions.unshift(version);
    for (const [at, { versionId, unreadable }] of versions.entries()) {
      expect(unreadable).toBeUndefined();
      const before = versions[at - 1]?.versionId ?? null;
      expect(await read(client, fileId, { versionId })).toBe(before === null ? FIRST : contentOver(before));
      const told = made.get(versionId);
      if (told !== undefined) expect(told).toEqual({ fileId, read: before, made: versionId });
      made.delete(versionId);
      writes += 1;
    }
  }
  expect([...made.values()]).toEqual([]);
  expect(writes).toBeGreaterThanOrEqual(confirmed.length + FILES);
}

test(`${String(WRITES.sdk)} writes through the SDK [issue 52]`, async () => {
  const { baseUrl, network } = stack;
  const { apiKey, privateKey } = stack.owner;
  const task = JSON.stringify({
    baseUrl,
    apiKey,
    privateKey,
    network,
    vaultId,
    fileIds,
    store: join(makeDirectory(), "store"),
  });
  const confirmed: Confirmed[] = [];
  const writer = async (): Promise<void> =>
    writeAndKill(confirmed, WRITES.sdk, FULL ? 4_000 : 25_000, async (confirm) => {
      const child = spawn(process.execPath, ["version-writer.ts"], {
        cwd: import.meta.dirname,
        env: { PATH: process.env["PATH"], TASK: task },
        stdio: ["pipe", "pipe", "inherit"],
      });
      createInterface({ input: child.stdout }).on("line", (line) => {
        const [fileId = "", before = "", made = ""] = line.split(" ");
        confirm({ fileId, read: before, made });
      });
      const failed = once(child, "exit").then(([code]) => {
        if (code !== null) throw new Error(`the writer ended with ${String(code)}`);
        return new Promise<never>(() => undefined);
      });
      return Promise.resolve({ child, failed });
    });
  await Promise.all([writer(), writer()]);
  await expectOneSuccessorEach(confirmed);
});

test(`${String(WRITES.tools)} writes through the tools [issue 52]`, async () => {
  const confirmed: Confirmed[] = [];
  const writer = async (): Promise<void> =>
    writeAndKill(confirmed, WRITES.tools, FULL ? 6_000 : 15_000, async (confirm) => {
      const tools = await openRawTools({ environment, flags: ["--profile", "owner"] });
      const call = async (tool: string, input: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> => {
        const { structuredContent } = (await tools.call(tool, input)) as {
          readonly structuredContent: Record<string, unknown>;
        };
        return structuredContent;
      };
      const write = async (): Promise<void> => {
        while (tools.child.exitCode === null && tools.child.signalCode === null) {
          const fileId = draw();
          const { versionId, name } = await call("file_get", { files: [fileId] });
          const text = contentOver(String(versionId));
          const wish = { vaultId, ifExists: "version", expectedVersion: versionId };
          const { error, ...receipt } = await call("file_write", { name, text, ...wish });
          if (error === undefined) confirm({ fileId, read: String(versionId), made: String(receipt["versionId"]) });
          else expect(error).toMatchObject({ code: "precondition_failed" });
        }
      };
      return { child: tools.child, failed: write() };
    });
  await Promise.all([writer(), writer()]);
  await expectOneSuccessorEach(confirmed);
});

test(`${String(WRITES.commands)} writes through the command line [issue 52]`, async () => {
  const confirmed: Confirmed[] = [];
  const writer = async (): Promise<void> => {
    const directory = makeDirectory();
    while (confirmed.length < WRITES.commands) {
      const fileId = draw();
      const shown = await runProgram(["stat", `${vaultId}:${fileId}`, "--json"], { env: environment });
      const { item } = JSON.parse(shown.out) as {
        readonly item: { readonly name: string; readonly versionId: string };
      };
      const { name, versionId } = item;
      await writeFile(join(directory, name), contentOver(versionId));
      const [command, ...args] = COFFER;
      const words = ["upload", name, "--vault", vaultId, "--if-exists", "version", "--expected-version", versionId];
      const child = spawn(command, [...args, ...words, "--json"], {
        cwd: directory,
        env: { PATH: process.env["PATH"], ...environment },
        stdio: ["ignore", "pipe", "pipe"],
      });
      // Every third one is killed somewhere in its life.
      if (Math.random() < 1 / 3) setTimeout(() => child.kill("SIGKILL"), Math.random() * 2_000);
      let out = "";
      child.stdout.on("data", (piece: Buffer) => (out += piece.toString()));
      const [code] = (await once(child, "close")) as [number | null];
      if (code === 0) confirmed.push({ fileId, read: versionId, made: madeOf(out) });
    }
  };
  await Promise.all([writer(), writer()]);
  await expectOneSuccessorEach(confirmed);
});

function madeOf(json: string): string {
  return (JSON.parse(json) as { readonly file: { readonly versionId: string } }).file.versionId;
}
