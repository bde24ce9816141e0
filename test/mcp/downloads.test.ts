/**
 * What a hostile text would have an agent write to disk: files that programs execute and agents obey. A model's downloads go
 * below one folder, replace nothing without the user's agreement, are never executable, and make no repository.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, lstat, mkdir, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import type { ServiceHere, ToolsHereOptions } from "../kit/tools-here.ts";
import { HOSTILE, openDownloadScene, treeOf, YES, type DownloadScene } from "./download-scene.ts";

let service: ServiceHere;
let vaultId: string;
let project: string;
let downloads: string;
let open: DownloadScene["open"];
let store: DownloadScene["store"];
let place: DownloadScene["place"];

beforeEach(async () => {
  ({ service, vaultId, project, downloads, open, store, place } = await openDownloadScene());
});

describe("a folder that is a bare Git repository [issue 46.5]", () => {
  /** Runs `git status` as a prompt or an editor does, wherever its user may stand. */
  async function gitStatusBelow(folder: string): Promise<void> {
    const env = { PATH: process.env["PATH"], GIT_CONFIG_NOSYSTEM: "1", HOME: makeDirectory() };
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
    for (const cwd of [folder, ...folders])
      try {
        execFileSync("git", ["status"], { cwd, env, stdio: "ignore" });
      } catch {
        // It is no repository.
      }
  }

  /** Its configuration runs a command. */
  async function storeRepository(): Promise<string> {
    const mark = join(makeDirectory(), "ran");
    const core = ["repositoryformatversion = 0", "bare = false", "worktree = .", `fsmonitor = "touch ${mark}; false"`];
    await store("repo/HEAD", "ref: refs/heads/main\n");
    await store("repo/config", `[core]\n${core.map((line) => `\t${line}\n`).join("")}`);
    for (const path of ["repo/objects/keep", "repo/refs/keep"]) await store(path);
    return mark;
  }

  it("runs no command on git status [L3]", async () => {
    const mark = await storeRepository();
    await using tools = await open();
    const { facts } = await tools.call("file_download", { folder: "repo", vaultId, dest: "repo" });
    await gitStatusBelow(project);
    expect(existsSync(mark)).toBe(false);
    // What is left out is told.
    expect(facts).toMatchObject({ created: 3, skipped: 1 });
    expect(JSON.stringify(facts["rows"])).toContain("HEAD");
  });

  it.each([
    ["its HEAD last", ["config", "objects", "refs", "HEAD"]],
    ["its HEAD first", ["HEAD", "config", "objects", "refs"]],
  ])("runs none either that becomes one by several downloads, %s [L3]", async (_, order) => {
    const mark = await storeRepository();
    await using tools = await open();
    // A first file makes the folder.
    const first = await store("first.txt");
    const second = await store("second.txt");
    await tools.call("file_download", { files: [first, second], dest: "made" });
    const codes: (string | null)[] = [];
    for (const name of order) {
      const what = /^[a-z]+s$/.test(name) ? { folder: `repo/${name}` } : { files: [`repo/${name}`] };
      codes.push((await tools.call("file_download", { ...what, vaultId, dest: `made/${name}` })).code);
    }
    await gitStatusBelow(project);
    expect(existsSync(mark)).toBe(false);
    expect(codes).toEqual(order.map((name) => (name === "HEAD" ? "config_file" : null)));
  });

  it.each([
    ["a bare repository", "mine", ["HEAD", "objects/keep", "refs/keep"]],
    ["a folder of a worktree", "mine", ["commondir"]],
    ["a clone", "mine", [".git/HEAD"]],
    ["a clone by another spelling", "mine", [".GIT/HEAD"]],
    ["a folder that is linked to a repository", "mine", [".git"]],
  ])("that is the user's own, %s, gets nothing [L3]", async (_, folder, files) => {
    for (const file of files) await place(join("coffer", folder, file), "x");
    await mkdir(join(downloads, folder, "hooks"));
    const id = await store("post-commit", "#!/bin/sh\n");
    await store("tree/hooks/post-checkout", "#!/bin/sh\n");
    const before = await treeOf(downloads);
    await using tools = await open();
    for (const dest of [`${folder}/config`, `${folder}/hooks/post-commit`, `${folder}/hooks`, folder]) {
      const answer = await tools.call("file_download", { files: [id], dest });
      expect([dest, answer.code]).toEqual([dest, "config_file"]);
    }
    const { facts } = await tools.call("file_download", { folder: "tree", vaultId, dest: "." });
    expect(facts).toMatchObject({ created: 1 });
    await tools.call("file_download", { folder: "tree/hooks", vaultId, dest: folder });
    expect((await treeOf(downloads)).filter((path) => !path.startsWith("tree"))).toEqual(before);
  });

  it("is not made beside a folder of the user's that is called HEAD, which is none of Git's", async () => {
    await place("coffer/Head/scan.txt", "x");
    await using tools = await open();
    expect((await tools.call("file_download", { files: [await store("a.txt")], dest: "." })).code).toBeNull();
  });

  it("is not opened by the flag that lifts the list of names", async () => {
    const id = await store("HEAD", "ref: refs/heads/main\n");
    await using tools = await open({
      parts: { folders: { folders: [project], denied: { folders: [], files: [], allowConfigFiles: true } } },
    });
    expect((await tools.call("file_download", { files: [id], dest: "." })).code).toBe("config_file");
    expect((await tools.call("file_download", { files: [id], dest: "CLAUDE.md" })).code).toBeNull();
  });
});

describe("names in every spelling that some file system reads alike [issue 46.5]", () => {
  const OF_GIT = [
    ...[".git", ".GIT", ".Git", ".g\u200cit", ".gi\u00adt", "\uff0egit", ".g\u2170t", ".g\u0131t", "\u2024git"],
    ...[".git.", ".git ", ".git . .", ".git::$INDEX_ALLOCATION", ".git:x", "git~1", "GIT~1", "GIT~4", "GI7EBA~1"],
    ...["HEAD", "head", "Head", "HEAD.", "HEAD ", "\uff28\uff25\uff21\uff24", "HE\u2060AD", "HEAD::$DATA"],
    ...["commondir", "CommonDir", "commondir.", "COMMON~1", "gitdir", "GITDIR", "g\u0131tdir", "GitDir:x"],
  ];
  const OBEYED = [
    ...["CLAUDE.md", "claude.MD", "CLAUDE.md.", "\uff23LAUDE.md", "CLAUDE\u200b.md", "CLA\u00adUDE.md", "CLAUDE.md:x"],
    ...[
      "CLAUDE~1.MD",
      ".GITCONFIG",
      ".gitcon\ufb01g",
      ".hg",
      ".jj",
      "\u24d0gents.md",
      "authorized_\u212aeys",
      "\u017fkill.md",
    ],
  ];

  it.each([...OF_GIT, ...OBEYED].map((name) => [JSON.stringify(name), name]))(
    "%s is not made [L3 L4]",
    async (_, name) => {
      const id = await store("a.txt");
      await store("tree/b.txt");
      await using tools = await open();
      // Some look like an address, which no path is.
      const refused = /^\w[\w.]+:/.test(name) ? "path_not_allowed" : "config_file";
      expect((await tools.call("file_download", { files: [id], dest: name })).code).toBe(refused);
      // Neither as a folder.
      expect((await tools.call("file_download", { folder: "tree", vaultId, dest: name })).code).toBe(refused);
      expect(await treeOf(downloads)).toEqual([]);
    },
  );

  it("ordinary names are made", async () => {
    const id = await store("a.txt");
    await using tools = await open();
    const names = [
      "git",
      "heads",
      "HEAD.txt",
      "header",
      "gitdir.md",
      "notes~1.5.txt",
      "12:30 plan.txt",
      "überblick.md",
    ];
    for (const dest of [...names, ".hidden", "report~draft.txt", "a~12345678.txt", "git-notes"])
      expect([dest, (await tools.call("file_download", { files: [id], dest })).code]).toEqual([dest, null]);
  });
});

it("no download is executable, whatever it replaces [issue 46.5 L3]", async () => {
  for (const path of ["run.sh", "more.sh", "tree/run.sh", "tree/below/new.sh"]) await store(path, "#!/bin/sh\nnew\n");
  for (const path of ["run.sh", "tree/run.sh"]) await chmod(await place(`coffer/${path}`, "#!/bin/sh\n"), 0o755);
  await using tools = await open({ onAsked: () => YES });
  for (const wish of [
    { files: ["run.sh"], dest: "." },
    { files: ["run.sh", "more.sh"], dest: "both" },
    { files: ["run.sh"], dest: "part.sh", offset: 2, length: 3 },
    { folder: "tree", dest: "." },
  ])
    expect((await tools.call("file_download", { ...wish, vaultId, ifExists: "replace" })).code).toBeNull();
  const files = await treeOf(downloads);
  expect(files).toEqual(["both/more.sh", "both/run.sh", "part.sh", "run.sh", "tree/below/new.sh", "tree/run.sh"]);
  for (const file of files) expect([file, (await lstat(join(downloads, file))).mode & 0o777]).toEqual([file, 0o600]);
});

it("a text that gives an agent orders writes new files that a program obeys whose user starts it there [L4]", async () => {
  await store("tree/package.json", HOSTILE);
  await using tools = await open();
  await tools.call("file_download", { folder: "tree", vaultId, dest: "." });
  expect(await treeOf(project)).toEqual(["coffer/tree/package.json", "package.json"]);
});

describe("the folder for downloads [issue 46.5]", () => {
  const get = async (options: Partial<ToolsHereOptions>) => {
    const dest = "a.txt";
    await using tools = await open(options);
    const { facts } = await tools.call("status_check");
    const stored = await service.client.files.list({ vaultId });
    const [{ id } = { id: await store("a.txt") }] = stored.files;
    const { code } = await tools.call("file_download", { files: [id], dest });
    return { folder: facts["downloadsFolder"], step: facts["downloadsStep"], code };
  };

  it("is coffer in the first allowed folder, for its owner alone, and status_check says so", async () => {
    const step = expect.stringMatching(/relative.*user can move.*--downloads DIR/) as string;
    expect(await get({})).toEqual({ folder: downloads, step, code: null });
    expect((await lstat(downloads)).mode & 0o777).toBe(0o700);
    expect(await treeOf(project)).toEqual(["coffer/a.txt", "package.json"]);
  });

  it.each(["legacy", { pin: "2026-07-28" }] as const)("follows the client's roots (%j) [L1]", async (era) => {
    const root = join(project, "sub");
    await mkdir(root);
    const { code, folder } = await get({ era, roots: [root] });
    expect([code, folder]).toEqual([null, join(root, "coffer")]);
    expect(await treeOf(project)).toEqual(["package.json", "sub/coffer/a.txt"]);
    // Inside of a repository there is no place for it.
    expect((await get({ era, roots: [join(project, ".git")] })).code).toBe("config_file");
    const elsewhere = { era, roots: [makeDirectory()] };
    expect((await get({ ...elsewhere, launch: { roots: "only" } })).code).toBe("path_not_allowed");
    expect((await get(elsewhere)).folder).toBe(downloads);
  });

  it.each(["legacy", { pin: "2026-07-28" }] as const)(
    "and status_check names the ignored ones (%j) [issue 48]",
    async (era) => {
      const root = await realpath(makeDirectory());
      await using tools = await open({ era, roots: [root] });
      const { facts } = await tools.call("status_check");
      expect(facts["allowedFolders"]).toEqual([project]);
      expect(JSON.stringify(facts["ignoredRoots"])).toContain(root);
      await using strict = await open({ era, roots: [root], launch: { roots: "only" } });
      expect((await strict.call("status_check")).facts).toMatchObject({
        allowedFolders: [],
        folderStep: expect.stringContaining("without --roots only") as string,
      });
      const refused = await strict.call("file_upload", { paths: ["package.json"], vaultId });
      expect(refused.text).toContain("The client's roots lie outside the allowed folders");
    },
  );

  it.each(["legacy", { pin: "2026-07-28" }] as const)("is the same while its user is asked (%j)", async (era) => {
    await store("a.txt", "new");
    await place("sub/coffer/a.txt", "old");
    await using tools = await open({ era, roots: [join(project, "sub")], onAsked: () => YES });
    const wanted = { files: ["a.txt"], vaultId, dest: ".", ifExists: "replace" };
    expect((await tools.call("file_download", wanted)).code).toBeNull();
    expect(await readFile(join(project, "sub", "coffer", "a.txt"), "utf8")).toBe("new");
  });

  it("is the one that the user named, wherever it is, and is read only if it is allowed, too [L1]", async () => {
    const named = join(makeDirectory(), "inbox");
    const roots = [join(project, "none")];
    expect(await get({ launch: { downloads: named }, roots })).toMatchObject({ folder: named, code: null });
    await using tools = await open({ launch: { downloads: named } });
    expect(await treeOf(named)).toEqual(["a.txt"]);
    const sent = await tools.call("file_upload", { paths: [join(named, "a.txt")], vaultId });
    expect(sent.code).toBe("path_not_allowed");
    expect((await tools.call("file_download", { files: ["a.txt"], vaultId, dest: project })).code).toBe(
      "path_not_allowed",
    );
    expect((await get({ launch: { downloads: join(named, "no", "where") } })).code).toBe("path_not_allowed");
  });

  it("is none without an allowed folder", async () => {
    expect(await get({ folders: [] })).toEqual({ folder: undefined, step: undefined, code: "path_not_allowed" });
  });

  it.each([
    ["a link to the repository", () => symlink(".git", downloads)],
    ["a link to the project", () => symlink(".", downloads)],
    ["a link to nowhere", () => symlink("../nowhere", downloads)],
    ["a file", () => writeFile(downloads, "x")],
  ])("is not used where it is %s [L1]", async (_, make) => {
    await make();
    expect((await get({})).code).toBe("path_not_allowed");
    expect((await get({ launch: { downloads } })).code).toBe("path_not_allowed");
    expect((await get({ launch: { downloads: join(project, ".git", "hooks") } })).code).toBe("config_file");
    await rm(downloads);
    expect(await treeOf(project)).toEqual(["package.json"]);
  });
});
