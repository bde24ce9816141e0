import { execFileSync } from "node:child_process";
import { link, mkdir, realpath, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { TaskFailure, toFailure } from "../failure.ts";
import { contains, resolvePath, narrowByRoots, resolveFolders, type AllowedFolders } from "./allowed-folders.ts";
import { openDestination, openSource, type SourceFile } from "./local-files.ts";

const CASES = process.env["COFFER_TEST_COUNTS"] === "full" ? 10_000 : 1_000;

const base = makeDirectory();
let allowed: AllowedFolders;

beforeAll(async () => {
  const at = (...parts: string[]) => join(base, ...parts);
  await mkdir(at("root", "sub", "deep"), { recursive: true });
  await mkdir(at("root", ".ssh"));
  await mkdir(at("root", "settings"));
  await mkdir(at("outside", "nest"), { recursive: true });
  await mkdir(at("root-evil"));
  for (const file of ["root/a.txt", "root/sub/b.txt", "root/sub/deep/ü ñ.txt", "root/.env.example"])
    await writeFile(at(file), "ALLOWED");
  for (const file of [
    "root/.ssh/id_ed25519",
    "root/.ssh/known_hosts",
    "root/.env",
    "root/sub/.ENV",
    "root/server.pem",
    "root/settings/config.json",
  ]) {
    await writeFile(at(file), "SECRET");
  }
  for (const file of ["outside/secret.txt", "outside/nest/secret.txt", "root-evil/secret.txt", "secret.txt"])
    await writeFile(at(file), "SECRET");
  await symlink("../outside", at("root", "link-out"));
  await symlink(at("outside", "secret.txt"), at("root", "link-file"));
  await symlink("sub", at("root", "link-in"));
  await symlink("a.txt", at("root", "link-a"));
  await symlink(".ssh", at("root", "link-ssh"));
  execFileSync("mkfifo", [at("root", "pipe")]);
  allowed = {
    ...(await resolveFolders([at("root")])),
    denied: { folders: [at("root", "settings")], files: [] },
  };
});

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "opened";
  } catch (error) {
    if (error instanceof TaskFailure) return error.code;
    throw error;
  }
}

async function contentOf(source: SourceFile): Promise<string> {
  const handle = await source.reopen();
  try {
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

async function readSource(path: string): Promise<string> {
  await using source = await openSource(allowed, path);
  return await contentOf(source);
}

describe("openSource", () => {
  it.each([
    ["a.txt", "ALLOWED"],
    ["sub/../a.txt", "ALLOWED"],
    ["link-in/b.txt", "ALLOWED"],
    [".env.example", "ALLOWED"],
  ])("reads %s inside the folder", async (path, content) => {
    expect(await readSource(path)).toBe(content);
    expect(await readSource(join(base, "root", path))).toBe(content);
  });

  it.each([
    ["../secret.txt", "path_not_allowed"],
    ["../root-evil/secret.txt", "path_not_allowed"],
    ["link-out/secret.txt", "path_not_allowed"],
    ["link-file", "path_not_allowed"],
    ["link-a", "path_not_allowed"],
    ["link-ssh/known_hosts", "path_not_allowed"],
    [".ssh/id_ed25519", "path_not_allowed"],
    [".env", "path_not_allowed"],
    ["sub/.ENV", "path_not_allowed"],
    ["server.pem", "path_not_allowed"],
    ["settings/config.json", "path_not_allowed"],
    ["/etc/passwd", "path_not_allowed"],
    ["/proc/self/environ", "path_not_allowed"],
    ["file:///etc/passwd", "path_not_allowed"],
    ["~/x", "path_not_allowed"],
    ["a.txt\0.png", "path_not_allowed"],
    ["", "path_not_allowed"],
    ["../nowhere/x", "path_not_allowed"],
    ["nowhere/x", "file_not_found"],
    ["nowhere.txt", "file_not_found"],
    ["sub", "not_a_file"],
    ["pipe", "not_a_file"],
    [".", "not_a_file"],
  ])("refuses %j with %s", async (path, code) => {
    expect(await codeOf(openSource(allowed, path))).toBe(code);
  });

  it("says the same of what exists and what does not, outside", async () => {
    const there = await openSource(allowed, join(base, "outside", "secret.txt")).catch((error: unknown) => error);
    const absent = await openSource(allowed, join(base, "outside", "none.txt")).catch((error: unknown) => error);
    expect(String(there)).toBe(String(absent));
  });

  it("without any folder allows nothing", async () => {
    expect(await codeOf(openSource({ ...allowed, folders: [] }, join(base, "root", "a.txt")))).toBe("path_not_allowed");
  });

  it("reads the judged file even when its name is given to another", async () => {
    await writeFile(join(base, "root", "swap.txt"), "ALLOWED");
    await using source = await openSource(allowed, "swap.txt");
    await rm(join(base, "root", "swap.txt"));
    await link(join(base, "outside", "secret.txt"), join(base, "root", "swap.txt"));
    const content = await contentOf(source).catch((error: unknown) => toFailure(error).code);
    await rm(join(base, "root", "swap.txt"));
    expect(["ALLOWED", "source_changed"]).toContain(content);
  });
});

describe("openDestination", () => {
  it.each([
    ["new.txt", "opened"],
    ["sub/new.txt", "opened"],
    ["a.txt", "destination_exists"],
    ["link-file", "path_not_allowed"],
    ["link-out/new.txt", "path_not_allowed"],
    [".ssh/authorized_keys", "path_not_allowed"],
    [".env", "path_not_allowed"],
    ["settings/config.json.tmp", "path_not_allowed"],
    ["../new.txt", "path_not_allowed"],
    ["nowhere/new.txt", "file_not_found"],
    ["sub", "not_a_file"],
    ["pipe", "not_a_file"],
  ])("answers %j with %s", async (path, code) => {
    const work = openDestination(allowed, path, false).then((place) => place[Symbol.asyncDispose]());
    expect(await codeOf(work)).toBe(code);
  });

  it("replaces a regular file only when told", async () => {
    await using place = await openDestination(allowed, "a.txt", true);
    expect(place.path).toBe(join(base, "root", "a.txt"));
  });

  it("writes into the judged folder even when the folder's name is given to a symlink", async () => {
    await mkdir(join(base, "root", "inbox"));
    const place = await openDestination(allowed, "inbox/new.txt", false);
    await rename(join(base, "root", "inbox"), join(base, "root", "inbox-moved"));
    await symlink(join(base, "outside"), join(base, "root", "inbox"));
    if (process.platform === "linux") await writeFile(place.writePath, "x");
    await place[Symbol.asyncDispose]();
    await expect(stat(join(base, "outside", "new.txt"))).rejects.toThrow("ENOENT");
    await rm(join(base, "root", "inbox"));
    await rm(join(base, "root", "inbox-moved"), { recursive: true });
  });
});

describe("roots of the client", () => {
  const root = (...parts: string[]) => pathToFileURL(join(base, ...parts)).href;

  it.each(["narrow", "only"] as const)("only narrow (%s)", async (mode) => {
    const narrowed = async (...uris: string[]) => (await narrowByRoots(allowed, uris, mode)).folders;
    expect(await narrowed(root("root", "sub"))).toEqual([join(base, "root", "sub")]);
    expect(await narrowed(root("root", "sub"), root("outside"))).toEqual([join(base, "root", "sub")]);
    expect(await narrowed(root())).toEqual([join(base, "root")]);
    expect(await narrowed()).toEqual(allowed.folders);
    const elsewhere = mode === "narrow" ? allowed.folders : [];
    expect(await narrowed(root("outside"))).toEqual(elsewhere);
    expect(await narrowed("https://example.org/", root("none"))).toEqual(elsewhere);
  });

  it("leave the folders that they do not touch, and those that lie elsewhere are named [issue 48]", async () => {
    const both = { ...allowed, folders: [join(base, "root"), join(base, "outside")] };
    const uris = [root("root", "sub"), root("none"), "https://example.org/"];
    expect(await narrowByRoots(both, uris)).toMatchObject({
      folders: [join(base, "root", "sub"), join(base, "outside")],
      ignoredRoots: [root("none"), "https://example.org/"],
    });
    expect((await narrowByRoots(both, uris, "only")).folders).toEqual([join(base, "root", "sub")]);
    const elsewhere = await narrowByRoots(allowed, [root("outside")]);
    expect(elsewhere).toMatchObject({ folders: allowed.folders, ignoredRoots: [join(base, "outside")] });
    const none = await narrowByRoots(allowed, [root("outside")], "only");
    await expect(resolvePath(none, "x")).rejects.toThrow(/client's roots lie outside/);
  });
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
      "nest",
      "root-evil",
      "link-out",
      "link-in",
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      "link-file",
      "link-a",
      "link-ssh",
      ".ssh",
      "settings",
      "a.txt",
      "b.txt",
      "secret.txt",
      ".env",
      ".ENV",
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "id_ed25519",
      "config.json",
      "server.pem",
      "known_hosts",
      "pipe",
      "ü ñ.txt",
      "u\u0308 n\u0303.txt",
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "%2e%2e",
      "..%2f",
      "..\\",
      "\u2025",
      "\uff0e\uff0e",
      ".. ",
      "...",
      "~",
      "C:",
      "\\\\?\\",
      "a.txt\0",
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 12 }) },
);
const hostilePath = fc
  .tuple(
    fc.constantFrom(
      "",
      "/",
      "//",
      ".//",
      "file://",
      "root/",
      "ABS/",
      "ABS/root/",
      "/proc/self/cwd/",
      "/proc/self/root/ABS/",
    ),
    fc.array(piece, { maxLength: 6 }),
    fc.constantFrom("/", "//", "/./"),
    fc.constantFrom("", "", "a.txt", "b.txt", "secret.txt"),
  )
  .map(([start, pieces, joint, last]) => start + [...pieces, last].join(joint));

describe(`path fuzz, ${String(CASES)} cases each`, () => {
  it("never reads what lies outside or is denied", async () => {
    let opened = 0;
    await fc.assert(
      fc.asyncProperty(hostilePath, async (template) => {
        const path = template.replaceAll("ABS", base);
        const content = await readSource(path).catch(refused);
        if (content === null) return;
        opened += 1;
        expect(content).toBe("ALLOWED");
      }),
      { numRuns: CASES, examples: [["a.txt"], ["sub/b.txt"], ["ABS/root/link-in/b.txt"]] },
    );
    // At least the examples: chance may come upon no other.
    expect(opened).toBeGreaterThanOrEqual(3);
  });

  it("never hands out a place outside or denied", async () => {
    let opened = 0;
    await fc.assert(
      fc.asyncProperty(hostilePath, fc.boolean(), async (template, overwrite) => {
        const path = template.replaceAll("ABS", base);
        const place = await openDestination(allowed, path, overwrite).catch(refused);
        if (place === null) return;
        opened += 1;
        const folder = await realpath(join(place.writePath, ".."));
        await place[Symbol.asyncDispose]();
        expect(contains(join(base, "root"), folder)).toBe(true);
        expect(place.path).not.toMatch(/\/\.ssh\/|root\/settings|\.env$|\.pem$/i);
      }),
      { numRuns: CASES },
    );
    expect(opened).toBeGreaterThan(CASES / 500);
  });

  it("a folder that is exchanged for a symlink all the time never lets a read out", async () => {
    const box = join(base, "root", "box");
    const away = join(base, "root", "away");
    await mkdir(box);
    await writeFile(join(box, "secret.txt"), "ALLOWED");
    const done = new AbortController();
    const exchange = async (): Promise<void> => {
      for (let turn = 0; !done.signal.aborted; turn += 1) {
        // Rests of different length, so that every moment of a read meets the exchange.
        for (let rest = turn % 9; rest > 0; rest -= 1) await stat(box);
        await rename(box, away);
        await symlink("../outside", box);
        await rm(box);
        await rename(away, box);
      }
    };
    const exchanging = exchange();
    const seen = new Set<string>();
    const look = (): Promise<string> => readSource("box/secret.txt").catch(() => "refused");
    const read = async (): Promise<void> => {
      for (let attempt = 0; attempt < CASES / 4; attempt += 1) {
        seen.add(await look());
      }
    };
    await Promise.all([read(), read(), read(), read()]);
    done.abort();
    await exchanging;
    // Then it stays the folder that it was.
    expect(await look()).toBe("ALLOWED");
    expect(seen).not.toContain("SECRET");
  });
});

/** A refusal is what we hope for; anything unforeseen is not. */
function refused(thrown: unknown): null {
  const failure = toFailure(thrown);
  if (failure.code === "unexpected") throw failure;
  return null;
}
