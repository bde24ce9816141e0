/** `coffer` beside a Node program with nothing in it, and beside rclone: from the start of the program to its end. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { missingTools, openScratch, secondsOf } from "./machine.ts";
import { inTurns, ratioOf, rates, type Benchmark, type Comparison, type Skipped, type Way } from "./ratio.ts";
import { startRclone } from "./rclone.ts";
import { startSharedService } from "./service.ts";
import { makeFiles } from "./small-files.ts";

const START_ROUNDS = 30;
const LIST_ROUNDS = 12;
const FILES = 1000;
const FOLDER_ROUNDS = 7;
/** rclone paces itself: fewer files show its rate. */
const PEER_FILES = 100;

export const commandLine: Benchmark = async () => {
  await using scratch = await openScratch();
  const { directory } = scratch;
  await using stack = await startSharedService(directory);
  const { coffer, vaults } = stack;
  await using peers = new AsyncDisposableStack();
  const missing = missingTools("rclone");
  const listed = makeFiles(join(directory, "listed"), FILES);
  for (const kind of ["public", "shared"] as const)
    await coffer(["upload", listed, "--vault", vaults[kind]], kind === "shared");
  const served = (root: string): void => void makeFiles(join(root, "listed"), FILES);
  const rclone = missing === null ? peers.use(await startRclone(join(directory, "webdav"), served)) : null;

  const empty = join(directory, "empty.mjs");
  writeFileSync(empty, "");
  const starts = await inTurns(START_ROUNDS, {
    empty: () => secondsOf(process.execPath, [empty]),
    help: () => coffer(["--help"]),
    version: () => coffer(["version"]),
  });
  const fresh = (kind: string, round: number, count = FILES): string =>
    makeFiles(join(directory, `${kind}-${String(round)}`), count);
  const listWays: Record<string, Way> = {
    public: () => coffer(["ls", `${vaults.public}:listed`]),
    shared: () => coffer(["ls", `${vaults.shared}:listed`], true),
  };
  const folderWays: Record<string, Way> = {
    public: (round) => coffer(["upload", fresh("public", round), "--vault", vaults.public]),
    shared: (round) => coffer(["upload", fresh("shared", round), "--vault", vaults.shared], true),
  };
  if (rclone !== null) {
    listWays["rclone"] = () => rclone.run(["ls", ":webdav:listed"]);
    folderWays["rclone"] = (round) =>
      rclone.run(["copy", fresh("rclone", round, PEER_FILES), `:webdav:few-${String(round)}`]);
  }
  const lists = await inTurns(LIST_ROUNDS, listWays);
  const folders = await inTurns(FOLDER_ROUNDS, folderWays);

  const comparisons: Comparison[] = [
    timeOf("coffer --help over an empty Node program", starts.help, starts.empty),
    timeOf("coffer version over an empty Node program", starts.version, starts.empty),
    timeOf(`coffer ls of ${String(FILES)} names, shared over public`, lists["shared"], lists["public"]),
    rateOf("coffer upload of a folder, shared over public", rates(FILES, folders["shared"] ?? []), folders["public"]),
  ];
  const skipped: Skipped[] = [];
  const listTitle = `coffer ls of ${String(FILES)} names over rclone ls`;
  const folderTitle = "coffer upload of a folder over rclone copy, in files a second";
  if (missing !== null) {
    for (const title of [listTitle, folderTitle]) skipped.push({ title, reason: missing });
    return { comparisons, skipped };
  }
  comparisons.push(timeOf(listTitle, lists["public"], lists["rclone"]));
  // rclone waits between its requests, so this moves with the machine: it is shown, and not compared.
  const { ratio } = ratioOf({
    ours: rates(FILES, folders["public"] ?? []),
    peer: rates(PEER_FILES, folders["rclone"] ?? []),
  });
  return { comparisons, facts: { [folderTitle]: String(ratio) } };
};

function timeOf(title: string, ours: readonly number[] = [], peer: readonly number[] = []): Comparison {
  return { title, better: "lower", unit: "s", ours, peer };
}

function rateOf(title: string, ours: readonly number[], peerSeconds: readonly number[] = []): Comparison {
  return { title, better: "higher", unit: "files/s", ours, peer: rates(FILES, peerSeconds) };
}
