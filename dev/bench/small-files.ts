/** Many small files: into and out of a shared vault beside a public one, and a directory of them in one call. */
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Client } from "@coffer/sdk";
import { fileStore, uploadFolder } from "@coffer/sdk/node";
import { openScratch, stopChild } from "./machine.ts";
import { inTurns, rates, type Benchmark, type Comparison } from "./ratio.ts";
import { perSecond, type Read, type ToRead } from "./programs/small-file-reader.ts";
import { startSharedService, type ClientSettings, type SharedService } from "./service.ts";

const READER = new URL("programs/small-file-reader.ts", import.meta.url).pathname;
const BYTES = 4096;
const UNIT = "files/s";

export const smallFiles: Benchmark = async () => {
  await using scratch = await openScratch();
  await using stack = await startSharedService(scratch.directory);
  return { comparisons: [...(await singly(stack)), ...(await byFolder(scratch.directory, stack))] };
};

const FILES = 200;
const ROUNDS = 14;
/** Rounds before them, while the code of all processes is compiled. */
const WARMING = 3;

/** A few calls at once, as an agent makes them. */
async function singly({ clients, settings, vaults }: SharedService): Promise<Comparison[]> {
  await using reader = openReader(settings);
  const rate = { up: series(), down: series(), elsewhere: series() };
  for (let round = -WARMING; round < ROUNDS; round += 1)
    for (const kind of round % 2 === 0 ? (["public", "shared"] as const) : (["shared", "public"] as const)) {
      const files = await transfer(clients[kind], vaults[kind]);
      const elsewhere = await reader.read(kind, files);
      if (round < 0) continue;
      rate.up[kind].push(files.up);
      rate.down[kind].push(files.down);
      rate.elsewhere[kind].push(elsewhere);
    }
  const over = (title: string, { shared, public: plain }: ReturnType<typeof series>): Comparison => ({
    title,
    better: "higher",
    unit: UNIT,
    ours: shared,
    peer: plain,
  });
  return [
    over("upload of 4 KiB, shared over public", rate.up),
    over("download of 4 KiB, shared over public", rate.down),
    over("download by a process that wrote none of them, shared over public", rate.elsewhere),
  ];
}

function series(): Record<"public" | "shared", number[]> {
  return { public: [], shared: [] };
}

interface Transferred {
  /** Files a second. */
  readonly up: number;
  readonly down: number;
  readonly ids: readonly string[];
  /** SHA-256 of all content in the order of the ids, hex. */
  readonly sha256: string;
}

async function transfer(client: Client, vaultId: string): Promise<Transferred> {
  const ids: string[] = [];
  const bodies = Array.from({ length: FILES }, () => randomBytes(BYTES));
  const up = await perSecond(FILES, async (at) => {
    const name = `small-${randomBytes(8).toString("hex")}`;
    ids[at] = (await client.files.upload({ vaultId, name, body: bodies[at] ?? "" })).file.id;
  });
  const down = await perSecond(FILES, async (at) => {
    const bytes = await (await client.files.download(ids[at] ?? "")).bytes();
    if (Buffer.compare(bytes, bodies[at] ?? Buffer.alloc(0)) !== 0) throw new Error("other bytes came back");
  });
  return { up, down, ids, sha256: createHash("sha256").update(Buffer.concat(bodies)).digest("hex") };
}

/** Who wrote a file knows its statements to be true and need not verify them: this process has to. */
function openReader(settings: ClientSettings) {
  const child = spawn(process.execPath, ["--conditions=coffer-source", READER], { stdio: ["pipe", "pipe", "inherit"] });
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  const say = (line: unknown): boolean => child.stdin.write(`${JSON.stringify(line)}\n`);
  say(settings);
  return {
    /** Answers the files a second. */
    read: async (vault: ToRead["vault"], { ids: fileIds, sha256 }: Transferred): Promise<number> => {
      say({ vault, fileIds } satisfies ToRead);
      const answer = await answers.next();
      if (answer.done === true) throw new Error("the reader ended");
      const read = JSON.parse(answer.value) as Read;
      if (read.sha256 !== sha256) throw new Error("other bytes came back elsewhere");
      return read.rate;
    },
    [Symbol.asyncDispose]: () => stopChild(child),
  };
}

const FOLDER_FILES = 500;
/** Uploads one after the other take so much longer that fewer of them show their rate. */
const SINGLE_FILES = 100;
const FOLDER_ROUNDS = 7;

/** uploadFolder beside a loop of single uploads, and beside a bare loop that makes each file durable. */
async function byFolder(base: string, { clients, vaults }: SharedService): Promise<Comparison[]> {
  const store = fileStore(join(base, "store"));
  const whole = (kind: "public" | "shared") => async (round: number) => {
    const directory = makeFiles(join(base, `${kind}-${String(round)}`), FOLDER_FILES);
    const vaultId = vaults[kind];
    const { id: folderId } = await clients[kind].folders.create({ vaultId, name: `whole ${String(round)}` });
    return timed(async () => {
      const { failed, files } = await uploadFolder(clients[kind], directory, { vaultId, folderId, store });
      if (failed.length > 0 || files.length !== FOLDER_FILES) throw new Error("not all files were stored");
    });
  };
  const seconds = await inTurns(FOLDER_ROUNDS, {
    public: whole("public"),
    shared: whole("shared"),
    bare: async (round) => {
      const directory = makeFiles(join(base, `bare-${String(round)}`), FOLDER_FILES);
      return timed(() => storeBare(directory, `${directory}-stored`));
    },
    single: async (round) => {
      const directory = makeFiles(join(base, `single-${String(round)}`), SINGLE_FILES);
      const vaultId = vaults.public;
      const { id: folderId } = await clients.public.folders.create({ vaultId, name: `single ${String(round)}` });
      return timed(async () => {
        for (const name of names(SINGLE_FILES)) {
          const body = readFileSync(join(directory, name));
          await clients.public.files.upload({ vaultId, folderId, name, body });
        }
      });
    },
  });
  const ours = rates(FOLDER_FILES, seconds.public);
  const over = (title: string, of: readonly number[], peer: readonly number[]): Comparison => ({
    title: `uploadFolder of ${String(FOLDER_FILES)} files of 4 KiB, ${title}`,
    better: "higher",
    unit: UNIT,
    ours: of,
    peer,
  });
  return [
    over("over a loop of single uploads", ours, rates(SINGLE_FILES, seconds.single)),
    over("over a bare loop of write, fsync, rename, fsync of the directory", ours, rates(FOLDER_FILES, seconds.bare)),
    over("shared over public", rates(FOLDER_FILES, seconds.shared), ours),
  ];
}

function names(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `file-${String(at).padStart(4, "0")}.txt`);
}

/** New files of 4 KiB in a new directory, which is answered. */
export function makeFiles(directory: string, count: number): string {
  mkdirSync(directory);
  for (const name of names(count)) writeFileSync(join(directory, name), randomBytes(BYTES));
  return directory;
}

/** What durable storage costs without a service: no more can be expected of one commit for each file. */
async function storeBare(directory: string, target: string): Promise<void> {
  mkdirSync(target);
  const parent = openSync(target, "r");
  for (const name of names(FOLDER_FILES)) {
    const temporary = join(target, `${name}.part`);
    const file = openSync(temporary, "wx");
    writeSync(file, readFileSync(join(directory, name)));
    fsyncSync(file);
    closeSync(file);
    renameSync(temporary, join(target, name));
    fsyncSync(parent);
  }
  closeSync(parent);
}

/** Seconds. */
async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}
