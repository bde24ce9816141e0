/** Everything about files through the command line, against one stack with a public and a shared vault. */
import { createHash, randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { startStack } from "@coffer/devstack";
import { createClient, type Client } from "@coffer/sdk";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { coffer, type Ran, type Situation } from "../kit/coffer.ts";
import { runInTerminal, runProgram, WITHOUT_OVERRIDE } from "../kit/coffer-program.ts";
import { makeDirectory } from "../kit/directory.ts";

const stack = await startStack();
afterAll(() => stack.close());
const { apiKey, baseUrl, credentialsFile, networkFile, sharedVaults } = stack;
const saved = JSON.parse(readFileSync(credentialsFile, "utf8")) as {
  readonly profiles: Readonly<Record<string, { readonly chainPrivateKey: string }>>;
};
const chainKey = Object.values(saved.profiles)[0]?.chainPrivateKey ?? "";
const env = {
  SERVICE_BASE_URL: baseUrl,
  SERVICE_API_KEY: apiKey,
  SERVICE_CHAIN_PRIVATE_KEY: chainKey,
  SERVICE_NETWORK_FILE: networkFile,
};
const home = makeDirectory();
const client: Client = createClient({ baseUrl, credentials: { apiKey }, sharedVaults });

const run = (words: readonly string[], situation: Situation = {}): Promise<Ran> =>
  coffer(words, home, { workingDirectory: work, ...situation, env: { ...env, ...situation.env } });
const json = async (words: readonly string[], situation: Situation = {}): Promise<Record<string, unknown>> =>
  JSON.parse((await run([...words, "--json"], situation)).out) as Record<string, unknown>;
const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

const work = makeDirectory();
const ten = join(work, "ten");
mkdirSync(join(ten, "sub"), { recursive: true });
for (let at = 0; at < 9; at += 1) writeFileSync(join(ten, `f${String(at)}.txt`), `file ${String(at)}`);
writeFileSync(join(ten, "sub", "deep.bin"), randomBytes(300_000));

beforeAll(async () => {
  await client.vaults.create({ name: "Open", type: "public" });
  await client.vaults.create({ name: "Team", type: "shared" });
});

describe.each(["Open"])(
  "in the vault %s [S4.3-cli-upload S4.3-cli-download S4.3-cli-folders S1-client-cli]",
  (vault) => {
    it("a folder goes up and comes back, and a repeat sends nothing", async () => {
      expect(await run(["upload", "ten", "--vault", vault])).toMatchObject({ code: 0, err: "" });
      const again = await json(["upload", "ten", "--vault", vault]);
      expect(again).toMatchObject({ uploaded: 0, unchanged: 10, failed: 0, skipped: 0 });
      writeFileSync(join(ten, "f9.txt"), "the rest");
      expect(await json(["upload", "ten", "--vault", vault])).toMatchObject({ uploaded: 1, unchanged: 10 });
      const copy = `copy-${vault}`;
      expect(await json(["download", `${vault}:ten`, copy])).toMatchObject({ downloaded: 11, failed: 0 });
      expect(readdirSync(join(work, copy)).length).toBe(11);
      expect(readFileSync(join(work, copy, "sub", "deep.bin"))).toEqual(readFileSync(join(ten, "sub", "deep.bin")));
    });

    it("places are paths, ids and beginnings of ids", async () => {
      const { items } = (await json(["ls", `${vault}:ten`])) as { items: { id: string; name: string; kind: string }[] };
      expect(items[0]).toMatchObject({ kind: "folder", name: "sub" });
      const { id } = items.find(({ name }) => name === "f3.txt") ?? { id: "" };
      for (const words of [[`${vault}:ten/f3.txt`], ["ten/f3.txt", "--vault", vault], [id], [id.slice(0, 8)]])
        expect(await run(["cat", ...words])).toMatchObject({ code: 0, out: "file 3" });
      const lines = (await run(["ls", `${vault}:ten`, "--json-lines"])).out.trimEnd().split("\n");
      expect(lines).toHaveLength(items.length);
      expect((await run(["cat", `${vault}:ten/f3.txt`, "--range", "5-5"])).out).toBe("3");
      const missing = await run(["cat", `${vault}:ten/nothing`]);
      expect(missing).toMatchObject({ code: 3, out: "" });
      expect(missing.err).toContain(`next: coffer ls ${vault}:`);
    });

    it("moves, renames, trashes, restores and deletes", async () => {
      expect(await run(["mv", `${vault}:ten/f1.txt`, `${vault}:ten/g1.txt`])).toMatchObject({ code: 0 });
      expect(await run(["mv", `${vault}:ten/g1.txt`, `${vault}:ten/f2.txt`, `${vault}:old/`])).toMatchObject({
        code: 0,
      });
      expect(await run(["rm", `${vault}:old`])).toMatchObject({ code: 2 });
      expect(await run(["rm", `${vault}:old/g1.txt`, `${vault}:old/none`])).toMatchObject({ code: 5 });
      const trash = (await json(["trash", "list", vault])) as { items: { id: string; name: string }[] };
      expect(trash.items.map(({ name }) => name)).toEqual(["g1.txt"]);
      expect(await run(["trash", "restore", trash.items[0]?.id ?? ""])).toMatchObject({ code: 0 });
      expect(await run(["rm", `${vault}:old/g1.txt`, "--permanent"])).toMatchObject({ code: 2 });
      expect(await run(["rm", `${vault}:old/g1.txt`, "--permanent", "--yes"])).toMatchObject({ code: 0 });
      expect(await run(["folders", "create", `${vault}:a/b`])).toMatchObject({ code: 0 });
      expect(await run(["folders", "create", `${vault}:a/b`])).toMatchObject({ code: 7 });
      expect(await run(["folders", "update", `${vault}:a/b`, "--name", "c"])).toMatchObject({ code: 0 });
      expect((await run(["folders", "list", `${vault}:a`])).out).toContain("c/");
      expect(await run(["folders", "delete", `${vault}:a`])).toMatchObject({ code: 0 });
      expect(await run(["trash", "restore", `${vault}:a`])).toMatchObject({ code: 0 });
      expect(await run(["rm", `${vault}:a`])).toMatchObject({ code: 2 });
      expect(await run(["rm", "-r", `${vault}:a`])).toMatchObject({ code: 0 });
      expect(await run(["upload", "ten", "--vault", vault, "--folder", "purged"])).toMatchObject({ code: 0 });
      const whole = ["rm", "--recursive", "--permanent", `${vault}:purged`];
      expect((await run(whole)).err).toContain("Delete 11 files (");
      expect(await run([...whole, "--yes"])).toMatchObject({ code: 0 });
      const left = (await json(["trash", "list", vault])) as { items: { kind: string; name: string }[] };
      expect(left.items.map(({ kind, name }) => `${kind} ${name}`)).not.toContain("file deep.bin");
      expect(await run(["stat", `${vault}:purged`])).toMatchObject({ code: 3 });
      expect(await run(["upload", "ten", "--vault", vault, "--folder", "thrown"])).toMatchObject({ code: 0 });
      expect(await run(["rm", "--recursive", `${vault}:thrown`])).toMatchObject({ code: 0 });
      const thrown = ["rm", "--recursive", "--permanent", `${vault}:thrown`];
      expect((await run(thrown)).err).toContain("Delete 11 files (");
      expect(await run([...thrown, "--yes"])).toMatchObject({ code: 0 });
      expect(await run(["trash", "empty", vault, "--yes"])).toMatchObject({ code: 0 });
      expect(((await json(["trash", "list", vault])) as { items: unknown[] }).items).toEqual([]);
    });

    it("keeps versions, and brings one back [J20]", async () => {
      for (const words of ["one", "two", "three"]) {
        writeFileSync(join(work, "v.txt"), words);
        expect(await run(["upload", "v.txt", "--vault", vault, "--if-exists", "version"])).toMatchObject({ code: 0 });
      }
      const { versions } = (await json(["versions", "list", `${vault}:v.txt`])) as { versions: { number: number }[] };
      expect(versions.map(({ number }) => number)).toEqual([3, 2, 1]);
      expect(await run(["versions", "get", `${vault}:v.txt`, "2", `v2-${vault}.txt`])).toMatchObject({ code: 0 });
      expect(readFileSync(join(work, `v2-${vault}.txt`), "utf8")).toBe("two");
      expect(await run(["versions", "restore", `${vault}:v.txt`, "1"])).toMatchObject({ code: 0 });
      expect((await run(["cat", `${vault}:v.txt`])).out).toBe("one");
      expect(await run(["versions", "get", `${vault}:v.txt`, "99"])).toMatchObject({ code: 3 });
    });

    it("decides by --if-exists, and takes standard input", async () => {
      const sent = (words: readonly string[], input = "streamed"): Promise<Ran> =>
        run(["upload", "--stdin", "--vault", vault, ...words], { input });
      expect(await sent(["--name", "s.txt"])).toMatchObject({ code: 0 });
      expect(await sent(["--name", "s.txt"])).toMatchObject({ code: 7, out: "" });
      expect((await sent(["--name", "s.txt", "--if-exists", "skip"])).out).toContain("left as it is");
      expect((await sent(["--name", "s.txt", "--if-exists", "version"], "newer")).code).toBe(0);
      expect((await sent(["--name", "s.txt", "--if-exists", "rename"])).out).toContain("s (1).txt");
      expect((await run(["cat", `${vault}:s.txt`])).out).toBe("newer");
      expect(await run(["verify", `${vault}:ten/f3.txt`, "ten/f3.txt"])).toMatchObject({ code: 0 });
      expect(await run(["verify", `${vault}:ten/f3.txt`, "ten/f4.txt"])).toMatchObject({ code: 1 });
    });

    it("leaves out of a folder what .cofferignore and --exclude name, in all directions [issue 54]", async () => {
      const folder = join(work, `rules-${vault}`);
      for (const name of ["keep.txt", "a.log", "deep/b.log", "build/out.txt", "build/deep/out.txt", ".cofferignore"]) {
        mkdirSync(join(folder, name, ".."), { recursive: true });
        writeFileSync(join(folder, name), name === ".cofferignore" ? "# rules\nbuild/\n*.log\n!deep/b.log\n" : name);
      }
      const place = `rules-${vault}`;
      const namesIn = async (at: string): Promise<string[]> => {
        const target = join(makeDirectory(), "got");
        await json(["download", `${vault}:${at}`, target]);
        return readdirSync(target, { recursive: true, encoding: "utf8" }).toSorted();
      };
      const all = [".cofferignore", "deep", join("deep", "b.log"), "keep.txt"];
      const planned = await json(["upload", place, "--vault", vault, "--dry-run"]);
      expect(planned["files"]).toHaveLength(5);
      expect(await json(["upload", place, "--vault", vault])).toMatchObject({ uploaded: 3, failed: 0 });
      expect(await namesIn(place)).toEqual(all);
      expect(
        await json(["upload", place, "--vault", vault, "--include", "build/", "--exclude", "*.txt"]),
      ).toMatchObject({
        uploaded: 0,
        unchanged: 2,
      });
      expect(await json(["sync", place, `${vault}:synced`, "--include", "a.log"])).toMatchObject({
        created: 4,
        failed: 0,
      });
      expect(await namesIn("synced")).toEqual([".cofferignore", "a.log", "deep", join("deep", "b.log"), "keep.txt"]);
      // What is left out is touched on neither side.
      const back = await json(["sync", place, `${vault}:synced`, "--delete", "--max-delete", "9"]);
      expect(back).toMatchObject({ removed: 0, failed: 0 });
      const part = join(makeDirectory(), "part");
      expect(
        await json(["download", `${vault}:${place}`, part, "--exclude", "*", "--include", "keep.txt"]),
      ).toMatchObject({
        downloaded: 1,
      });
    });

    it("sums up what folders hold, and sorts a list [issue 54]", async () => {
      const folder = join(work, `sums-${vault}`);
      mkdirSync(join(folder, "sub"), { recursive: true });
      for (const [name, bytes] of [
        ["b10", 3],
        ["b9", 2],
        ["sub/large", 300_000],
      ] as const)
        writeFileSync(join(folder, name), "x".repeat(bytes));
      await json(["upload", folder, "--vault", vault]);
      const place = `${vault}:sums-${vault}`;
      const { places } = await json(["du", place]);
      expect(places).toEqual([
        { place: `${place}/`, files: 3, bytes: 300_005 },
        { place: `${place}/sub/`, files: 1, bytes: 300_000 },
      ]);
      expect((await run(["du", place, "--depth", "0", "--human-readable"])).out).toMatch(/293 KiB +3 +\S+\/\n/);
      const { places: vaults } = await json(["du"]);
      expect((vaults as { place: string }[]).map((each) => each.place)).toContain(`${vault}:`);
      const order = async (...words: string[]): Promise<unknown[]> =>
        ((await json(["ls", ...words]))["items"] as { name: string }[]).map(({ name }) => name);
      expect(await order(place, "--sort", "name")).toEqual(["sub", "b9", "b10"]);
      expect(await order(place, "--sort", "size")).toEqual(["b10", "b9", "sub"]);
      await run(["append", `${place}/b9`, "--text", "x"]);
      expect(await order(place, "--sort", "time", "--limit", "1")).toEqual(["b9"]);
      expect(await order(`${vault}:`, "--recursive", "--sort", "size", "--limit", "1")).toEqual(["large"]);
    });

    it("appends a line, or standard input, and makes a missing file [issue 54]", async () => {
      const log = `${vault}:logs/today.txt`;
      expect(await json(["append", log, "--text", "one"])).toMatchObject({ act: "created", appended: 4, bytes: 4 });
      const { file } = await json(["append", log], { input: "two\n" });
      const { id } = file as { id: string };
      expect(await run(["append", id, "--text", "three"])).toMatchObject({ code: 0, err: "" });
      expect((await run(["cat", log])).out).toBe("one\ntwo\nthree\n");
      expect(await run(["append", log, "--text", "x", "--expected-version", "deadbeef"])).toMatchObject({ code: 7 });
      expect(await run(["append", `${vault}:`, "--text", "x"])).toMatchObject({ code: 2 });
      expect((await run(["cat", log])).out).toBe("one\ntwo\nthree\n");
    });

    it("many files in one line take few requests, and a repeat sends nothing", async () => {
      const many = join(work, `many-${vault}`);
      mkdirSync(many);
      const paths = Array.from({ length: 60 }, (_, at) => join(many, `m${String(at)}.txt`));
      for (const path of paths) writeFileSync(path, path);
      writeFileSync(join(many, "large.bin"), randomBytes(300_000));
      const line = ["upload", ...paths, join(many, "large.bin"), "--vault", vault, "--folder", "many"];
      const asked = vi.spyOn(globalThis, "fetch");
      expect(await json(line)).toMatchObject({ uploaded: 61, failed: 0 });
      expect(asked.mock.calls.length).toBeLessThan(25);
      asked.mockRestore();
      expect(await json(line)).toMatchObject({ uploaded: 0, unchanged: 61, failed: 0 });
      writeFileSync(paths[0] ?? "", "changed");
      expect(await json(line)).toMatchObject({ uploaded: 0, unchanged: 60, failed: 1 });
      expect(await json([...line, "--if-exists", "version"])).toMatchObject({ uploaded: 1, unchanged: 60 });
      expect((await run(["cat", `${vault}:many/m0.txt`])).out).toBe("changed");
      // Two of one name: one is stored, and the other is named.
      mkdirSync(join(many, "sub"));
      writeFileSync(join(many, "sub", "twin.txt"), "one");
      writeFileSync(join(many, "twin.txt"), "two");
      const twins = [
        "upload",
        join(many, "twin.txt"),
        join(many, "sub", "twin.txt"),
        "--vault",
        vault,
        "--folder",
        "twin",
      ];
      expect(await json(twins)).toMatchObject({ uploaded: 1, failed: 1 });
    });

    it("finds names, and lists what changed [J23] [J24]", async () => {
      const found = (await json(["search", "deep", "--vault", vault])) as {
        complete: boolean;
        files: { name: string }[];
      };
      expect(found).toMatchObject({ complete: true, files: [{ name: "deep.bin" }] });
      const { changes } = (await json(["changes", "--since", "1h", "--vault", vault, "--kind", "file"])) as {
        changes: { kind: string; name: string | null }[];
      };
      expect(changes.some(({ kind, name }) => kind === "file.uploaded" && name === "deep.bin")).toBe(true);
      // The line that it prints goes on with the same choice.
      const first = await run(["changes", "--vault", vault, "--kind", "file", "--limit", "1"]);
      const more = /^More: coffer (.*)$/m.exec(first.out)?.[1] ?? "";
      expect(more).toMatch(/^changes --after \d+ --vault \S+ --kind file --limit 1$/);
      expect((await run(more.split(" "))).out).toContain("file.");
    });
  },
);

describe("what scripts rely on [J13]", () => {
  it("one of ten is unreadable: exit 5, nine are uploaded, one document", async () => {
    const nine = join(work, "nine");
    mkdirSync(nine);
    for (let at = 0; at < 9; at += 1) writeFileSync(join(nine, String(at)), String(at));
    // Nobody can read it, the superuser neither: no name of the service has a backslash.
    writeFileSync(join(nine, "un\\readable"), "x");
    const ran = await runProgram(["upload", nine, "--vault", "Open", "--json"], {
      env: { ...env, HOME: "/nonexistent", NO_COLOR: "1" },
    });
    expect(ran.code).toBe(5);
    expect(JSON.parse(ran.out)).toMatchObject({ uploaded: 9, failed: 1 });
    expect(ran.err).toBe("");
  });

  it("a name that is not UTF-8: exit 5, by its escaped name, and foreseen by a dry run", async () => {
    const folder = join(work, "latin");
    mkdirSync(folder);
    writeFileSync(join(folder, "tea.txt"), "tea");
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from("caf\xe9.txt", "latin1")]), "coffee");
    for (const more of [["--dry-run"], []]) {
      const { code, out, err } = await run(["upload", "latin", "--vault", "Open", ...more]);
      expect([code, out + err]).toEqual([5, expect.stringContaining(String.raw`caf\xe9.txt`)]);
    }
  });

  it("a file that may not be read, and a folder that may not be written [EACCES]", async () => {
    const guarded = join(work, "guarded");
    mkdirSync(guarded);
    for (const name of ["open.txt", "shut.txt"]) writeFileSync(join(guarded, name), name);
    chmodSync(join(guarded, "shut.txt"), 0);
    const ran = (words: readonly string[]) =>
      runProgram(words, { env: { ...env, HOME: home }, program: WITHOUT_OVERRIDE });
    const folder = await ran(["upload", guarded, "--vault", "Open", "--json"]);
    expect(folder).toMatchObject({ code: 5, err: "" });
    expect(JSON.parse(folder.out)).toMatchObject({ uploaded: 1, failed: 1 });
    const named = [
      "upload",
      join(guarded, "open.txt"),
      join(guarded, "shut.txt"),
      "--vault",
      "Open",
      "--folder",
      "each",
    ];
    expect(JSON.parse((await ran([...named, "--json"])).out)).toMatchObject({ uploaded: 1, failed: 1 });
    const closed = join(work, "may-not");
    mkdirSync(closed, { mode: 0o500 });
    const down = await ran(["download", "Open:ten/f4.txt", closed]);
    expect(down.code).toBe(1);
    expect(down.err).toContain("next: check free space and permissions");
    expect(readdirSync(closed)).toEqual([]);
  });

  it("Ctrl-C in the middle of a folder: exit 130, and the next run sends the rest only", async () => {
    const heavy = join(work, "heavy");
    mkdirSync(heavy);
    for (let at = 0; at < 24; at += 1) writeFileSync(join(heavy, `h${String(at)}.bin`), randomBytes(12 * 1024 * 1024));
    const line = ["upload", heavy, "--vault", "Open"];
    const cut = await runInTerminal(line, {
      env: { ...env, HOME: home },
      typed: [{ after: / [1-9]\/24 /, types: "\u0003" }],
    });
    expect(cut.code).toBe(130);
    expect(stripVTControlCharacters(cut.screen)).toContain("error: Interrupted");
    const { uploaded, unchanged } = (await json(line)) as { uploaded: number; unchanged: number };
    expect(uploaded + unchanged).toBe(24);
    expect(unchanged).toBeGreaterThan(0);
    expect(uploaded).toBeGreaterThan(0);
  });

  it("changes --follow prints what happens until Ctrl-C, and ends with 130", async () => {
    const following = runProgram(["changes", "--follow", "--json-lines", "--since", "1h"], {
      env: { ...env, HOME: home },
      interruptedAfter: '"name":"followed.txt"',
    });
    // It is there before, or comes while it is followed.
    await run(["upload", "--stdin", "--name", "followed.txt", "--vault", "Open"], { input: "x" });
    const { code, err, out } = await following;
    expect(code).toBe(130);
    expect(err).not.toMatch(/\n\s+at /);
    expect(await run(["changes", "--follow", "--timeout", "1"])).toMatchObject({ code: 0, err: "" });
    const two = await run(["changes", "--follow", "--json-lines", "--since", "1h", "--limit", "2"]);
    expect([two.code, two.out.trim().split("\n").length]).toEqual([0, 2]);
    const none = await run(["changes", "--kind", "nope"]);
    expect(none).toMatchObject({ code: 0, out: "No changes.\n" });
    expect(none.err).toContain("nope is no kind of event. Those are: file, folder, vault");
    const changes = out
      .trimEnd()
      .split("\n")
      .map((each) => JSON.parse(each) as { sequence: number });
    expect(new Set(changes.map(({ sequence }) => sequence)).size).toBe(changes.length);
  });

  it("a service that is down: exit 8, no stack trace, and nothing is uploaded", async () => {
    const ran = await run(["upload", "ten", "--vault", "Open"], { env: { SERVICE_BASE_URL: "http://127.0.0.1:1" } });
    expect([ran.code, ran.out]).toEqual([8, ""]);
    expect(ran.err).not.toMatch(/\n\s+at /);
  });

  it("an interrupted transfer: exit 130, nothing half-made, and a repeat does the rest", async () => {
    writeFileSync(join(work, "large.bin"), randomBytes(24 * 1024 * 1024));
    const interrupt = new AbortController();
    setTimeout(() => interrupt.abort(), 60);
    const cut = await run(["upload", "large.bin", "--vault", "Open"], { interrupted: interrupt.signal });
    expect(cut).toMatchObject({ code: 130, out: "" });
    expect((await run(["stat", "Open:large.bin"])).code).toBe(3);
    expect(await run(["upload", "large.bin", "--vault", "Open"])).toMatchObject({ code: 0 });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 30);
    expect((await run(["download", "Open:large.bin", "got.bin"], { interrupted: stop.signal })).code).toBe(130);
    expect(readdirSync(work).filter((name) => name.includes(".part") || name === "got.bin")).toEqual([]);
    expect(await run(["download", "Open:large.bin", "got.bin"])).toMatchObject({ code: 0 });
    expect(sha256(await readFile(join(work, "got.bin")))).toBe(sha256(await readFile(join(work, "large.bin"))));
  });

  it("nothing is replaced silently, and no link leads out of the destination", async () => {
    writeFileSync(join(work, "mine.txt"), "mine");
    expect(await run(["download", "Open:ten/f4.txt", "mine.txt"])).toMatchObject({ code: 7 });
    expect(readFileSync(join(work, "mine.txt"), "utf8")).toBe("mine");
    expect(await run(["download", "Open:ten/f4.txt", "mine.txt", "--overwrite"])).toMatchObject({ code: 0 });
    const outside = makeDirectory();
    mkdirSync(join(work, "trap", "ten"), { recursive: true });
    symlinkSync(outside, join(work, "trap", "ten", "sub"));
    expect((await run(["download", "Open:ten", "trap"])).code).toBe(5);
    expect(readdirSync(outside)).toEqual([]);
  });
});

describe("on a terminal", () => {
  it("shows names and texts of others without their orders", async () => {
    const { vaults } = await client.vaults.list({});
    const vaultId = vaults.find(({ name }) => name === "Open")?.id ?? "";
    await client.files.upload({ vaultId, name: "bidi\u202etxt.exe", body: "a\u001b]0;title\u0007b" });
    const listed = await run(["ls", "Open:"], { answers: [] });
    expect(listed.out).toContain("bidi\\u{202e}txt.exe");
    const shown = await run(["cat", "Open:bidi\u202etxt.exe"], { answers: [] });
    expect(shown.out).toContain("\\u{1b}]0;title\\u{7}");
    expect((await run(["cat", "Open:large.bin"], { answers: [] })).code).toBe(1);
    expect((await run(["cat", "Open:bidi\u202etxt.exe"])).out).toBe("a\u001b]0;title\u0007b");
  });

  it("shows progress with a rate there, and asks before it deletes for good", async () => {
    const ran = await runInTerminal(["upload", join(work, "large.bin"), "--vault", "Open", "--folder", "tty"], {
      env: { ...env, HOME: home },
    });
    expect(ran.code).toBe(0);
    expect(ran.screen).toMatch(/Uploading +\d+% .* of 24 MiB .*\/s [\d:]+ left 0\/1 \d+% ….*rge\.bin/);
    const folder = await runInTerminal(["upload", join(work, "heavy"), "--vault", "Open", "--folder", "tty"], {
      env: { ...env, HOME: home },
    });
    expect(folder.screen).toMatch(/Uploading +\d+% .* of 288 MiB .*\/s [\d:]+ left \d+\/24 \d+% heavy\/h\d+\.bin/);
    expect(folder.screen).toContain("Uploaded 24, unchanged 0, failed 0, skipped 0 (288 MiB)");
    const refused = await runInTerminal(["rm", "--permanent", "Open:tty/large.bin"], {
      env: { ...env, HOME: home },
      typed: [{ after: "[y/N]", types: "n\r" }],
    });
    expect(refused.screen).toContain("Nothing was done");
    expect((await run(["stat", "Open:tty/large.bin"])).code).toBe(0);
  });
});

describe("a shared vault", () => {
  it("takes several files of one line in a batch, and a folder is deleted for good", async () => {
    const paths = ["shut-one.bin", "shut-two.bin"].map((name) => join(work, name));
    for (const path of paths) writeFileSync(path, randomBytes(1_000));
    const line = ["upload", ...paths, "--vault", "Team", "--folder", "several"];
    expect(await json(line)).toMatchObject({ uploaded: 2, failed: 0 });
    expect(await json(line)).toMatchObject({ uploaded: 0, unchanged: 2, failed: 0 });
    expect(await run(["rm", "--recursive", "--permanent", "Team:several", "--yes"])).toMatchObject({ code: 0 });
    expect(await run(["stat", "Team:several"])).toMatchObject({ code: 3 });
  });
});

describe("an export [J17]", () => {
  it("opens with the chain and the key servers alone", async () => {
    // Its bytes go into no public vault, where they would be in the clear.
    const closed = join(work, "closed");
    mkdirSync(join(closed, "sub"), { recursive: true });
    writeFileSync(join(closed, "sub", "deep.bin"), randomBytes(300_000));
    expect(await run(["upload", "closed", "--vault", "Team"])).toMatchObject({ code: 0 });
    expect(await run(["export", "Team", "team.export"])).toMatchObject({ code: 0 });
    expect(await run(["export", "Open", "open.export"])).toMatchObject({ code: 2 });
    const gone = { env: { SERVICE_BASE_URL: "http://127.0.0.1:1", SERVICE_API_KEY: "" } };
    expect(await json(["decrypt", "team.export", "team"], gone)).toMatchObject({ failed: 0 });
    expect(readFileSync(join(work, "team", "closed", "sub", "deep.bin"))).toEqual(
      readFileSync(join(closed, "sub", "deep.bin")),
    );
    expect((await run(["decrypt", "team.export", "team"], gone)).code).toBe(0);
    writeFileSync(
      join(work, "team.export", "content", readdirSync(join(work, "team.export", "content"))[0] ?? ""),
      "x",
    );
    expect((await run(["decrypt", "team.export", "again"], gone)).code).not.toBe(0);
  });
});
