/** Keys in the keychain of the system: here a real Secret Service, of gnome-keyring. The order of a move: packages/sdk/src/node/config/keychain.test.ts. */
import { readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { openToolClient } from "@coffer/devstack";
import { writeConfig } from "@coffer/sdk/node";
import { Secret } from "@coffer/sdk";
import { afterAll, beforeAll, beforeEach, expect, it, type TestContext } from "vitest";
import { runProgram, type ProgramRan } from "../kit/coffer-program.ts";
import { makeDirectory } from "../kit/directory.ts";
import { skipWithout } from "../kit/engines.ts";
import { openSecretService, whyNoSecretService, type SecretService } from "../kit/secret-service.ts";
import { openSharedStack, type SharedPerson, type SharedStack } from "../kit/shared-stack.ts";

let stack: SharedStack;
let owner: SharedPerson;
let home: string;
let file: string;

beforeAll(async () => {
  stack = await openSharedStack();
  owner = stack.owner;
});
afterAll(() => stack[Symbol.asyncDispose]());

beforeEach(async () => {
  home = makeDirectory();
  file = join(home, ".config", "coffer", "config.json");
  const networkFile = join(home, "network.json");
  writeFileSync(networkFile, JSON.stringify(stack.network));
  const keys = { apiKey: new Secret(owner.apiKey), chainPrivateKey: new Secret(owner.privateKey) };
  await writeConfig({ profiles: { default: { baseUrl: stack.baseUrl, networkFile, ...keys } } }, file);
});

const text = (): string => readFileSync(file, "utf8");
const holdsKeys = (): boolean => text().includes(owner.apiKey) && text().includes(owner.privateKey);
const holdsNone = (): boolean => !/cof_\w|suiprivkey1/.test(text());

const run = (env: Readonly<Record<string, string>>, words: readonly string[], input = ""): Promise<ProgramRan> =>
  runProgram(words, { env: { HOME: home, ...env }, cwd: home, input });

async function open(context: TestContext, isLocked = false): Promise<SecretService> {
  skipWithout(whyNoSecretService(), context);
  return await openSecretService(home, isLocked);
}

it("keys go in, open vaults for commands and tools, and come back [issue 19]", async (context) => {
  await using service = await open(context);
  const coffer = async (...words: string[]): Promise<string> => {
    const { code, out, err } = await run(service.env, words);
    expect([words, code, err]).toEqual([words, 0, ""]);
    expect(out).not.toMatch(/suiprivkey1|cof_\w/);
    return out;
  };
  await coffer("config", "set", "key-store", "keychain");
  expect(holdsNone()).toBe(true);
  const listed = service.list().map(({ account, password }) => [account.split("/").slice(0, 2).join("/"), password]);
  expect(listed.sort()).toEqual([
    ["default/apiKey", owner.apiKey],
    ["default/chainPrivateKey", owner.privateKey],
  ]);
  await coffer("vaults", "create", "Team", "--shared");
  await mkdir(join(home, "shared"));
  writeFileSync(join(home, "shared", "plan.txt"), "what only members read");
  const uploaded = await coffer("upload", "shared/plan.txt", "--vault", "Team", "--json");
  const id = /"id":"([0-9a-f-]{36})"/.exec(uploaded)?.[1] ?? uploaded;
  const { checks } = JSON.parse(await coffer("doctor", "--json")) as { checks: { name: string; source: string }[] };
  for (const name of ["credential", "chain-key"])
    expect(checks.find((check) => check.name === name)).toMatchObject({ state: "ok", source: "keychain" });
  expect(await coffer("config", "list")).toMatch(/key-store +keychain\n(?:.*\n)*api-key +set/);

  // The tool server of an MCP client reads the same file.
  {
    const { env: environment } = service;
    const folders = [join(home, "shared")];
    await using tools = await openToolClient({ credentialsFile: file, folders, environment });
    const got = await tools.call("file_download", { files: [id], dest: "copy.txt" });
    expect(got, got.text).toMatchObject({ isError: false });
    expect(readFileSync(join(home, "shared", "coffer", "copy.txt"), "utf8")).toBe("what only members read");
  }

  await coffer("config", "set", "key-store", "file");
  expect([holdsKeys(), service.list()]).toEqual([true, []]);
  await coffer("cat", "Team:plan.txt");
});

it("keys that are saved later go there too, and none is shown [issue 19]", async (context) => {
  await using service = await open(context);
  const next = await stack.signUp("next");
  const steps: readonly (readonly [string[], string])[] = [
    [["config", "set", "key-store", "keychain"], ""],
    [["logout"], ""],
    [["login", "--api-key-stdin"], `${next.apiKey}\n`],
    [["chain", "import", "--stdin", "--replace", "--yes"], `${next.privateKey}\n`],
  ];
  for (const [words, input] of steps) {
    const { code, out, err } = await run(service.env, words, input);
    expect([words, code, err]).toEqual([words, 0, expect.not.stringMatching(/suiprivkey1|cof_\w/)]);
    expect([words, holdsNone(), /suiprivkey1|cof_\w/.test(out)]).toEqual([words, true, false]);
  }
  expect(
    service
      .list()
      .map(({ password }) => password)
      .sort(),
  ).toEqual([next.apiKey, next.privateKey].sort());
  expect((await run(service.env, ["whoami"])).out).toContain("next@example.com");
});

it("a keychain that is gone leaves a profile that can be used again, when the person says so [issue 19]", async (context) => {
  let away: Readonly<Record<string, string>>;
  {
    await using service = await open(context);
    expect((await run(service.env, ["config", "set", "key-store", "keychain"])).code).toBe(0);
    away = service.env;
  }
  const gone = "coffer config set key-store file --lost-keys";
  for (const words of [["whoami"], ["config", "set", "key-store", "file"]]) {
    const { code, err } = await run(away, words);
    expect([words, code, err]).toEqual([
      words,
      2,
      expect.stringMatching(`keychain cannot be used[\\s\\S]*next: .*${gone}`),
    ]);
  }
  const before = text();
  const unsure = await run(away, ["config", "set", "key-store", "file", "--lost-keys"]);
  expect([unsure.code, unsure.err, text()]).toEqual([
    2,
    expect.stringContaining("Forget the API key and the chain key"),
    before,
  ]);
  const left = await run(away, ["config", "set", "key-store", "file", "--lost-keys", "--yes"]);
  expect([left.code, left.out]).toEqual([0, "key-store is file\n"]);
  expect(left.err).toBe(
    "Lost: the API key and the chain key.\nNext: coffer login\nNext: coffer chain import, from its backup\n",
  );
  expect(JSON.parse(text())).toMatchObject({ profiles: { default: { baseUrl: stack.baseUrl } } });
  expect(text()).not.toMatch(/keychain|apiKey/);
  expect((await run(away, ["login", "--api-key-stdin"], `${owner.apiKey}\n`)).code).toBe(0);
  expect((await run(away, ["chain", "import", "--stdin"], `${owner.privateKey}\n`)).code).toBe(0);
  expect((await run(away, ["whoami"])).code).toBe(0);
  expect(holdsKeys()).toBe(true);
});

it("what can still be read of a keychain is not lost [issue 19]", async (context) => {
  await using service = await open(context);
  expect((await run(service.env, ["config", "set", "key-store", "keychain"])).code).toBe(0);
  const { code, out, err } = await run(service.env, ["config", "set", "key-store", "file", "--lost-keys"]);
  expect([code, out, err, holdsKeys(), service.list()]).toEqual([0, "key-store is file\n", "", true, []]);
});

it("a program without a place for the library says so [issue 19]", async (context) => {
  await using service = await open(context);
  expect((await run(service.env, ["config", "set", "key-store", "keychain"])).code).toBe(0);
  const environment = { ...service.env, NODE_PATH: "" };
  await using tools = await openToolClient({ credentialsFile: file, folders: [home], environment });
  const listed = await tools.call("vault_list", {});
  expect([listed.isError, listed.text]).toEqual([true, expect.stringContaining("a bundle, have no place for it")]);
});

it("a keychain that is locked, or not there, takes nothing: the file stays as it is [issue 19]", async (context) => {
  const before = holdsKeys();
  const move = ["config", "set", "key-store", "keychain"];
  for (const [env, says] of [
    [{}, "npm install -g @napi-rs/keyring"],
    [{ NODE_PATH: "", DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere" }, "npm install -g @napi-rs/keyring"],
  ] as const) {
    const { code, err } = await run(env, move);
    expect([code, err]).toEqual([2, expect.stringContaining(says)]);
    expect([before, holdsKeys()]).toEqual([true, true]);
  }
  {
    await using service = await open(context);
    const away = await run({ ...service.env, DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere" }, move);
    expect([away.code, away.err, holdsKeys()]).toEqual([2, expect.stringContaining("keychain cannot be used"), true]);
    expect((await run(service.env, move)).code).toBe(0);
  }
  // The same home, whose keyring nobody has unlocked since.
  await using service = await open(context, true);
  const locked = await run(service.env, ["whoami"]);
  expect([locked.code, locked.err]).toEqual([2, expect.stringMatching(/keychain cannot be used \(.*\)\. Unlock it/)]);
  const checked = await run(service.env, ["doctor"]);
  expect([checked.code, checked.out]).toEqual([1, expect.stringContaining("keychain cannot be used")]);
  const keys = { SERVICE_API_KEY: owner.apiKey, SERVICE_CHAIN_PRIVATE_KEY: owner.privateKey };
  expect((await run({ ...service.env, ...keys }, ["whoami"])).code).toBe(0);
  expect(holdsNone()).toBe(true);
});
