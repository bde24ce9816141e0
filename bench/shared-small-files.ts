import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { createInterface } from "node:readline";
import type { Client } from "@coffer/sdk";
import { LANES, rateOf } from "./lanes.ts";
import { processorSeconds, stopChild } from "./machine.ts";
import { measured, median, medianRatio, renderRatios, type Benchmark } from "./outcome.ts";
import { openScratch } from "./service.ts";
import type { Came, Wanted } from "./shared-small-files-reader.ts";
import { openSharedVaults, type SharedVaults } from "./shared-vaults.ts";

/** Of one burst, in each vault. The first of a burst are slower: the service looks at the chain, and connections open. */
const FILES = 300;
const ROUNDS = 20;
/** Rounds before them, while the code of all processes is compiled. They have ratios of their own, and no bound. */
const FIRST_ROUNDS = 4;
const BYTES = 4096;
const READER = new URL("shared-small-files-reader.ts", import.meta.url).pathname;

/** What one vault took, round by round. */
interface Taken {
  /** Files a second. */
  readonly up: number[];
  readonly down: number[];
  /** Read by a process that wrote nothing of it. */
  readonly elsewhere: number[];
  /** Processor time for a file, in milliseconds: of client and server there and back, and of the other process. */
  readonly client: number[];
  readonly server: number[];
  readonly reader: number[];
}

/** Many small files into and out of a shared vault, beside a public one: encryption must not be what limits them. */
export const sharedSmallFiles: Benchmark = async () => {
  await using scratch = await openScratch();
  await using stack = await openSharedVaults(scratch.directory);
  await using reader = openReader(stack);
  const vaults = [
    { kind: "public", by: stack.plain, vaultId: stack.publicVault, first: nothing(), then: nothing() },
    { kind: "shared", by: stack.client, vaultId: stack.sharedVault, first: nothing(), then: nothing() },
  ] as const;
  // The generation's key is made and opened once, before anything is measured.
  for (const { by, kind, vaultId } of vaults) await reader.read(kind, await transfer(by, vaultId, 20));
  const before = stack.keyRequests();
  for (let round = 0; round < FIRST_ROUNDS + ROUNDS; round += 1)
    // In turns, so that what else the machine does falls on both.
    for (const { by, kind, first, then, vaultId } of round % 2 === 0 ? vaults : [...vaults].reverse()) {
      const taken = round < FIRST_ROUNDS ? first : then;
      const [ours, theirs] = [process.cpuUsage(), processorSeconds(stack.service.pid)];
      const files = await transfer(by, vaultId, FILES);
      const { user, system } = process.cpuUsage(ours);
      taken.client.push((user + system) / 1000 / files.ids.length);
      taken.server.push(((processorSeconds(stack.service.pid) - theirs) * 1000) / files.ids.length);
      taken.up.push(files.up);
      taken.down.push(files.down);
      const came = await reader.read(kind, files);
      taken.elsewhere.push(came.rate);
      taken.reader.push(came.processor);
    }
  const meanwhile = stack.keyRequests().map((count, at) => count - (before[at] ?? 0));
  return outcomeOf(...vaults, { meanwhile, cold: await openAfresh(stack) });
};

interface Phases {
  readonly first: Taken;
  readonly then: Taken;
}

const both = ({ down, up }: Taken): number[] => up.map((rate, at) => 1 / (1 / rate + 1 / (down[at] ?? Number.NaN)));

function outcomeOf(
  { first: plainAtFirst, then: plainly }: Phases,
  { first: sharedAtFirst, then: shared }: Phases,
  requests: { readonly meanwhile: readonly number[]; readonly cold: readonly number[] },
) {
  // Beside the rates, which a busy machine changes: what the processes worked.
  const worked = (of: (taken: Taken) => string): string => `public ${of(plainly)}, shared ${of(shared)}`;
  const milliseconds = (values: readonly number[]): string => median(values).toFixed(2);
  return measured({
    name: "shared-small-files",
    about: `${String(FILES * ROUNDS)} files of 4 KiB in a shared vault, stored and read back, as a share of the rate in a public one`,
    value: medianRatio(both(shared), both(plainly)),
    unit: "x",
    limit: { at: "least", value: 0.75 },
    alsoHeld: {
      "down by another process, shared/public": {
        value: medianRatio(shared.elsewhere, plainly.elsewhere),
        limit: { at: "least", value: 0.6 },
      },
    },
    series: {
      "shared, uploads/s": shared.up,
      "public, uploads/s": plainly.up,
      "shared, downloads/s": shared.down,
      "public, downloads/s": plainly.down,
      "shared, downloads/s by another process": shared.elsewhere,
      "public, downloads/s by another process": plainly.elsewhere,
    },
    facts: {
      "both, shared/public": renderRatios(both(shared), both(plainly)),
      "up, shared/public": renderRatios(shared.up, plainly.up),
      "down, shared/public": renderRatios(shared.down, plainly.down),
      "down by another process, shared/public": renderRatios(shared.elsewhere, plainly.elsewhere),
      [`both, shared/public, of the first ${String(FILES * FIRST_ROUNDS)}`]: renderRatios(
        both(sharedAtFirst),
        both(plainAtFirst),
      ),
      [`down by another process, shared/public, of the first ${String(FILES * FIRST_ROUNDS)}`]: renderRatios(
        sharedAtFirst.elsewhere,
        plainAtFirst.elsewhere,
      ),
      "processor time for a file there and back, ms": worked(
        ({ client, server }) => `${milliseconds(client)} + ${milliseconds(server)}`,
      ).concat(" (client + server)"),
      "processor time of another process that reads it, ms": worked(({ reader }) => milliseconds(reader)),
      "requests to each key server, meanwhile": requests.meanwhile.join(", "),
      "requests to each key server, of a fresh client that lists and reads 100 files": requests.cold.join(", "),
      "files at once": String(LANES),
    },
  });
}

function nothing(): Taken {
  return { up: [], down: [], elsewhere: [], client: [], server: [], reader: [] };
}

interface Transferred {
  /** Uploads and downloads a second. */
  readonly up: number;
  readonly down: number;
  readonly ids: readonly string[];
  /** SHA-256 of all content in the order of the ids, hex. */
  readonly sha256: string;
}

async function transfer(client: Client, vaultId: string, count: number): Promise<Transferred> {
  const ids: string[] = [];
  const bodies = Array.from({ length: count }, () => randomBytes(BYTES));
  const up = await rateOf(count, async (at) => {
    const body = bodies[at] ?? Buffer.alloc(0);
    const { file } = await client.files.upload({ vaultId, name: `small-${randomBytes(8).toString("hex")}`, body });
    ids[at] = file.id;
  });
  const down = await rateOf(count, async (at) => {
    const bytes = await (await client.files.download(ids[at] ?? "")).bytes();
    if (Buffer.compare(bytes, bodies[at] ?? Buffer.alloc(0)) !== 0) throw new Error("other bytes came back");
  });
  return { up, down, ids, sha256: createHash("sha256").update(Buffer.concat(bodies)).digest("hex") };
}

/** Who wrote a file knows its statements to be true, and need not verify them: this client has to. */
function openReader({ settings }: SharedVaults) {
  const child = spawn(process.execPath, ["--conditions=coffer-source", READER], { stdio: ["pipe", "pipe", "inherit"] });
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  const say = (line: unknown): boolean => child.stdin.write(`${JSON.stringify(line)}\n`);
  say(settings);
  return {
    read: async (vault: Wanted["vault"], { ids: fileIds, sha256 }: Transferred): Promise<Came> => {
      say({ vault, fileIds } satisfies Wanted);
      const answer = await answers.next();
      if (answer.done === true) throw new Error("the reader ended");
      const came = JSON.parse(answer.value) as Came;
      if (came.sha256 !== sha256) throw new Error("other bytes came back elsewhere");
      return came;
    },
    [Symbol.asyncDispose]: () => stopChild(child),
  };
}

/** How often key servers are asked by somebody who meets the vault for the first time. */
async function openAfresh({ another, keyRequests, sharedVault }: SharedVaults): Promise<number[]> {
  const before = keyRequests();
  const client = another();
  const { files } = await client.files.list({ vaultId: sharedVault, limit: 100 });
  for (const { id } of files) await (await client.files.download(id)).bytes();
  return keyRequests().map((count, at) => count - (before[at] ?? 0));
}
