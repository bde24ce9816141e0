/**
 * Paths and races by the tools that touch local files: nothing outside the allowed folder is sent or told, and
 * nothing outside the folder for downloads is written, also while folders are exchanged for links and the user agrees to
 * everything. A thread of its own exchanges them.
 */
import { toRequest } from "@coffer/sdk";
import { createHash } from "node:crypto";
import { link, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { openFakeService, openToolsHere, type ServiceHere, type ToolsHere } from "../kit/tools-here.ts";

const SECRET = "THE SECRET OUTSIDE";
const ALLOWED = "what may be sent";
const ONLY_OUTSIDE = "only-outside.txt";
const SECRET_DIGEST = createHash("sha256").update(SECRET).digest("hex");

const base = makeDirectory();
const root = join(base, "root");
const downloads = join(root, "coffer");
const outside = join(base, "outside");
let service: ServiceHere;
let tools: ToolsHere;
let vaultId: string;
let fileId: string;
let folderId: string;
const treeFiles: string[] = [];
/** Bytes and names that left for the service. */
const sent: string[] = [];
/** What the model read. */
let told: string[] = [];

beforeAll(async () => {
  await mkdir(join(root, "sub", "deep"), { recursive: true });
  await mkdir(join(root, ".ssh"));
  await mkdir(join(root, "settings"));
  for (const name of ["links", "race"]) await mkdir(join(root, name));
  await mkdir(join(downloads, "sub", "deep"), { recursive: true });
  await mkdir(outside);
  await mkdir(join(base, "root-evil"));
  for (const name of ["secret.txt", "a.txt", "b.txt", ONLY_OUTSIDE]) await writeFile(join(outside, name), SECRET);
  await writeFile(join(base, "root-evil", "secret.txt"), SECRET);
  await writeFile(join(base, "secret.txt"), SECRET);
  for (const name of ["a.txt", "sub/b.txt", "sub/deep/a.txt", "sub/ü ñ.txt"])
    await writeFile(join(root, name), ALLOWED);
  for (const name of [".ssh/known_hosts", ".env", "server.pem", "settings/config.json"])
    await writeFile(join(root, name), SECRET);
  await symlink(outside, join(root, "link-out"));
  await symlink("sub", join(root, "link-in"));
  await symlink(join(outside, "secret.txt"), join(root, "link-file"));
  await symlink("/proc/self/environ", join(root, "link-proc"));
  await symlink(outside, join(downloads, "link-out"));
  await symlink("sub", join(downloads, "link-in"));
  await symlink("..", join(downloads, "link-up"));
  await symlink("../a.txt", join(downloads, "link-file"));
  service = await openFakeService();
  const watching = service.connect(async (outgoing, next) => {
    const request = toRequest(outgoing);
    if (request.method !== "GET") sent.push(Buffer.from(await request.clone().arrayBuffer()).toString("latin1"));
    return next(request);
  });
  vaultId = (await service.client.vaults.create({ name: "V", type: "public" })).id;
  folderId = (await service.client.folders.create({ vaultId, name: "tree" })).id;
  const below = await service.client.folders.create({ vaultId, name: "box", parentId: folderId });
  fileId = (await service.client.files.upload({ vaultId, name: "got.txt", body: "downloaded" })).file.id;
  for (const name of ["one.txt", "two.txt"])
    treeFiles.push(
      (await service.client.files.upload({ vaultId, folderId: below.id, name, body: "downloaded" })).file.id,
    );
  tools = await openToolsHere({
    client: watching,
    folders: [root],
    onAsked: () => ({ action: "accept", content: { confirm: true } }),
    parts: {
      folders: { folders: [root], denied: { folders: [join(root, "settings")], files: [] } },
    },
  });
});

async function call(tool: string, args: Record<string, unknown>): Promise<boolean> {
  const { facts, isError, text } = await tools.call(tool, args);
  told.push(text, JSON.stringify(facts));
  return !isError;
}

const IN_ROOT = [
  ...[".env", ".ssh", "a.txt", "coffer", "link-file", "link-in"],
  ...["link-out", "link-proc", "links", "race", "server.pem", "settings", "sub"],
];

/** Everything outside is as it was, nothing of it was sent or told. */
async function requireContained(): Promise<void> {
  expect((await readdir(outside)).toSorted()).toEqual(["a.txt", "b.txt", ONLY_OUTSIDE, "secret.txt"].toSorted());
  for (const name of await readdir(outside)) expect(await readFile(join(outside, name), "utf8")).toBe(SECRET);
  expect((await readdir(base)).toSorted()).toEqual(["outside", "root", "root-evil", "secret.txt"]);
  expect(await readdir(join(base, "root-evil"))).toEqual(["secret.txt"]);
  for (const name of [".ssh/known_hosts", ".env", "server.pem", "settings/config.json"])
    expect(await readFile(join(root, name), "utf8")).toBe(SECRET);
  expect(await readdir(join(root, ".ssh"))).toEqual(["known_hosts"]);
  expect(await readdir(join(root, "settings"))).toEqual(["config.json"]);
  expect((await readdir(root)).toSorted()).toEqual(IN_ROOT.toSorted());
  expect((await readdir(join(root, "sub"))).toSorted()).toEqual(["b.txt", "deep", "ü ñ.txt"]);
  for (const name of ["a.txt", "sub/b.txt", "sub/deep/a.txt", "sub/ü ñ.txt"])
    expect(await readFile(join(root, name), "utf8")).toBe(ALLOWED);
  for (const word of [SECRET, ONLY_OUTSIDE]) expect(sent.filter((each) => each.includes(word))).toEqual([]);
  for (const word of [SECRET, SECRET_DIGEST, ONLY_OUTSIDE, "root:x:0"])
    expect(told.filter((each) => each.includes(word)).slice(0, 3)).toEqual([]);
}

beforeEach(() => {
  sent.length = 0;
  told = [];
});

const piece = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      "..",
      ".",
      "",
      "sub",
      "deep",
      "root",
      "outside",
      "root-evil",
      "link-out",
      "link-in",
      "link-up",
      "coffer",
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom("link-file", "link-proc", ".ssh", ".SSH", "settings", "a.txt", "A.TXT", ".env", ".ENV "),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "known_hosts",
      "config.json",
      "server.pem",
      "SERVER.PEM",
      "ü ñ.txt",
      "u\u0308 n\u0303.txt",
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...[
        "%2e%2e",
        "..%2f",
        "..\\",
        "\u2025",
        "\uff0e\uff0e",
        "\u2024\u2024",
        ".. ",
        "...",
        "~",
        "~root",
        "C:",
        "C:\\",
      ],
      ...["\\\\?\\C:\\", "\\\\host\\share", "\\\\.\\pipe", "a.txt\0", "a.txt::$DATA", "CON", "aux.txt", "a.txt."],
      ...["\u202etxt.a", "\ufeffa.txt", "a\u200d.txt", "\ud800", "A".repeat(256), "ａ.txt", "ﬁle", "\u212a"],
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 12 }) },
);
const hostile = fc
  .tuple(
    fc.constantFrom(
      ...["", "/", "//", ".//", "file://", "file:///", "FILE:", "http://h/", "data:,", "root/", "ABS/", "ABS/root/"],
      ...[
        "ABS/outside/",
        "/proc/self/cwd/",
        "/proc/self/root/ABS/",
        "/proc/self/fd/3/",
        "/dev/fd/0/",
        "ABS/root/../",
        "ABS/root/coffer/",
      ],
    ),
    fc.array(piece, { maxLength: 6 }),
    fc.constantFrom("/", "//", "/./", "\\"),
    fc.constantFrom("", "", "a.txt", "b.txt", "secret.txt", "new.txt"),
  )
  .map(([start, pieces, joint, last]) => (start + [...pieces, last].join(joint)).replaceAll("ABS", base));

const PATHS = process.env["COFFER_TEST_COUNTS"] === "full" ? 6_000 : 300;

it(`${String(PATHS)} paths send, compare and replace nothing that is not allowed`, async () => {
  let turn = 0;
  await fc.assert(
    fc.asyncProperty(hostile, async (path) => {
      turn += 1;
      if (turn % 3 === 0) await call("file_upload", { paths: [path], vaultId, ifExists: "version" });
      else if (turn % 3 === 1) await call("file_verify", { file: fileId, path });
      else await call("file_download", { files: [fileId], dest: path, ifExists: turn % 2 === 0 ? "error" : "replace" });
      if (turn % 100 === 0) await requireContained();
    }),
    { numRuns: PATHS, examples: [["a.txt"], ["sub/b.txt"], [join(root, "link-in", "b.txt")]] },
  );
  await requireContained();
  expect(turn).toBe(PATHS);
});

it("a hard link is a file like any other, and a folder of links is sent without them", async () => {
  await symlink(outside, join(root, "links", "folder"));
  await symlink(join(outside, "secret.txt"), join(root, "links", "file"));
  await link(join(root, "a.txt"), join(root, "links", "same.txt"));
  await call("file_upload", { paths: ["links"], vaultId });
  expect(sent.filter((each) => each.includes("same.txt"))).not.toEqual([]);
  await requireContained();
});

interface Race {
  /** Calls before it ends. */
  readonly times: number;
  /** Whether it succeeded. */
  readonly act: (at: number) => Promise<boolean>;
}

/** While `place` becomes a link and a folder again. Calls that fail are as good as those that do not. */
async function whileExchanged(place: string, { times, act }: Race): Promise<void> {
  const ended = new SharedArrayBuffer(4);
  const worker = new Worker(new URL("../kit/exchanger.mjs", import.meta.url), {
    workerData: { place, away: `${place}-away`, outside, ended },
    execArgv: [],
  });
  const turns = new Promise<number>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  const outcomes = { done: 0, failed: 0 };
  try {
    for (let at = 0; at < times; at += 1) outcomes[(await act(at)) ? "done" : "failed"] += 1;
  } finally {
    Atomics.store(new Int32Array(ended), 0, 1);
  }
  expect(await turns).toBeGreaterThan(10);
  // The exchange met calls at work, and not only failures.
  expect(outcomes.done).toBeGreaterThan(0);
}

const timesOf = (full: number): number => (process.env["COFFER_TEST_COUNTS"] === "full" ? full : full / 3);

/** Where a place that is read or written lies. */
const raced = (name: string, isWritten: boolean): string => join(isWritten ? downloads : root, "race", name);

const RACES: Readonly<Record<string, { readonly place: string; readonly isWritten?: true; readonly race: Race }>> = {
  "a file is sent": {
    place: "up",
    race: {
      times: timesOf(1_200),
      act: () => call("file_upload", { paths: ["race/up/a.txt"], vaultId, ifExists: "version" }),
    },
  },
  "a file is compared": {
    place: "compare",
    race: { times: timesOf(1_200), act: () => call("file_verify", { file: fileId, path: "race/compare/a.txt" }) },
  },
  "a file is written": {
    place: "down",
    isWritten: true,
    race: {
      times: timesOf(800),
      act: (at) => call("file_download", { files: [fileId], dest: `race/down/got-${String(at)}.txt` }),
    },
  },
  "the folder itself is sent": {
    place: "whole",
    race: {
      times: timesOf(300),
      act: () => call("file_upload", { paths: ["race/whole"], vaultId, ifExists: "version" }),
    },
  },
  "the folder itself is planned": {
    place: "planned",
    race: {
      times: timesOf(300),
      act: (at) => call("file_upload", { paths: ["race/planned"], vaultId, folder: `p${String(at)}`, dryRun: true }),
    },
  },
  "a folder above is sent": {
    place: "above/box",
    race: {
      times: timesOf(300),
      act: () => call("file_upload", { paths: ["race/above"], vaultId, ifExists: "version" }),
    },
  },
  "a folder is written into it": {
    place: "into",
    isWritten: true,
    race: {
      times: timesOf(300),
      act: (at) => call("file_download", { folder: "tree", vaultId, dest: `race/into/t${String(at)}` }),
    },
  },
  "the folder itself is written over": {
    place: "onto/tree",
    isWritten: true,
    race: {
      times: timesOf(300),
      act: () => call("file_download", { folder: "tree", vaultId, dest: "race/onto", ifExists: "replace" }),
    },
  },
  "a folder is written over it": {
    place: "over/tree/box",
    isWritten: true,
    race: {
      times: timesOf(150),
      act: async (at) => {
        // There is something to write each time.
        for (const id of treeFiles)
          await service.client.files.replace(id, { body: `content ${String(at)}`, keep: false });
        return await call("file_download", { folder: "tree", vaultId, dest: "race/over", ifExists: "replace" });
      },
    },
  },
};

it.each(Object.entries(RACES))(
  "while its place is exchanged for a link, %s: never from or to the outside",
  async (_, { place, isWritten = false, race }) => {
    const folder = raced(place, isWritten);
    await mkdir(folder, { recursive: true });
    for (const name of ["a.txt", "b.txt"]) await writeFile(join(folder, name), ALLOWED);
    await whileExchanged(folder, race);
    await requireContained();
  },
);
