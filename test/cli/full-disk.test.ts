/** The disk is full where the configuration and the journals are: nothing is lost, and the command says what to do. */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { generateChainKey } from "@coffer/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runOperator } from "../journeys/kit/operator.ts";
import type { Ran } from "../kit/coffer.ts";
import { runProgram } from "../kit/coffer-program.ts";
import { makeDirectory } from "../kit/directory.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";
import { mountSmall, unmount } from "../kit/small-disk.ts";
import { openScene, openSharedStack, type Scene } from "./owner-scene.ts";

const PAGE = 4_096;
const disk = makeDirectory();
const config = join(disk, "coffer");
const file = join(config, "config.json");
const filler = join(disk, "filler");
let stage: Scene;
let refusal: string | null;
let person: SharedPerson;

beforeAll(async () => {
  stage = await openScene(await openSharedStack());
  person = await stage.stack.signUp("full");
  refusal = await mountSmall(disk, "128k");
});
afterAll(async () => {
  if (refusal === null) await unmount(disk);
  await stage.stack[Symbol.asyncDispose]();
});

/** Takes all room but so many pages. */
function fill(pagesLeft: number): void {
  rmSync(filler, { force: true });
  const handle = openSync(filler, "w");
  let pages = 0;
  for (; ; pages += 1)
    try {
      writeSync(handle, Buffer.alloc(PAGE, 1));
    } catch {
      break;
    }
  closeSync(handle);
  writeFileSync(filler, Buffer.alloc(Math.max(0, pages - pagesLeft) * PAGE, 1));
}

const NO_SPACE =
  /^error: The local file system refused: no space is left.*\nnext: make room on that disk, then run the same command again\n$/;

interface Line {
  readonly words: readonly string[];
  /** Default: signed in by a key in the profile. */
  readonly isSignedOut?: boolean;
  readonly input?: () => Promise<string>;
  /** Words that are made with the stack. */
  readonly more?: () => Promise<string[]>;
}

const LINES: readonly Line[] = [
  { words: ["config", "set", "network-file", "network.json"] },
  { words: ["profiles", "add", "more", "--base-url", "https://other.example.com"] },
  { words: ["profiles", "use", "work"] },
  // Somebody who is signed in is asked for the key of the account's address.
  { words: ["chain", "generate"], isSignedOut: true },
  { words: ["chain", "import", "--stdin"], input: async () => (await generateChainKey()).privateKey.reveal() },
  { words: ["login", "--api-key-stdin"], isSignedOut: true, input: async () => person.apiKey },
  {
    words: ["login", "--invite-code", "-"],
    isSignedOut: true,
    input: async () => (await person.client.invites.create({ name: "bot" })).text,
  },
  {
    // The access code is good for one account: what fails before uses none up.
    words: ["signup", "--email", "full-disk@example.com", "--password-stdin", "--network-file", "network.json"],
    isSignedOut: true,
    input: () => Promise.resolve("several unrelated words 41"),
    more: async () => ["--access-code", await codeOfOperator()],
  },
  { words: ["logout"] },
];

async function codeOfOperator(): Promise<string> {
  const settings = { SERVICE_ENV: "development", SERVICE_DATA_DIR: stage.stack.dataDirectory };
  const { code, stdout, stderr } = await runOperator(["access-codes", "create"], settings);
  expect(code, stderr).toBe(0);
  return stdout.trim();
}

describe("a full disk under the configuration [issue 19]", () => {
  const cases = LINES.map((line) => [line.words.join(" "), line] as const);
  it.for(cases)("%s", async ([, { words, isSignedOut, input, more }], context) => {
    if (refusal !== null) context.skip(`no small file system can be mounted here (${refusal})`);
    const { baseUrl } = stage.stack;
    const given = await input?.();
    const whole = [...words, ...((await more?.()) ?? [])];
    let [isDone, failures] = [false, 0];
    for (let pages = 0; !isDone; pages += 1) {
      rmSync(filler, { force: true });
      if (failures === 0) {
        rmSync(config, { recursive: true, force: true });
        mkdirSync(config, { mode: 0o700 });
        const saved = isSignedOut === true ? {} : { apiKey: person.apiKey };
        const profiles = { default: { baseUrl, ...saved }, work: { baseUrl } };
        writeFileSync(file, JSON.stringify({ version: 1, defaultProfile: "default", profiles }), { mode: 0o600 });
      }
      const before = readFileSync(file, "utf8");
      fill(pages);
      const ran = await run(whole, given);
      isDone = ran.code === 0;
      const after = readFileSync(file, "utf8");
      // A session is in the profile store.
      if (isDone) expect(after !== before || existsSync(join(config, "store", "sessions.table"))).toBe(true);
      else {
        failures += 1;
        expect([words, pages, ran.code, ran.err]).toEqual([words, pages, 1, expect.stringMatching(NO_SPACE)]);
        // As it was, or with the chain key of an invite, or of a sign-up, that was not used yet.
        if (words.includes("--invite-code") || words.includes("signup"))
          expect(JSON.parse(after)).toMatchObject({ version: 1 });
        else expect(after).toBe(before);
      }
      expect(readdirSync(config).filter((name) => name.includes("config.json"))).toEqual(["config.json"]);
    }
    expect(failures).toBeGreaterThan(0);
  });

  const run = (words: readonly string[], input?: string): Promise<Ran> => {
    const shell = stage.shellOf(person);
    writeFileSync(join(shell.home, "network.json"), readFileSync(stage.networkFile));
    const signedOut = { SERVICE_API_KEY: undefined, SERVICE_CHAIN_PRIVATE_KEY: undefined };
    const env = { ...signedOut, SERVICE_CONFIG_DIR: config };
    return shell.run(words, { env, ...(input === undefined ? {} : { input }) });
  };

  it("a secret that has no room in its file is not made", async (context) => {
    if (refusal !== null) context.skip(`no small file system can be mounted here (${refusal})`);
    const shell = stage.shellOf(person);
    const before = await person.client.apiKeys.list();
    fill(0);
    const target = join(disk, "new.key");
    const ran = await shell.run(["api-keys", "create", "--name", "ci", "--to-file", target]);
    expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(NO_SPACE)]);
    expect(existsSync(target)).toBe(false);
    expect(await person.client.apiKeys.list()).toEqual(before);
    rmSync(filler);
    expect((await shell.run(["api-keys", "create", "--name", "ci", "--to-file", target])).code).toBe(0);
    expect(readFileSync(target, "utf8")).toMatch(/^cof_\w+\n$/);
    rmSync(target);
  });

  it("a large upload says that its journal has no room, and the same line finishes it", async (context) => {
    if (refusal !== null) context.skip(`no small file system can be mounted here (${refusal})`);
    const shell = stage.shellOf(person);
    const { env, home } = shell;
    await shell.run(["vaults", "create", "Large", "--public"]);
    writeFileSync(join(home, "large.bin"), Buffer.alloc(9 * 2 ** 20, 7));
    const words = ["upload", "large.bin", "--vault", "Large"];
    const situation = { env: { ...env, HOME: home, SERVICE_CONFIG_DIR: config }, cwd: home };
    fill(0);
    const ran = await runProgram(words, situation);
    expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(NO_SPACE)]);
    rmSync(filler);
    expect(await runProgram(words, situation)).toMatchObject({ code: 0 });
  });
});
