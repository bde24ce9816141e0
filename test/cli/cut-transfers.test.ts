/** Signals in the middle of transfers: nothing half-made, and the same line does the rest only. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COFFER, runProgram, type ProgramRan } from "../kit/coffer-program.ts";
import { makeDirectory } from "../kit/directory.ts";
import { openMeteredProxy, type MeteredProxy } from "../kit/metered-proxy.ts";
import { openScene, openSharedStack, type Scene } from "./owner-scene.ts";

const FILES = 12;
const BYTES = 300_000;
const LARGE = 24 * 2 ** 20;
/** Of requests and answers, beside contents. */
const OVERHEAD = 200_000;
const VAULTS = ["Open", "Team"] as const;
const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
/** With full counts each command of each vault is cut off, else each command once. */
const UPS = FULL
  ? ({ Open: ["upload", "sync"], Team: ["upload", "sync"] } as const)
  : ({ Open: ["upload"], Team: ["sync"] } as const);
const DOWNS = FULL
  ? ({ Open: ["download", "sync"], Team: ["download", "sync"] } as const)
  : ({ Open: ["sync"], Team: ["download"] } as const);
const placeOf = (vault: string, command: string): string =>
  command === "sync" ? `${vault}:sync` : `${vault}:${command}/many`;
const NAMES = Array.from({ length: FILES }, (_none, at) => `f${String(at)}.bin`);

const home = makeDirectory();
/** Each vault has contents of its own: those of a shared one may be seen nowhere. */
const folderOf = (vault: string): string => join(home, vault);
const config = join(home, ".config", "coffer");
let stage: Scene;
let proxy: MeteredProxy;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  stage = await openScene(await openSharedStack());
  proxy = await openMeteredProxy(stage.stack.baseUrl);
  env = { ...stage.shellOf(await stage.stack.signUp("cut")).env, SERVICE_BASE_URL: proxy.baseUrl, HOME: home };
  for (const vault of VAULTS) {
    mkdirSync(join(folderOf(vault), "many"), { recursive: true });
    for (const name of NAMES) writeFileSync(join(folderOf(vault), "many", name), randomBytes(BYTES));
    writeFileSync(join(folderOf(vault), "large.bin"), randomBytes(LARGE));
  }
  expect(await run(["vaults", "create", "Open", "--public"])).toMatchObject({ code: 0 });
  expect(await run(["vaults", "create", "Team", "--shared"])).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await stage.stack[Symbol.asyncDispose]();
});

/** Where the next program runs. */
let cwd = home;
const run = (words: readonly string[]): Promise<ProgramRan> => runProgram(words, { env, cwd });

const json = async (words: readonly string[]): Promise<Record<string, unknown>> => {
  const ran = await run([...words, "--json", "--quiet"]);
  expect([words, ran.code, ran.err]).toEqual([words, 0, ""]);
  return JSON.parse(ran.out) as Record<string, unknown>;
};

/** Gets the signal once so many bytes went that way, and no further byte does. */
async function cut(
  words: readonly string[],
  {
    way,
    bytes,
    signal,
  }: { readonly way: "sent" | "received"; readonly bytes: number; readonly signal: NodeJS.Signals },
): Promise<string> {
  const [command, ...args] = COFFER;
  const child = spawn(command, [...args, ...words], { env: { PATH: process.env["PATH"], ...env }, cwd });
  proxy.reset();
  proxy.cutAt(way, bytes, () => child.kill(signal));
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  proxy.reset();
  expect([words, code, out]).toEqual([words, 130, ""]);
  expect(err).toMatch(
    /^(?:Exporting .*\n)?error: Interrupted.*\.\nnext: run the same command again: what is done stays done\n$/,
  );
  return err;
}

/** After how many files it was cut off. */
function filesBefore(err: string, of = FILES): number {
  const [, done, total] = /after (\d+) of (\d+) files\.\n/.exec(err) ?? [];
  expect(Number(total)).toBe(of);
  return Number(done);
}

/** No upload is begun, and no process holds anything. */
function expectNoJournals(): void {
  const left = existsSync(config) ? readdirSync(config, { recursive: true, encoding: "utf8" }) : [];
  expect(left.filter((name) => /^store\/uploads\.|\.(lock|tmp|new)(\.|\/|$)/.test(name))).toEqual([]);
}

/** All that is there is whole. */
function wholeIn(directory: string): number {
  const many = join(cwd, "many");
  const names = readdirSync(directory);
  for (const name of names)
    expect([name, readFileSync(join(directory, name)).equals(readFileSync(join(many, name)))]).toEqual([name, true]);
  return names.length;
}

describe.each(VAULTS)("a signal in the vault %s [issue 19]", (vault) => {
  beforeAll(() => {
    cwd = folderOf(vault);
  });
  const UP = { way: "sent", bytes: 5.5 * BYTES, signal: "SIGINT" } as const;
  const DOWN = { way: "received", bytes: 5.5 * BYTES, signal: "SIGTERM" } as const;

  it.each(UPS[vault])("%s of a folder: what was sent stays, and the rest follows", async (command) => {
    const words =
      command === "sync"
        ? ["sync", "many", placeOf(vault, command)]
        : ["upload", "many", "--vault", vault, "--folder", command];
    const before = filesBefore(await cut(words, UP));
    const { items } = await json(["ls", placeOf(vault, command)]);
    expect(items).toHaveLength((items as { size: number }[]).filter(({ size }) => size === BYTES).length);
    proxy.reset();
    const { unchanged, bytes, failed } = await json(words);
    expect(Number(unchanged)).toBeGreaterThanOrEqual(before);
    expect([Number(bytes), failed]).toEqual([(FILES - Number(unchanged)) * BYTES, 0]);
    expect(Number(unchanged)).toBeGreaterThan(0);
    expect(proxy.sent).toBeLessThan(Number(bytes) + OVERHEAD);
    expectNoJournals();
  });

  it("upload of one large file: the parts that were sent are not sent again", async () => {
    const words = ["upload", "large.bin", "--vault", vault];
    await cut(words, { way: "sent", bytes: LARGE - 5 * 2 ** 20, signal: "SIGTERM" });
    expect((await run(["stat", `${vault}:large.bin`])).code).toBe(3);
    proxy.reset();
    expect(await json(words)).toMatchObject({ uploaded: 1, failed: 0 });
    expect(proxy.sent).toBeLessThan(LARGE / 2);
    expectNoJournals();
    const got = makeDirectory();
    const down = ["download", `${vault}:large.bin`, got];
    await cut(down, { way: "received", bytes: LARGE / 2, signal: "SIGINT" });
    expect(readdirSync(got)).toEqual([]);
    await json(down);
    expect(readFileSync(join(got, "large.bin")).equals(readFileSync(join(cwd, "large.bin")))).toBe(true);
  });

  it.each(DOWNS[vault])("%s of a folder: what came is whole, and the rest follows", async (command) => {
    const target = join(makeDirectory(), "got");
    const words = [command, placeOf(vault, UPS[vault][0]), target];
    const before = filesBefore(await cut(words, DOWN));
    expect(wholeIn(target)).toBeGreaterThanOrEqual(before);
    const there = wholeIn(target);
    proxy.reset();
    expect(await json(words)).toMatchObject({ unchanged: there, failed: 0, bytes: (FILES - there) * BYTES });
    expect(there).toBeGreaterThan(0);
    expect(proxy.received).toBeLessThan((FILES - there) * BYTES + OVERHEAD);
    expect(wholeIn(target)).toBe(FILES);
    expectNoJournals();
  });
});

it("a signal during an export: what is there is not fetched again, and the export opens [issue 19]", async () => {
  const target = join(makeDirectory(), "box.export");
  const words = ["export", "Box", target];
  await json(["vaults", "create", "Box", "--shared"]);
  await json(["upload", "many", "--vault", "Box"]);
  proxy.reset();
  await json(["export", "Box", join(makeDirectory(), "whole.export")]);
  const whole = proxy.received;
  proxy.reset();
  await cut(words, { way: "received", bytes: whole / 2, signal: "SIGINT" });
  expect(
    readdirSync(target, { recursive: true, encoding: "utf8" }).filter((name) => /\.(part|lock)$/.test(name)),
  ).toEqual([]);
  await json(words);
  expect(proxy.received).toBeLessThan(whole * 0.8);
  const opened = join(makeDirectory(), "opened");
  expect(await json(["decrypt", target, opened])).toMatchObject({ failed: 0, decrypted: FILES });
  expect(wholeIn(join(opened, "many"))).toBe(FILES);
});
