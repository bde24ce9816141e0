/** What needs no service: configuration, profiles, MCP clients, and where the development stack is. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Secret } from "@coffer/sdk";
import { readConfig, writeConfig } from "@coffer/sdk/node";
import { beforeEach, describe, expect, it } from "vitest";
import { coffer, type Situation } from "../../../../../test/kit/coffer.ts";
import { makeDirectory } from "../../../../../test/kit/directory.ts";

const ROOT = join(import.meta.dirname, "../../../../..");
const KEY = `cof_${"a".repeat(49)}`;
const [HERE, ELSEWHERE] = ["https://one.example.com", "https://two.example.com"];
let home: string;

beforeEach(() => {
  home = makeDirectory();
});

const file = (): string => join(home, ".config", "coffer", "config.json");
const saved = async () =>
  JSON.parse(await readFile(file(), "utf8")) as {
    defaultProfile: string;
    profiles: Record<string, Record<string, string>>;
  };

async function save(profiles: Record<string, object>): Promise<void> {
  await mkdir(join(home, ".config", "coffer"), { recursive: true, mode: 0o700 });
  await writeFile(file(), JSON.stringify({ version: 1, defaultProfile: Object.keys(profiles)[0], profiles }), {
    mode: 0o600,
  });
}

async function json(words: readonly string[], situation?: Situation): Promise<Record<string, unknown>> {
  const ran = await coffer([...words, "--json"], home, situation);
  expect(ran.err).toBe("");
  return JSON.parse(ran.out) as Record<string, unknown>;
}

const errorOf = (document: Record<string, unknown>) => document["error"] as Record<string, unknown>;

describe("config", () => {
  it("reads and sets addresses, and shows of a secret only that it is there", async () => {
    await save({ work: { baseUrl: HERE, apiKey: KEY } });
    expect(await json(["config", "get", "base-url"])).toEqual({ name: "base-url", value: HERE });
    expect(await json(["config", "get", "api-key"])).toEqual({ name: "api-key", value: "set" });
    expect(errorOf(await json(["config", "get", "network-file"]))).toMatchObject({
      nextStep: "coffer config set network-file VALUE",
    });
    expect(errorOf(await json(["config", "set", "api-key", KEY]))).toMatchObject({ code: "invalid_arguments" });
    await writeFile(join(home, "net.json"), "{}");
    expect(await json(["config", "set", "network-file", "net.json"])).toEqual({
      name: "network-file",
      value: join(home, "net.json"),
    });
    const list = await coffer(["config", "list"], home);
    expect(list.out).toContain("api-key");
    expect(list.out).not.toContain(KEY);
    expect((await saved()).profiles["work"]).toMatchObject({ apiKey: KEY, networkFile: join(home, "net.json") });
    expect(await json(["config", "path"])).toEqual({ path: file() });
  });

  it("another service's address drops key and session: they are never sent there", async () => {
    await save({ work: { baseUrl: HERE, apiKey: KEY, chainPrivateKey: "c" } });
    const session = { refreshToken: new Secret("r"), accessToken: null, expiresAt: null, presented: false };
    await writeConfig({ profiles: { work: { baseUrl: HERE, apiKey: new Secret(KEY), session } } }, file());
    const isSignedIn = async () => (await readConfig(file()))?.profiles["work"]?.session != null;
    expect((await coffer(["config", "set", "base-url", `${HERE}/`], home)).code).toBe(0);
    expect([(await saved()).profiles["work"], await isSignedIn()]).toEqual([
      expect.objectContaining({ apiKey: KEY }),
      true,
    ]);
    expect((await coffer(["config", "set", "base-url", ELSEWHERE], home)).code).toBe(0);
    expect((await coffer(["config", "set", "base-url", HERE], home)).code).toBe(0);
    expect(await isSignedIn()).toBe(false);
    expect((await coffer(["config", "set", "base-url", ELSEWHERE], home)).code).toBe(0);
    expect((await saved()).profiles["work"]).toEqual({ baseUrl: ELSEWHERE, chainPrivateKey: "c" });
    expect((await coffer(["config", "set", "base-url", "ftp://x"], home)).code).toBe(2);
  });

  it("a file that cannot be read is no reason to show its content", async () => {
    await save({});
    await writeFile(file(), `{"apiKey": "${KEY}"`);
    const ran = await coffer(["config", "list"], home);
    expect([ran.code, ran.out]).toEqual([2, ""]);
    expect(ran.err).not.toContain(KEY);
    expect(ran.err).toContain("next: coffer doctor");
  });
});

it("doctor says that the stack of a profile has moved, and where to [issue 49]", async () => {
  const networkFile = join(home, "net.json");
  await writeFile(networkFile, "{}");
  await save({ work: { baseUrl: "http://127.0.0.1:8787", networkFile, apiKey: KEY } });
  expect((await coffer(["doctor"], home)).out).not.toContain("moved");
  await writeFile(join(home, "env"), "# Of a running npm start\nexport SERVICE_BASE_URL=http://127.0.0.1:9321\n");
  const { out, code } = await coffer(["doctor"], home);
  expect([code, out]).toEqual([
    1,
    expect.stringContaining(`the stack of ${networkFile} moved to http://127.0.0.1:9321`),
  ]);
  // Each of the lines does what it says: without the first, the second would find a key, and refuse.
  const [logout = "", login = ""] = [
    ...out.matchAll(/coffer (log(?:out|in) --profile work\S*(?: --base-url \S+)?)/g),
  ].map(([, line = ""]) => line);
  expect((await coffer(logout.replace(/,$/, "").split(" "), home)).code).toBe(0);
  const refused = await coffer([...login.split(" "), "--api-key-stdin"], home, { input: KEY });
  expect([refused.code, refused.err]).toEqual([8, expect.stringContaining("http://127.0.0.1:9321 ")]);
  // Another machine's address in such a file is nobody's word.
  await writeFile(join(home, "env"), "export SERVICE_BASE_URL=https://elsewhere.example\n");
  expect((await coffer(["doctor"], home)).out).not.toContain("moved");
});

describe("profiles", () => {
  it("are added, listed and used", async () => {
    expect(await json(["profiles", "add", "work", "--base-url", HERE])).toMatchObject({ profile: "work" });
    expect(await json(["profiles", "add", "home", "--base-url", ELSEWHERE])).toMatchObject({ profile: "home" });
    expect(errorOf(await json(["profiles", "add", "home", "--base-url", ELSEWHERE]))).toMatchObject({
      code: "name_exists",
    });
    expect((await saved()).defaultProfile).toBe("work");
    await json(["profiles", "use", "home"]);
    expect(errorOf(await json(["profiles", "use", "nobody"]))).toMatchObject({ code: "not_found" });
    const { profiles } = (await json(["profiles", "list"])) as { profiles: { name: string; isDefault: boolean }[] };
    expect(profiles.map(({ name, isDefault }) => [name, isDefault])).toEqual([
      ["work", false],
      ["home", true],
    ]);
    expect(await json(["config", "get", "base-url", "--profile", "work"])).toMatchObject({ value: HERE });
    expect(await json(["config", "get", "base-url"], { env: { SERVICE_PROFILE: "work" } })).toMatchObject({
      value: HERE,
    });
  });
});

describe("mcp", () => {
  const script = (): string => join(home, "app", "node_modules", "@coffer", "cli", "dist", "main.js");
  const server = (): string => join(home, "app", "node_modules", "@coffer", "mcp", "dist", "main.js");

  beforeEach(async () => {
    await mkdir(join(server(), ".."), { recursive: true });
    await writeFile(server(), "");
    await mkdir(join(home, ".cursor"));
  });

  it("install, status and uninstall change the clients that are here, and name no secret", async () => {
    const env = { SERVICE_API_KEY: KEY, SERVICE_CONFIG_FILE: "c.json" };
    const given = { env, script: script() };
    const planned = await coffer(["mcp", "install", "--allow", "shared", "--dry-run"], home, given);
    expect([planned.code, planned.out]).toEqual([0, expect.stringContaining("Cursor: would be added")]);
    await expect(readFile(join(home, ".cursor", "mcp.json"))).rejects.toThrow("ENOENT");
    const words = ["mcp", "install", "--allow", "shared", "--profile", "work", "--", "--profile", "read"];
    const done = await coffer(words, home, given);
    expect(done.code).toBe(0);
    expect(done.programs).toEqual([
      { command: "/opt/node", args: expect.arrayContaining(["--profile", "read"]), isTried: true },
    ]);
    const text = await readFile(join(home, ".cursor", "mcp.json"), "utf8");
    expect(text).not.toContain(KEY);
    expect(JSON.parse(text)).toEqual({
      mcpServers: {
        coffer: {
          command: "/opt/node",
          args: [server(), "--allow", join(home, "shared"), "--profile", "read"],
          env: { SERVICE_CONFIG_FILE: join(home, "c.json"), SERVICE_PROFILE: "work" },
        },
      },
    });
    const { clients } = (await json(["mcp", "status"], given)) as { clients: { client: string; state: string }[] };
    expect(clients.find(({ client }) => client === "cursor")?.state).toBe("installed");
    expect((await coffer(["mcp", "uninstall"], home, given)).out).toContain("Cursor: removed");
  });

  it("install names a folder that the agent may touch, and status asks for an install only where there is none", async () => {
    const given = { script: script() };
    const without = await coffer(["mcp", "install"], home, given);
    expect([without.code, without.err]).toEqual([2, expect.stringContaining("next: coffer mcp install --allow DIR")]);
    await expect(readFile(join(home, ".cursor", "mcp.json"))).rejects.toThrow("ENOENT");
    expect((await coffer(["mcp", "status"], home, given)).out).toContain("Next: coffer mcp install --allow DIR");
    expect((await coffer(["mcp", "install", "--", "--allow", home], home, given)).code).toBe(0);
    const after = await coffer(["mcp", "status"], home, given);
    expect(after.out).toMatch(/Cursor +installed/);
    expect(after.out).not.toContain("Next:");
  });

  it("flags that the server refuses are refused before anything is written", async () => {
    const ran = await coffer(["mcp", "install", "--", "--no-such"], home, { script: script(), programCode: 2 });
    expect(ran).toMatchObject({ code: 2, err: expect.stringContaining("The tool server refuses these flags") });
    await expect(readFile(join(home, ".cursor", "mcp.json"))).rejects.toThrow("ENOENT");
  });

  it("serve starts the server's program: --profile before -- is the credentials', after it the tools'", async () => {
    const ran = await coffer(["mcp", "serve", "--profile", "work", "--", "--profile", "read"], home, {
      script: script(),
    });
    expect(ran.programs).toEqual([
      { command: "/opt/node", args: [server(), "--profile", "read"], env: { SERVICE_PROFILE: "work" } },
    ]);
    expect((await coffer(["mcp", "serve", "--json"], home, { script: script() })).code).toBe(2);
    expect((await coffer(["mcp", "serve"], home)).code).toBe(3);
  });
});

describe("dev", () => {
  it("starts the stack of the clone that the person is in, and elsewhere says how to get one", async () => {
    const inside = await coffer(["dev", "--port", "0", "--once"], home, { workingDirectory: join(ROOT, "docs") });
    expect(inside.code).toBe(0);
    expect(inside.programs[0]?.args).toEqual([
      "--conditions=coffer-source",
      join(ROOT, "dev/devstack/src/start.ts"),
      "--port",
      "0",
      "--once",
    ]);
    const outside = await coffer(["dev"], home);
    expect([outside.code, outside.err]).toEqual([3, expect.stringContaining("next: clone the repository")]);
    // The clone that the program is part of is not started from anywhere.
    const linked = await coffer(["dev"], home, { script: join(ROOT, "packages/cli/dist/main.js") });
    expect([linked.code, linked.programs]).toEqual([3, []]);
    expect(linked.err).toContain(`next: cd ${ROOT} && npm start`);
  });
});

describe("the line itself", () => {
  it("takes the flags of every command before and behind its name", async () => {
    await save({ work: { baseUrl: HERE } });
    for (const words of [
      ["--json", "config", "get", "base-url"],
      ["config", "get", "base-url", "--json"],
      ["--profile=work", "--json", "config", "get", "base-url"],
    ])
      expect(JSON.parse((await coffer(words, home)).out)).toMatchObject({ value: HERE });
    expect((await coffer(["confg"], home)).err).toContain("did you mean config?");
    expect((await coffer(["config"], home)).code).toBe(2);
    expect((await coffer(["help", "config", "get"], home)).out).toContain("coffer config get base-url");
    expect((await coffer([], home)).code).toBe(0);
  });

  it("shows a stack trace with --verbose alone, and no secret with it", async () => {
    const env = { SERVICE_BASE_URL: HERE, SERVICE_API_KEY: KEY };
    const quiet = await coffer(["doctor", "--base-url", "nonsense"], home, { env });
    expect(quiet.err).not.toMatch(/^\s+at /m);
    const loud = await coffer(["doctor", "--base-url", "nonsense", "--verbose"], home, { env });
    expect(loud.err).toMatch(/^\s+at /m);
    expect(loud.err).not.toContain(KEY);
  });

  it("lists the origins of stores that are set, and what is wrong with them", async () => {
    const linesWith = async (origins: string): Promise<string> => {
      const { out } = await coffer(["doctor"], home, { env: { SERVICE_CONTENT_ORIGINS: origins } });
      return out
        .split("\n")
        .filter((line) => line.includes("content-origins"))
        .join();
    };
    expect(await linesWith("")).toBe("");
    expect(await linesWith("https://a.example,https://b.example")).toContain("https://a.example https://b.example");
    expect(await linesWith("https://a.example http://b.example")).toContain(
      "contentOrigins, item 2: expected an origin",
    );
    await save({ default: { baseUrl: HERE, contentOrigins: ["https://c.example"] } });
    expect(await linesWith("")).toMatch(/https:\/\/c\.example.*profile/);
    await save({ default: { baseUrl: HERE, contentOrigins: ["http://c.example"] } });
    expect((await coffer(["doctor"], home)).out).toContain("coffer config set content-origins");
  });

  it("keeps origins of stores in the profile, and none that cannot be used", async () => {
    await save({ default: { baseUrl: HERE } });
    const set = (value: string) => coffer(["config", "set", "content-origins", value], home);
    const kept = async () => (await coffer(["config", "get", "content-origins"], home)).out;
    expect((await set("https://a.example, http://127.0.0.1:9000")).code).toBe(0);
    expect(await kept()).toBe("https://a.example http://127.0.0.1:9000\n");
    expect((await coffer(["config", "list"], home)).out).toMatch(/content-origins +https:\/\/a\.example/);
    const refused = await set("https://b.example/path");
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("without a path")]);
    expect(refused.err).toMatch(/^next: .*content-origins/m);
    expect(await kept()).toContain("https://a.example");
    await coffer(["config", "set", "base-url", "https://elsewhere.example"], home);
    expect(await kept()).toBe("");
    expect((await set("https://d.example")).code).toBe(0);
    expect((await set("")).out).toBe("content-origins is none\n");
    expect(await kept()).toBe("");
  });

  it("colours words on a terminal alone, and none for who wants none", async () => {
    const wrong = ["profiles", "use", "nowhere"];
    const onTerminal = { answers: [] };
    expect((await coffer(wrong, home, onTerminal)).err).toMatch(/^\u001b\[31merror:\u001b\[39m .*\n\u001b\[1mnext:/);
    await save({ one: { baseUrl: HERE } });
    expect((await coffer(["profiles", "list"], home, onTerminal)).out).toMatch(/^\u001b\[1m.*NAME.*\u001b\[22m\n/);
    const plain: readonly (readonly [readonly string[], Situation])[] = [
      [wrong, {}],
      [[...wrong, "--no-color"], onTerminal],
      [["--no-color", "nonsense"], onTerminal],
      [wrong, { ...onTerminal, env: { NO_COLOR: "1" } }],
      [["profiles", "list"], { ...onTerminal, env: { NO_COLOR: "1" } }],
      [["profiles", "list"], { ...onTerminal, env: { TERM: "dumb" } }],
      [["profiles", "list", "--json"], onTerminal],
    ];
    for (const [words, situation] of plain) {
      const { out, err } = await coffer(words, home, situation);
      expect(out + err).not.toContain("\u001b");
    }
  });

  it("an interrupted command is 130, one that takes too long is 8", async () => {
    const stopped = await coffer(["whoami"], home, { interrupted: AbortSignal.abort() });
    expect([stopped.code, stopped.err.split("\n")[0]]).toEqual([130, "error: Interrupted."]);
  });
});
