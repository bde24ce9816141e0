import type { Client, FoundFile, UploadInput } from "@coffer/sdk";
import { fileNames } from "@coffer/sdk/node";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { median, medianRatio, measured, type Benchmark } from "./outcome.ts";
import { openScratch } from "./service.ts";
import { openSharedVaults, type SharedVaults } from "./shared-vaults.ts";

const NAMES = 100_000;
/** Files that each query of a word finds. */
const HITS = 20;
const BUILDS = 3;
const ROUNDS = 40;
const WORDS = ["report", "invoice", "draft", "photo", "minutes", "contract"];

/** What is asked, as a person would. The last ones fit every name. */
const QUERIES: Readonly<Record<string, object>> = {
  word: { q: "zebracrossing" },
  infix: { q: "bracross" },
  "two words": { q: "report zebracrossing" },
  "nothing there": { q: "nowhere to be found" },
  type: { type: "application/x-needle" },
  "a word of every sixth name": { q: "report" },
  "a letter of every name": { q: "t", type: "text/" },
};

/**
 * Median time of `client.search` among 100,000 encrypted names once its index is there, of the slowest kind of query.
 * It is whole: with the questions to the chain and to the change feed. The first build stands beside a plain listing of
 * the same files by another fresh client, in turns. Beside the look itself is an array of the names with `includes`.
 */
export const localSearch: Benchmark = async () => {
  await using scratch = await openScratch();
  await using stack = await openSharedVaults(scratch.directory);
  const began = performance.now();
  await store(stack);
  const seeding = (performance.now() - began) / 1000;
  const directory = join(scratch.directory, "names");
  const vaultId = stack.sharedVault;
  const [lists, builds]: [number[], number[]] = [[], []];
  for (let at = 0; at < BUILDS; at += 1) {
    lists.push(await timed(() => listAll(stack.another(), vaultId)));
    const fresh = stack.another({ names: fileNames(join(directory, String(at))) });
    builds.push(await timed(() => searchWhole(fresh, vaultId)));
  }
  const [file = ""] = await readdir(join(directory, "0"));
  const { size } = await stat(join(directory, "0", file));
  const next = stack.another({ names: fileNames(join(directory, "0")) });
  const loading = await timed(() => searchWhole(next, vaultId));
  const names = Array.from({ length: NAMES }, (_, at) => inputOf(vaultId, at).name);
  const series: Record<string, number[]> = { "plain array, ms": [] };
  for (let at = 0; at < ROUNDS; at += 1) {
    for (const [kind, query] of Object.entries(QUERIES))
      (series[`${kind}, ms`] ??= []).push(await timed(() => next.search({ vaultId, limit: 20, ...query })));
    series["plain array, ms"]?.push(await timed(() => names.filter((name) => name.toLowerCase().includes("bracross"))));
  }
  const slowest = Math.max(...Object.values(series).map(median));
  return measured({
    name: "local-search",
    about: `median search among ${String(NAMES)} encrypted names, of the slowest kind of query`,
    value: slowest,
    unit: "ms",
    limit: { at: "most", value: 50 },
    alsoHeld: {
      "first build over a plain listing of the same files": {
        value: medianRatio(builds, lists),
        limit: { at: "most", value: 1.25 },
      },
    },
    series: { "listing, ms": lists, "first build, ms": builds, ...series },
    facts: {
      seeded: `${seeding.toFixed(0)} s`,
      "index on disk": `${(size / 2 ** 20).toFixed(1)} MiB`,
      "first search of the next process": `${loading.toFixed(0)} ms, the vault's keys included`,
    },
  });
};

async function timed(work: () => unknown): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function listAll(client: Client, vaultId: string): Promise<void> {
  let count = 0;
  for await (const page of client.files.list({ vaultId, limit: 1000 }).pages()) count += page.files.length;
  if (count !== NAMES) throw new Error(`listed ${String(count)} files of ${String(NAMES)}`);
}

async function searchWhole(client: Client, vaultId: string): Promise<void> {
  const found: FoundFile[] = [];
  for await (const file of client.search({ vaultId, q: "zebracrossing" }, { buildFor: 600_000 })) found.push(file);
  if (found.length !== HITS) throw new Error(`found ${String(found.length)} files of ${String(HITS)}`);
}

function inputOf(vaultId: string, at: number): UploadInput {
  const isNeedle = at % (NAMES / HITS) === 0;
  const word = WORDS[at % WORDS.length] ?? "";
  return {
    ...{ vaultId, body: "x", name: `${word} of Zürich ${String(at)}${isNeedle ? " zebracrossing" : ""}.txt` },
    contentType: isNeedle ? "application/x-needle" : "text/plain",
  };
}

/** By the client, as members do: names are encrypted and signed one by one. */
async function store({ client, sharedVault }: SharedVaults): Promise<void> {
  for (let from = 0; from < NAMES; from += 10_000) {
    const inputs = Array.from({ length: 10_000 }, (_, at) => inputOf(sharedVault, from + at));
    const failed = (await client.files.uploadMany(inputs)).flatMap(({ error }) => error ?? []);
    if (failed.length > 0) throw new Error(`${String(failed.length)} uploads failed`, { cause: failed[0] });
  }
}
