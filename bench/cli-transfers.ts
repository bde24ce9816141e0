/** Lists and transfers of `coffer` beside those of rclone, in turns. */
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { uploadFolder } from "@coffer/sdk/node";
import { bundle } from "./bundle.ts";
import { openPeers } from "./cli-peers.ts";
import { missingTools, writeSample } from "./machine.ts";
import { measured, medianRatio, renderRatios, type Benchmark, type Outcome } from "./outcome.ts";

const FILES = 1000;
const BYTES = 4096;
const LIST_ROUNDS = 15;

/** A list of a thousand names, from the start of the program to its end. */
export const cliList: Benchmark = async () => {
  const name = "cli-list";
  const missing = missingTools("rclone");
  if (missing !== null) return { kind: "not measured", name, reason: missing };
  await using peers = await openPeers((served) => {
    makeFiles(served, "listed", FILES);
  });
  const { client, plain, publicVault, sharedVault } = peers.stack;
  const directory = makeFiles(peers.directory, "listed", FILES);
  await uploadFolder(plain, directory, { vaultId: publicVault, journalDirectory: join(peers.directory, "journals") });
  await uploadFolder(client, directory, { vaultId: sharedVault, journalDirectory: join(peers.directory, "journals") });
  const ways = {
    rclone: way(() => peers.rclone(["ls", ":webdav:listed"])),
    public: way(() => peers.coffer(["ls", `${publicVault}:`])),
    shared: way(() => peers.coffer(["ls", `${sharedVault}:`], true)),
  };
  await inTurns(Object.values(ways), LIST_ROUNDS);
  const [theirs, ours, closed] = [ways.rclone.seconds, ways.public.seconds, ways.shared.seconds];
  return measured({
    ...{ name, about: `coffer ls of ${String(FILES)} names over rclone ls on its own webdav`, unit: "x" },
    ...{ value: medianRatio(ours, theirs), limit: { at: "most", value: 2.5 } },
    series: { "coffer ls, public, s": ours, "coffer ls, shared, s": closed, "rclone ls, s": theirs },
    facts: { "public over rclone": renderRatios(ours, theirs), "shared over rclone": renderRatios(closed, theirs) },
  });
};

const SDK_PROGRAM = new URL("sdk-folder-client.ts", import.meta.url).pathname;
const FOLDER_ROUNDS = 9;
/** rclone paces itself: fewer files show its rate. */
const PEER_FILES = 150;

/** A directory of small files. */
export const cliFolder: Benchmark = async () => {
  const name = "cli-folder";
  const missing = missingTools("rclone");
  if (missing !== null) return { kind: "not measured", name, reason: missing };
  await using peers = await openPeers();
  const { plain, publicVault, settings, sharedVault } = peers.stack;
  const client = join(peers.directory, "client.mjs");
  await bundle(SDK_PROGRAM, client);
  const journalDirectory = join(peers.directory, "journals");
  const folderName = (): string => randomBytes(8).toString("hex");
  const fresh = freshFolders(peers.directory, FILES);
  const few = freshFolders(peers.directory, PEER_FILES);
  const ways = {
    running: way(async () => {
      const { id: folderId } = await plain.folders.create({ vaultId: publicVault, name: folderName() });
      const place = { vaultId: publicVault, folderId };
      const directory = fresh();
      const began = performance.now();
      const { failed } = await uploadFolder(plain, directory, { ...place, journalDirectory });
      if (failed.length > 0) throw new Error("not all files were stored");
      return (performance.now() - began) / 1000;
    }),
    program: way(async () =>
      peers.node([
        ...[client, settings.baseUrl, settings.apiKey, fresh(), publicVault, folderName(), journalDirectory],
      ]),
    ),
    public: way(() => peers.coffer(["upload", fresh(), "--vault", publicVault])),
    opener: way(() => peers.coffer(["upload", fresh(), "--vault", publicVault], true)),
    shared: way(() => peers.coffer(["upload", fresh(), "--vault", sharedVault], true)),
    rclone: way((round) => peers.rclone(["copy", few(), `:webdav:few-${String(round)}`])),
  };
  await inTurns(Object.values(ways), FOLDER_ROUNDS);
  return outcomeOfFolders(name, ways, peers.peak());
};

/** `opener`: somebody who has a chain key, for the shared vault beside it. */
type FolderWays = Readonly<Record<"opener" | "program" | "public" | "rclone" | "running" | "shared", Way>>;

function outcomeOfFolders(name: string, ways: FolderWays, peak: number): Outcome {
  const rate = (one: Way): number[] => rates(one.seconds, FILES);
  const [sdk, running, ours] = [rate(ways.program), rate(ways.running), rate(ways.public)];
  const [closed, opener] = [rate(ways.shared), rate(ways.opener)];
  const peer = rates(ways.rclone.seconds, PEER_FILES);
  const least = (value: number) => ({ at: "least", value }) as const;
  return measured({
    name,
    about: `coffer upload of a folder of ${String(FILES)} files of 4 KiB over a program that calls uploadFolder`,
    ...{ value: medianRatio(ours, sdk), unit: "x", limit: least(0.8) },
    alsoHeld: {
      "over rclone copy to its own webdav": { value: medianRatio(ours, peer), limit: least(20) },
      "shared over public": { value: medianRatio(closed, ours), limit: least(0.6) },
    },
    series: {
      "coffer upload, public, files/s": ours,
      "coffer upload, public, with a chain key, files/s": opener,
      "coffer upload, shared, files/s": closed,
      "a program that calls uploadFolder, public, files/s": sdk,
      "uploadFolder in a process that runs already, public, files/s": running,
      "rclone copy, files/s": peer,
    },
    facts: {
      "over the program": renderRatios(ours, sdk),
      "over uploadFolder in a process that runs already": renderRatios(ours, running),
      "over rclone": renderRatios(ours, peer),
      "shared over public": renderRatios(closed, ours),
      "shared over public with a chain key": renderRatios(closed, opener),
      "peak memory of coffer": `${peak.toFixed(0)} MiB`,
    },
  });
}

const MEBIBYTES = 1024;
/** Of uploads; each is downloaded twice. All of them need 18 GiB of the disk: Coffer keeps what it got. */
const FILE_ROUNDS = 3;

/** One large file there and back. */
export const cliFile: Benchmark = async () => {
  const name = "cli-file";
  const missing = missingTools("rclone");
  if (missing !== null) return { kind: "not measured", name, reason: missing };
  await using peers = await openPeers();
  const { publicVault, sharedVault } = peers.stack;
  const sample = join(peers.directory, "sample");
  writeSample(sample, MEBIBYTES);
  const got = join(peers.directory, "got");
  /** What `coffer download` answers is on the disk, and what rclone has written is on its way there. */
  const flushed: number[] = [];
  type Run = (words: readonly string[]) => Promise<number>;
  // Nobody waits for what another one left to be written.
  const settled = async (run: () => Promise<number>): Promise<number> => {
    await peers.settle();
    return await run();
  };
  const download = async (run: () => Promise<number>): Promise<number> => {
    const seconds = await settled(run);
    if (statSync(got).size !== MEBIBYTES * 1024 * 1024) throw new Error("the download was cut off");
    return seconds;
  };
  // Each way has a name of its own: the same content under the same name would not be sent again.
  const up = (vault: string, run: Run) =>
    way((round) => settled(() => run(["upload", sample, "--name", `large-${String(round)}`, "--vault", vault])));
  const down = (vault: string, run: Run) =>
    way(async (round) => {
      const seconds = await download(() => run(["download", `${vault}:large-${String(round)}`, got]));
      // What is there already would not be moved again.
      rmSync(got);
      return seconds;
    });
  const opener: Run = (words) => peers.coffer(words, true);
  const ways = {
    "rclone, up": way((round) => settled(() => peers.rclone(["copyto", sample, `:webdav:large-${String(round)}`]))),
    "rclone, down": way(async (round) => {
      const seconds = await download(() => peers.rclone(["copyto", `:webdav:large-${String(round)}`, got]));
      const synced = seconds + (await peers.flush(got));
      if (round > 0) flushed.push(synced);
      rmSync(got);
      return seconds;
    }),
    "public, up": up(publicVault, peers.coffer),
    "public, down": down(publicVault, peers.coffer),
    "shared, up": up(sharedVault, opener),
    "shared, down": down(sharedVault, opener),
  };
  const ups = [ways["rclone, up"], ways["public, up"], ways["shared, up"]];
  const downs = [ways["rclone, down"], ways["public, down"], ways["shared, down"]];
  for (let round = 0; round <= FILE_ROUNDS; round += 1)
    for (const one of [...inOrder(ups, round), ...downs, ...downs.toReversed()]) await one.next(round);
  return outcomeOfFiles(name, { ways, flushed, peak: peers.peak() });
};

type FileWays = Readonly<Record<`${"public" | "rclone" | "shared"}, ${"up" | "down"}`, Way>>;

interface FileRuns {
  readonly ways: FileWays;
  readonly flushed: readonly number[];
  readonly peak: number;
}

function outcomeOfFiles(name: string, { ways, flushed, peak }: FileRuns): Outcome {
  const rate = (title: keyof FileWays): number[] => rates(ways[title].seconds, MEBIBYTES);
  const over = (one: keyof FileWays, other: keyof FileWays): number => medianRatio(rate(one), rate(other));
  const least = (value: number) => ({ at: "least", value }) as const;
  return measured({
    name,
    about: `coffer upload of a file of ${String(MEBIBYTES)} MiB over rclone copyto to its own webdav`,
    ...{ value: over("public, up", "rclone, up"), unit: "x", limit: least(0.7) },
    alsoHeld: {
      "down, public over rclone": { value: over("public, down", "rclone, down"), limit: least(0.7) },
      "up, shared over public": { value: over("shared, up", "public, up"), limit: least(0.8) },
      "down, shared over public": { value: over("shared, down", "public, down"), limit: least(0.8) },
    },
    series: {
      ...Object.fromEntries(
        Object.entries(ways).map(([title, { seconds }]) => [`${title}, MiB/s`, rates(seconds, MEBIBYTES)]),
      ),
      "rclone, down, then sync FILE, MiB/s": rates(flushed, MEBIBYTES),
    },
    facts: {
      "down to the disk, public over rclone and sync FILE": renderRatios(
        rate("public, down"),
        rates(flushed, MEBIBYTES),
      ),
      "peak memory of coffer": `${peak.toFixed(0)} MiB`,
    },
  });
}

interface Way {
  /** Runs once. The first round warms caches and counts for nothing. */
  readonly next: (round: number) => Promise<void>;
  readonly seconds: readonly number[];
}

/** `run` answers the seconds that count. */
function way(run: (round: number) => Promise<number>): Way {
  const seconds: number[] = [];
  return {
    seconds,
    next: async (round) => {
      const taken = await run(round);
      if (round > 0) seconds.push(taken);
    },
  };
}

async function inTurns(ways: readonly Way[], rounds: number): Promise<void> {
  for (let round = 0; round <= rounds; round += 1) for (const one of inOrder(ways, round)) await one.next(round);
}

/** Each is the first one in turns. */
function inOrder(ways: readonly Way[], round: number): readonly Way[] {
  return round % 2 === 0 ? ways : ways.toReversed();
}

const rates = (seconds: readonly number[], count: number): number[] => seconds.map((each) => count / each);

function makeFiles(base: string, name: string, count: number): string {
  const directory = join(base, name);
  mkdirSync(directory);
  for (let at = 0; at < count; at += 1)
    writeFileSync(join(directory, `file-${String(at).padStart(4, "0")}.txt`), randomBytes(BYTES));
  return directory;
}

/** Each call makes another one. */
function freshFolders(base: string, count: number): () => string {
  let made = 0;
  return () => makeFiles(base, `tree-${String(count)}-${String((made += 1))}`, count);
}
