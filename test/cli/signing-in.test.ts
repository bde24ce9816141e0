/** Accounts, keys and sessions by the command line, at a real service with a chain. */
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { coffer, type Situation } from "../kit/coffer.ts";
import { makeDirectory } from "../kit/directory.ts";
import { openSharedStack, type SharedStack } from "../kit/shared-stack.ts";

let stack: SharedStack;
let networkFile: string;

beforeAll(async () => {
  stack = await openSharedStack({ environment: { SERVICE_ACCESS_CODES: "off" } });
  networkFile = join(makeDirectory(), "network.json");
  await writeFile(networkFile, JSON.stringify(stack.localnet.network()));
});

afterAll(async () => {
  await stack[Symbol.asyncDispose]();
});

const PASSWORD = "several unrelated words 41";

interface Person {
  readonly home: string;
  run(words: readonly string[], situation?: Situation): ReturnType<typeof coffer>;
  json(words: readonly string[], situation?: Situation): Promise<Record<string, unknown>>;
  profile(name?: string): Promise<Record<string, unknown>>;
}

function person(): Person {
  const home = makeDirectory();
  const run: Person["run"] = (words, situation = {}) =>
    coffer(words, home, { ...situation, env: { SERVICE_BASE_URL: stack.baseUrl, ...situation.env } });
  return {
    home,
    run,
    json: async (words, situation) => JSON.parse((await run([...words, "--json"], situation)).out),
    profile: async (name = "default") =>
      JSON.parse(await readFile(join(home, ".config", "coffer", "config.json"), "utf8")).profiles[name],
  };
}

const email = (name: string): string => `${name}-${crypto.randomUUID()}@example.com`;

describe("signing up and in [J1, issue 19]", () => {
  it("signup asks for the password, saves session and chain key in a 0600 file, and links the address", async () => {
    const ada = person();
    const address = email("ada");
    const words = ["signup", "--email", address, "--network-file", networkFile];
    const done = await ada.run(words, { answers: [PASSWORD, PASSWORD] });
    expect([done.code, done.out]).toEqual([0, expect.stringContaining('Next: coffer vaults create "Team" --shared')]);
    const file = join(ada.home, ".config", "coffer", "config.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const saved = await ada.profile();
    expect(saved).toMatchObject({
      baseUrl: stack.baseUrl,
      networkFile,
      chainPrivateKey: expect.stringMatching(/^suiprivkey1/),
    });
    const who = await ada.json(["whoami"]);
    expect(who).toMatchObject({ account: { email: address, accessLevel: "owner" }, credential: { kind: "session" } });
    expect((who["account"] as { chainAddress: string }).chainAddress).toBe(who["chainAddress"]);
    for (const text of [done.out, done.err]) expect(text).not.toMatch(/suiprivkey1|eyJ|several unrelated/);

    const again = await ada.run(["signup", "--email", email("x")], { answers: [PASSWORD, PASSWORD] });
    expect([again.code, again.err]).toEqual([7, expect.stringContaining("signed in already")]);
  });

  it("without a terminal the password comes from standard input, and a missing one is exit 2 with what to pass", async () => {
    const bob = person();
    const missing = await bob.run(["signup", "--email", email("bob")]);
    expect(missing).toMatchObject({ code: 2, out: "" });
    expect(missing.err).toContain("--password-stdin");
    const done = await bob.json(["signup", "--email", email("bob"), "--password-stdin", "--no-chain-key"], {
      input: `${PASSWORD}\n`,
    });
    expect(done).toMatchObject({ profile: "default", chainAddress: null });
    const weak = await bob.json(["signup", "--email", email("bob"), "--password-stdin", "--profile", "weak"], {
      input: "short\n",
    });
    expect(weak).toMatchObject({ error: { code: "invalid_arguments" } });
  });

  it("login by e-mail, logout ends the session at the service, a wrong password is exit 4", async () => {
    const eve = person();
    const address = email("eve");
    await eve.run(["signup", "--email", address, "--password-stdin"], { input: PASSWORD });
    const before = await eve.profile();
    const kept = join(eve.home, ".config", "coffer", "store", "sessions.table");
    expect((await stat(kept)).mode & 0o777).toBe(0o600);
    expect(await eve.json(["logout"])).toEqual({ profile: "default", ended: true });
    const after = await eve.profile();
    await expect(stat(kept)).rejects.toThrow("ENOENT");
    expect(after["chainPrivateKey"]).toBe(before["chainPrivateKey"]);
    const out = await eve.run(["whoami"]);
    const next = "coffer login, or coffer signup for a new account";
    expect([out.code, out.err]).toEqual([4, `error: Nobody is signed in here.\nnext: ${next}\n`]);
    const wrong = await eve.run(["login", "--email", address, "--password-stdin"], { input: "some other wrong words" });
    expect([wrong.code, wrong.err.split("\n")[0]]).toEqual([4, "error: Wrong e-mail or password."]);
    expect((await eve.run(["login", "--email", address], { answers: [PASSWORD] })).code).toBe(0);
    expect((await eve.run(["logout"])).code).toBe(0);
    expect((await eve.run(["logout"])).code).toBe(4);
  });

  it("an API key on standard input is tried before it is saved; --revoke ends it", async () => {
    const key = (await stack.owner.client.apiKeys.create({ name: "cli" })).key;
    const kim = person();
    const other = `${key.slice(0, -1)}${key.endsWith("x") ? "y" : "x"}`;
    const refused = await kim.run(["login", "--api-key-stdin"], { input: other });
    expect(refused.code).toBe(4);
    await expect(kim.profile()).rejects.toThrow("ENOENT");
    const done = await kim.run(["login", "--api-key-stdin"], { input: `${key}\n` });
    expect(done.code).toBe(0);
    expect(done.out + done.err).not.toContain(key);
    expect(await kim.profile()).toMatchObject({ apiKey: key });
    expect(await kim.json(["logout", "--revoke"])).toEqual({ profile: "default", ended: true });
    expect((await kim.run(["login", "--api-key-stdin"], { input: key })).code).toBe(4);
  });
});

describe("a second machine of somebody whose account has a chain address [issue 49]", () => {
  it.each(["--email", "--api-key-stdin"])("login %s keeps --network-file", async (way) => {
    const first = person();
    const address = email("two");
    await first.run(["signup", "--email", address, "--password-stdin"], { input: PASSWORD });
    const second = person();
    const { apiKey } = await first.json(["api-keys", "create", "--name", "second"]);
    const { key } = apiKey as { key: string };
    const ways = { "--email": [["--email", address, "--password-stdin"], PASSWORD], "--api-key-stdin": [[way], key] };
    const [words, input] = ways[way as keyof typeof ways] as [string[], string];
    const missing = await second.run(["login", ...words, "--network-file", "nowhere.json"], { input });
    expect([missing.code, missing.err]).toEqual([3, expect.stringContaining("There is no file")]);
    await writeFile(join(second.home, "network.json"), await readFile(networkFile));
    const done = await second.run(["login", ...words, "--network-file", "network.json"], { input });
    expect([done.code, done.err]).toEqual([0, ""]);
    expect(await second.profile()).toMatchObject({ networkFile: join(second.home, "network.json") });
  });

  it("doctor, chain generate and link-chain say that there is an address, and lead to its key or to an invite", async () => {
    const first = person();
    const address = email("three");
    await first.run(["signup", "--email", address, "--password-stdin", "--network-file", networkFile], {
      input: PASSWORD,
    });
    const { chainAddress } = (await first.json(["chain", "address"])) as { chainAddress: string };
    expect((await first.run(["vaults", "create", "Team", "--shared"])).code).toBe(0);

    const second = person();
    await second.run(["login", "--email", address, "--password-stdin", "--network-file", networkFile], {
      input: PASSWORD,
    });
    const ways = [`the chain address ${chainAddress}`, "coffer chain import --stdin", "coffer invites create"];
    const looked = await second.run(["doctor"]);
    expect(looked.code).toBe(0);
    expect(looked.out).not.toContain("chain generate");
    for (const way of ways) expect(looked.out).toContain(way);
    const closed = await second.run(["vaults", "members", "list", "Team"]);
    expect([closed.code, closed.err]).toEqual([4, expect.stringMatching(/^next: coffer doctor/m)]);

    const made = await second.run(["chain", "generate"]);
    expect([made.code, made.out]).toEqual([7, ""]);
    for (const way of ways) expect(made.err).toContain(way);
    expect((await second.profile())["chainPrivateKey"]).toBeUndefined();

    // Whoever has lost the key makes another one, and is told what the account keeps.
    const lost = await second.run(["chain", "generate", "--replace"]);
    expect([lost.code, lost.err]).toEqual([2, expect.stringContaining(chainAddress)]);
    expect((await second.run(["chain", "generate", "--replace", "--yes"])).code).toBe(0);
    const linked = await second.run(["account", "link-chain"]);
    expect(linked.code).toBe(7);
    for (const way of ways) expect(linked.err).toContain(way);
    expect((await second.run(["doctor"])).out).toContain("coffer chain import --stdin");

    // The first of the two ways, with what was printed.
    await first.run(["chain", "backup", "key.txt"]);
    const key = await readFile(join(first.home, "key.txt"));
    const imported = await second.run(["chain", "import", "--stdin", "--replace", "--yes"], { input: key });
    expect([imported.code, imported.out]).toEqual([0, expect.stringContaining(chainAddress)]);
    expect((await second.run(["vaults", "tree", "Team"])).code).toBe(0);
    expect((await second.run(["doctor"])).code).toBe(0);
  });

  it("chain generate goes on where nobody is signed in, and for an account without an address", async () => {
    const offline = person();
    expect((await offline.run(["chain", "generate"])).code).toBe(0);
    const fresh = person();
    const words = ["signup", "--email", email("four"), "--password-stdin", "--no-chain-key"];
    await fresh.run(words, { input: PASSWORD });
    expect((await fresh.run(["doctor"])).out).toContain("coffer chain generate (for shared vaults)");
    expect((await fresh.run(["chain", "generate"])).code).toBe(0);
    expect((await fresh.run(["account", "link-chain"])).code).toBe(0);
  });
});

describe("an invite [J4]", () => {
  it.each([
    ["on the command line", (code: string) => [["--invite-code", code], {}] as const],
    ["on standard input", (code: string) => [["--invite-code", "-"], { input: `${code}\n` }] as const],
  ])("%s gives the agent keys of its own, and the owner's next command", async (_how, given) => {
    const vault = await stack.owner.client.vaults.create({ name: `V ${crypto.randomUUID()}`, type: "shared" });
    const invite = await stack.owner.client.invites.create({ name: "bot", vaultIds: [vault.id] });
    const bot = person();
    const [words, situation] = given(invite.text);
    const joined = await bot.run(["login", ...words, "--network-file", networkFile], situation);
    expect([joined.code, joined.err]).toEqual([0, ""]);
    const { chainPrivateKey, apiKey } = await bot.profile();
    const address = (await bot.json(["chain", "address"]))["chainAddress"];
    expect(joined.out).toContain(`\n  coffer agents list --approve ${String(address)}\n`);
    for (const secret of [chainPrivateKey, apiKey, invite.text]) expect(joined.out).not.toContain(String(secret));
    expect(await bot.json(["whoami"])).toMatchObject({
      account: { accessLevel: "agent" },
      credential: { chainAddress: address, vaultIds: [vault.id] },
    });
    const second = person();
    const used = await second.run(["login", ...words], situation);
    expect([used.code, used.err]).toEqual([3, expect.stringContaining("next: ask the owner for a new invite")]);
  });
});

describe("sessions, password, e-mail and account", () => {
  it("list, change, end", async () => {
    const ann = person();
    const address = email("ann");
    await ann.run(["signup", "--email", address, "--password-stdin", "--name", "Ann"], { input: PASSWORD });
    await ann.run(["login", "--email", address, "--password-stdin", "--profile", "other"], { input: PASSWORD });
    const { sessions } = (await ann.json(["sessions", "list"])) as { sessions: { id: string; current: boolean }[] };
    expect(sessions.map(({ current }) => current).sort()).toEqual([false, true]);
    const other = sessions.find(({ current }) => !current)!;
    const first = await ann.run(["sessions", "list", "--limit", "1"]);
    const more = /^More: coffer (.*)$/m.exec(first.out)?.[1] ?? "";
    expect(more).toMatch(/ --limit 1$/);
    expect((await ann.run(more.split(" "))).code).toBe(0);
    expect((await ann.run(["sessions", "end", other.id])).code).toBe(0);
    const ended = await ann.run(["whoami", "--profile", "other"]);
    expect([ended.code, ended.err]).toEqual([
      4,
      "error: The service did not accept your key or session.\nnext: coffer --profile other login\n",
    ]);
    const lines = (await ann.run(["sessions", "list", "--json-lines"])).out.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).current)).toEqual([true]);

    const next = "other quite unrelated words";
    const changed = await ann.run(["password", "change", "--stdin"], { input: `${PASSWORD}\n${next}\n` });
    expect(changed).toMatchObject({ code: 0, err: "" });
    expect((await ann.run(["password", "change", "--stdin"], { input: `${PASSWORD}\n${next}\n` })).code).toBe(6);
    expect(await ann.json(["account", "update", "--name", "Ann\u001b[31m"])).toMatchObject({
      error: { code: "invalid_arguments" },
    });
    expect(await ann.json(["account", "update", "--name", "Anna"])).toMatchObject({ account: { name: "Anna" } });
    expect((await ann.run(["account", "show"])).out).toContain("Anna");
    expect((await ann.run(["password", "forgot", "nobody@example.com"])).code).toBe(0);
    expect((await ann.run(["email", "resend"])).code).toBe(0);
    expect((await ann.run(["email", "verify", "nonsense"])).code).toBe(1);
    expect(await ann.json(["billing", "show"])).toMatchObject({ billing: { plan: "free" } });
  });
});

describe("the chain key", () => {
  it("is generated, backed up and imported, and only a terminal shows it", async () => {
    const cas = person();
    const made = await cas.json(["chain", "generate"]);
    const address = String(made["chainAddress"]);
    const key = String((await cas.profile())["chainPrivateKey"]);
    expect((await cas.run(["chain", "generate"])).code).toBe(7);
    expect((await cas.run(["chain", "generate", "--replace"])).code).toBe(2);
    const hidden = await cas.run(["chain", "backup", "--reveal"]);
    expect(hidden.code).toBe(6);
    expect(hidden.out + hidden.err).not.toContain(key);
    expect((await cas.run(["chain", "backup", "--reveal"], { answers: [] })).out).toBe(`${key}\n`);
    expect((await cas.run(["chain", "backup", "key.txt"])).code).toBe(0);
    expect((await stat(join(cas.home, "key.txt"))).mode & 0o777).toBe(0o600);
    expect((await cas.run(["chain", "backup", "key.txt"])).code).toBe(7);
    const other = person();
    const input = await readFile(join(cas.home, "key.txt"), "utf8");
    expect(await other.json(["chain", "import", "--stdin"], { input })).toMatchObject({ chainAddress: address });
    const broken = await other.run(["chain", "import", "--stdin", "--replace"], { input: "suiprivkey1nonsense" });
    expect(broken).toMatchObject({ code: 2, out: "" });
  });
});

describe("doctor [J15]", () => {
  it("says where each value came from, and names what is wrong without a secret", async () => {
    const dan = person();
    const address = email("dan");
    await dan.run(["signup", "--email", address, "--password-stdin", "--network-file", networkFile], {
      input: PASSWORD,
    });
    const well = await dan.json(["doctor"]);
    expect(well["ok"]).toBe(true);
    const sources = Object.fromEntries(
      (well["checks"] as { name: string; source: string }[]).map(({ name, source }) => [name, source]),
    );
    expect(sources).toMatchObject({
      "base-url": "environment",
      credential: "profile",
      "chain-key": "profile",
      "network-file": "profile",
    });

    const causes = new Map<string, string>();
    const names = async (env: Record<string, string>, now?: () => number): Promise<string[]> => {
      const ran = await dan.run(["doctor", "--json"], { env, ...(now === undefined ? {} : { now }) });
      expect(ran.code).toBe(1);
      expect(ran.out).not.toMatch(/suiprivkey1|eyJ/);
      const { checks } = JSON.parse(ran.out) as { checks: { name: string; state: string; nextStep: string }[] };
      return checks.filter(({ state }) => state === "problem").map(({ name, nextStep }) => `${name}: ${nextStep}`);
    };
    causes.set("service down", String(await names({ SERVICE_BASE_URL: "http://127.0.0.1:1" })));
    causes.set("wrong clock", String(await names({}, () => Date.now() + 600_000)));
    causes.set("wrong key", String(await names({ SERVICE_CHAIN_PRIVATE_KEY: stack.owner.privateKey })));
    causes.set("bad credential", String(await names({ SERVICE_API_KEY: "cof_nonsense" })));
    causes.set("no network", String(await names({ SERVICE_NETWORK_FILE: "/nowhere.json" })));
    expect(Object.fromEntries([...causes].map(([fault, found]) => [fault, found.split(":")[0]]))).toEqual({
      "service down": "service",
      "wrong clock": "clock",
      "wrong key": "chain-address",
      "bad credential": "sign-in",
      "no network": "network-file",
    });
  });
});
