import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { createClient, type SharedVaults } from "@coffer/sdk";
import { fileStore, openSharedVaults, readConfig, resolveSettings } from "@coffer/sdk/node";
import { openToolClient, type ToolClient } from "@coffer/devstack";
import { afterEach, beforeEach, describe, expect, it, type TestContext } from "vitest";
import { allOf } from "./kit/bytes.ts";
import { makeDirectory } from "./kit/directory.ts";
import { answers, makeFolder, npmStart, stopAll, until, type Run } from "./kit/npm-start.ts";

let base: string;

beforeEach(async () => {
  base = makeDirectory();
});

afterEach(async () => {
  await stopAll();
});

/** The story of the main job. */
const STEPS = ["vault", "joined", "refused", "added", "stored", "read", "plaintext", "removed", "closed"];

interface Document {
  readonly baseUrl: string;
  readonly credentialsFile: string;
  readonly newAccount: boolean;
  readonly chain: { readonly networkFile: string; readonly seconds: number };
  readonly job: {
    readonly vaultId: string;
    readonly chainObjectId: string;
    readonly agentAddress: string;
    readonly steps: { name: string; ok: boolean; said: string; seconds: number }[];
    readonly files: number;
    readonly verified: number;
    readonly ok: boolean;
    readonly skipped: { path: string; reason: string }[];
    readonly failed: { path: string; reason: string }[];
  };
  readonly webhooks: {
    readonly pageUrl: string;
    readonly hookUrl: string;
    readonly expected: number;
    readonly arrived: number;
    readonly failed: number;
    readonly ok: boolean;
  };
  readonly mcp: {
    readonly mcpServers: {
      readonly coffer: { readonly command: string; readonly args: string[]; readonly env: Record<string, string> };
    };
  };
}

/** What the printed agent is for: it stores, lists, finds, downloads and restores a file in the vault that it is a member of. */
async function useAsAgent(tools: ToolClient, folder: string): Promise<void> {
  const vaultId = "My files";
  const name = `report ${randomUUID()}.txt`;
  const local = join(folder, name);
  for (const words of ["first", "second"]) {
    await writeFile(local, words);
    const stored = await tools.call("file_upload", { paths: [local], vaultId, ifExists: "version" });
    expect(stored.facts).toMatchObject({ fileId: expect.any(String) });
  }
  const listed = await tools.call("file_list", { vaultId });
  expect(listed.text).toContain(name);
  const found = await tools.call("file_search", { query: name.slice(0, 20), vaultId });
  expect(found.text).toContain(name);
  const restored = await tools.call("file_restore", { files: [name], vaultId, version: "1" });
  expect(restored.code).toBeNull();
  const dest = join(folder, "coffer", "back.txt");
  const fetched = await tools.call("file_download", { files: [name], vaultId, dest });
  expect(fetched.code).toBeNull();
  expect(await readFile(dest, "utf8")).toBe("first");
  await rm(dest);
}

async function ready(run: Run): Promise<Document> {
  await until(run, "up until Ctrl-C");
  return JSON.parse(run.stdout) as Document;
}

const json = (data: string): string[] => ["--json", "--port", "0", "--data", data];

function secretsIn(text: string): string[] {
  return text.match(/\b(?:cof_|suiprivkey1)\w{20,}/g) ?? [];
}

describe("npm start --json", () => {
  it("prints one document, serves, and SIGTERM to npm stops the server", async () => {
    const folder = await makeFolder(base, { "a.txt": "a", "sub/b.txt": "b" });
    const run = npmStart([...json(join(base, "data")), "--folder", folder]);
    const document = await ready(run);
    expect(document.job).toMatchObject({ files: 2, verified: 2, ok: true });
    expect(document.job.steps.map(({ name, ok }) => [name, ok])).toEqual(STEPS.map((name) => [name, true]));
    expect(await answers(document.baseUrl)).toBe(true);
    const profile = (await readConfig(document.credentialsFile))?.profiles["default"];
    expect(profile?.baseUrl).toBe(document.baseUrl);
    const sharedVaults = await openVaults(document);
    const owner = createClient({ baseUrl: document.baseUrl, credentials: profile?.apiKey ?? null, sharedVaults });
    const files = await allOf(owner.files.list({ vaultId: document.job.vaultId }));
    const names = files.map(({ name }) => name);
    expect(names.toSorted()).toEqual(["a.txt", "b.txt", "later.txt", expect.stringMatching(/^welcome /)]);
    expect((await owner.vaults.get(document.job.vaultId)).type).toBe("shared");
    expect((await owner.vaults.members.list(document.job.vaultId)).items).toMatchObject([{ role: "owner" }]);
    const agents = ["agent.json", "demonstration.json"].map((name) => join(base, "data", name));
    for (const file of [document.credentialsFile, ...agents, document.chain.networkFile]) {
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(secretsIn(await readFile(file, "utf8")).filter((secret) => printed(run).includes(secret))).toEqual([]);
    }
    await pasteConfiguration(document, folder);
    await openPage(document);
    await run.stop();
    expect(await answers(document.baseUrl)).toBe(false);
    await expect(fetch(document.webhooks.pageUrl)).rejects.toThrow("fetch failed");
  });

  /** The owner's side, from what the run left in its data directory. */
  async function openVaults({ credentialsFile }: Document): Promise<SharedVaults> {
    const settings = await resolveSettings({}, { configFile: credentialsFile });
    const options = await openSharedVaults(settings, fileStore(join(base, "store")));
    if (options === null) throw new Error("the credentials file has no chain key or no network");
    return options;
  }

  function printed({ stdout, stderr }: Run): string {
    return stdout + stderr;
  }

  /** The uploads were delivered to the sink, and its page and data show them verified. */
  async function openPage({ webhooks, job }: Document): Promise<void> {
    expect(webhooks).toMatchObject({ expected: 2, arrived: 2, failed: 0, ok: true });
    expect(await (await fetch(webhooks.pageUrl)).text()).toContain("<title>Webhook deliveries</title>");
    const { deliveries } = (await (await fetch(`${webhooks.pageUrl}deliveries.json`)).json()) as {
      deliveries: { kind: string; problem: string | null; body: string }[];
    };
    const uploads = deliveries.filter(({ kind, body }) => kind === "file.uploaded" && body.includes(job.vaultId));
    // The agent's two, and the owner's two.
    expect(uploads.map(({ problem }) => problem)).toEqual([null, null, null, null]);
    expect(uploads.filter(({ body }) => body.includes("a.txt"))).toEqual([]);
  }

  /** The printed configuration is what a host would start: by absolute paths, without a secret. */
  async function pasteConfiguration({ mcp, credentialsFile }: Document, folder: string): Promise<void> {
    const { command, args, env } = mcp.mcpServers.coffer;
    expect(args.slice(-2)).toEqual(["--allow", folder]);
    await using tools = await openToolClient({
      credentialsFile: env["SERVICE_CONFIG_FILE"] ?? "",
      folders: [],
      launcher: { command, args },
    });
    const agentsFile = join(dirname(credentialsFile), basename(credentialsFile).replace("credentials", "agent"));
    expect(env).toEqual({ SERVICE_CONFIG_FILE: agentsFile });
    const status = await tools.call("status_check");
    expect(status.facts).toMatchObject({ signedIn: true, accessLevel: "agent", allowedFolders: [folder] });
    const { expires } = status.facts["key"] as { expires: string };
    expect(Date.parse(expires)).toBeGreaterThan(Date.now() + 80 * 86_400_000);
    await useAsAgent(tools, folder);
  }

  it("keeps the account, the vault and the agent for the next run, from another directory, and serves at once on their data", async () => {
    await makeFolder(base, { "a.txt": "a" });
    const first = npmStart([...json("data"), "--folder", "files", "--once"], { cwd: base });
    expect(await first.ended).toBe(0);
    const second = npmStart([...json("data"), "--folder", "files", "--once"], { cwd: base });
    expect(await second.ended).toBe(0);
    const [one, two] = [JSON.parse(first.stdout) as Document, JSON.parse(second.stdout) as Document];
    expect([one.newAccount, two.newAccount]).toEqual([true, false]);
    expect(one.credentialsFile).toBe(join(base, "data", "credentials.json"));
    expect(two.job).toMatchObject({
      vaultId: one.job.vaultId,
      chainObjectId: one.job.chainObjectId,
      agentAddress: one.job.agentAddress,
      ok: true,
    });
    // The second took the place of the first: nothing grows with each start.
    const third = await ready(npmStart([...json("data"), "--folder", "files"], { cwd: base }));
    expect(third).toMatchObject({ newAccount: false, job: null, mcp: two.mcp });
    expect(third.chain.networkFile).toBe(two.chain.networkFile);
    await pasteConfiguration(third, join(base, "files"));
    const sharedVaults = await openVaults(third);
    const { apiKey = null } = (await readConfig(third.credentialsFile))?.profiles["default"] ?? {};
    const owner = createClient({ baseUrl: third.baseUrl, credentials: apiKey, sharedVaults });
    const folders = await allOf(owner.folders.list({ vaultId: one.job.vaultId }));
    expect(folders.map(({ name }) => name)).toEqual(["files"]);
  });
});

describe("two at once on the same data", () => {
  it("serve both, and each has its own credentials file", async (context) => {
    skipUnlessFull(context);
    const folder = await makeFolder(base, { "a.txt": "a" });
    const args = [...json(join(base, "data")), "--folder", folder];
    const first = await ready(npmStart(args));
    const second = await ready(npmStart(args));
    expect(second.credentialsFile).not.toBe(first.credentialsFile);
    for (const { baseUrl, credentialsFile } of [first, second]) {
      expect((await readConfig(credentialsFile))?.profiles["default"]?.baseUrl).toBe(baseUrl);
      expect(await answers(baseUrl)).toBe(true);
    }
  });
});

it("a busy --port is an error with a sentence", async () => {
  await using taken = await takePort(0);
  const run = npmStart(["--port", String(taken.port), "--data", join(base, "data")]);
  expect(await run.ended).not.toBe(0);
  expect(run.stderr).toContain(`Port ${String(taken.port)} is in use`);
  expect(run.stderr).not.toContain("    at ");
  expect(run.stdout).toBe("");
});

/** Listens on this port of loopback, or on any if somebody else on this machine does: then it is busy all the same. */
async function takePort(port: number): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = createServer();
  const listening = once(server, "listening").catch(() => once(server.listen(0, "127.0.0.1"), "listening"));
  server.listen(port, "127.0.0.1");
  await listening;
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, "close");
    },
  };
}

/** What stands under each number of "What next": a block to paste. */
function blocksOf(stdout: string): string[] {
  const [, next = ""] = stdout.split("\nWhat next\n");
  return next
    .split(/^\d\. .+:$/m)
    .slice(1)
    .map((block) => block.trim());
}

describe("what npm start prints to paste", () => {
  it("works as printed, whatever is in the name of the data directory: each block [issue 49]", async () => {
    const folder = await makeFolder(base, { "a.txt": "a" });
    const data = join(base, "it's data of $(touch pwned)");
    const run = npmStart(["--port", "0", "--data", data, "--folder", folder], { cwd: base });
    await until(run, "up until Ctrl-C");
    const [first = "", source = "", curl = "", example = "", accessCode = "", ...more] = blocksOf(run.stdout);
    expect(more).toEqual([]);
    const [configuration = "", ask = ""] = first.split("\n\n");
    expect(ask.trim()).toBe(`Then ask it: "Store the files of ${folder} in my vault, and tell me what is there."`);
    const { command, args, env } = (JSON.parse(configuration) as Document["mcp"]).mcpServers.coffer;
    const credentialsFile = env["SERVICE_CONFIG_FILE"] ?? "";
    await using tools = await openToolClient({ credentialsFile, folders: [], launcher: { command, args } });
    expect((await tools.call("status_check")).facts).toMatchObject({ signedIn: true, sharedVaults: "ready" });
    await useAsAgent(tools, folder);
    const { account } = JSON.parse(await pasted(curl, base)) as { account: { email: string } };
    expect(account.email).toMatch(/@example\.com$/);
    expect(await pasted(example, base)).toMatch(/every claim holds\s*$/);
    const baseUrl = (await pasted(`${source}\nprintf %s "$SERVICE_BASE_URL"`, base)).trim();
    const code = (await pasted(accessCode, base)).trim();
    expect(await createClient({ baseUrl }).auth.checkAccessCode(code)).toBe(true);
    expect((await stat(join(data, "env"))).mode & 0o777).toBe(0o600);
    const kept = [join(data, "credentials.json"), credentialsFile];
    const secrets = (await Promise.all(kept.map((file) => readFile(file, "utf8")))).flatMap(secretsIn);
    const written = run.stdout + run.stderr + (await readFile(join(data, "env"), "utf8"));
    expect(secrets.filter((secret) => written.includes(secret))).toEqual([]);
    expect(await readdir(base)).not.toContain("pwned");
    await run.stop();
    expect(await readdir(data)).not.toContain("env");
  });

  /** What a shell prints of it, in the folder where the user stands; nothing goes to the home directory. */
  async function pasted(line: string, cwd: string): Promise<string> {
    const home = join(base, "home");
    const { SERVICE_CONFIG_FILE: _file, SERVICE_CONFIG_DIR: _directory, ...rest } = process.env;
    const env = { ...rest, HOME: home, XDG_CONFIG_HOME: join(home, ".config"), npm_config_cache: join(base, "npm") };
    const { stdout } = await promisify(execFile)("sh", ["-c", line], { cwd, env });
    expect(await readdir(home).catch(() => [])).toEqual([]);
    return stdout;
  }
});

/** Each starts a whole stack to end with a status that others have, too. */
function skipUnlessFull(context: TestContext): void {
  if (process.env["COFFER_TEST_COUNTS"] !== "full") context.skip("runs in the full counts (npm run test:nightly)");
}

describe("npm start --once", () => {
  it("tells the story once, on the next port if 8787 is busy, prints the table and nothing to paste, and ends with 0", async () => {
    const folder = await makeFolder(base, { "a.txt": "a" });
    await using _ = await takePort(8787);
    const run = npmStart(["--data", join(base, "data"), "--folder", folder, "--once"]);
    expect(await run.ended).toBe(0);
    expect(run.stderr).toContain("port 8787 is in use, trying the next");
    expect(run.stdout).toMatch(/http:\/\/127\.0\.0\.1:87[89]\d/);
    expect(run.stdout).toMatch(/verified +1 of 1 files, every byte/);
    expect(run.stderr.match(/^coffer: ok {2}/gm)).toHaveLength(STEPS.length);
    for (const [, told = ""] of run.stderr.matchAll(/^coffer: ok {2}(.+)$/gm)) expect(run.stdout).not.toContain(told);
    expect(run.stdout).toMatch(/webhooks +1 of 1 uploads delivered, each verified/);
    expect(run.stdout).toMatch(/page +http:\/\/127\.0\.0\.1:\d+\/ /);
    // The service is gone then: nothing that could be pasted would work.
    expect(run.stdout).not.toContain("What next");
  });

  it("stores what it can of a hostile folder and names what it leaves out", async (context) => {
    skipUnlessFull(context);
    const folder = await makeFolder(base, {
      "new\nline.txt": "1",
      "back\\slash": "2",
      empty: "",
      " space ": "3",
      ".env": "KEY=1",
      "deep/er/file": "4",
      "Ünï – ☃.txt": "5",
      large: "x".repeat(2001),
    });
    await symlink("/etc/passwd", join(folder, "link"));
    await symlink(folder, join(folder, "loop"));
    await mkdir(join(folder, "nothing"));
    await writeFile(Buffer.concat([Buffer.from(`${folder}/latin`), Buffer.from([0xe9])]), "6");
    const env = { SERVICE_PRO_FILE_BYTES: "2000" };
    const run = npmStart([...json(join(base, "data")), "--folder", folder, "--once"], { env });
    expect(await run.ended).toBe(0);
    const { job } = JSON.parse(run.stdout) as Document;
    expect(job).toMatchObject({ files: 6, verified: 6, ok: true, failed: [] });
    expect(job.skipped.map(({ reason }) => reason).toSorted()).toEqual([
      expect.stringContaining("file_too_large"),
      "looks like a credential or key",
      "symbolic links are not followed",
      "symbolic links are not followed",
      "the name is not UTF-8",
    ]);
  });

  it("does not call it a success when nothing could be stored", async (context) => {
    skipUnlessFull(context);
    const folder = await makeFolder(base, { ".env": "KEY=1" });
    const run = npmStart([...json(join(base, "data")), "--folder", folder, "--once"]);
    expect(await run.ended).toBe(1);
  });

  const many = Object.fromEntries(
    Array.from({ length: 80 }, (_, number) => [`f${String(number).padStart(3, "0")}`, `content ${String(number)}`]),
  );

  it("ends with 1 when a file does not come back as it is here, and when deliveries do not arrive", async (context) => {
    skipUnlessFull(context);
    const folder = await makeFolder(base, many);
    // Nobody listens there: every attempt fails on its way.
    const env = { SERVICE_WEBHOOK_PROXY: "http://127.0.0.1:9" };
    const run = npmStart([...json(join(base, "data")), "--folder", folder, "--once"], { env });
    await until(run, "; listing");
    await writeFile(join(folder, "f079"), "content 7!");
    expect(await run.ended).toBe(1);
    const { job, webhooks } = JSON.parse(run.stdout) as Document;
    expect(job).toMatchObject({ ok: false, verified: 79, failed: [{ path: "f079", reason: "came back different" }] });
    expect(webhooks).toMatchObject({ expected: 80, arrived: 0, ok: false });
    expect(run.stderr).toContain("NOT every upload was delivered: 0 of 80");
  });

  it("ends with 1 when a stored byte was changed behind the service's back", async (context) => {
    skipUnlessFull(context);
    const folder = await makeFolder(base, many);
    const run = npmStart([...json(join(base, "data")), "--folder", folder, "--once"]);
    await until(run, "; listing");
    await tamper(join(base, "data", "blobs"));
    expect(await run.ended).toBe(1);
    const { job } = JSON.parse(run.stdout) as Document;
    expect(job.failed).toEqual([
      { path: expect.any(String), reason: expect.stringMatching(/damaged|integrity_failed/) },
    ]);
    expect(job.steps.map(({ name, ok }) => [name, ok])).toEqual(STEPS.map((name) => [name, name !== "read"]));
  });

  /** Which file it is nobody can tell: one byte of the one written last, near its end. */
  async function tamper(directory: string): Promise<void> {
    const entries = (await readdir(directory, { recursive: true, withFileTypes: true })).filter((each) =>
      each.isFile(),
    );
    const paths = entries.map(({ parentPath, name }) => join(parentPath, name));
    const files = await Promise.all(paths.map(async (path) => ({ path, written: (await stat(path)).mtimeMs })));
    const [last = { path: "nothing is stored" }] = files.toSorted((a, b) => b.written - a.written);
    const bytes = await readFile(last.path);
    bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
    await writeFile(last.path, bytes);
  }
});

describe("what cannot be understood", () => {
  it.each([[["--prot", "1"]], [["--folder", "/does/not/exist"]]])("is refused: %j", async (args) => {
    const run = npmStart(args);
    expect(await run.ended).not.toBe(0);
    expect(run.stdout).toBe("");
    expect(run.stderr).toMatch(/^coffer: .+/);
    expect(run.stderr).not.toContain("    at ");
  });

  it("a forgotten -- is refused with the line to write", async () => {
    const run = npmStart([], { env: { npm_config_port: "true" } });
    expect(await run.ended).toBe(2);
    expect(run.stderr).toContain("npm start -- --port");
  });

  it("--help explains and ends with 0", async () => {
    const run = npmStart(["--help"]);
    expect(await run.ended).toBe(0);
    expect(run.stdout).toContain("--folder PATH");
  });
});
