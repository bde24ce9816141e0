/**
 * The network's file that a service names: it is used when its digest came another way, and a service that lies about the key servers of the
 * true chain gets nobody to use them. A sign-up uses an access code up for nothing that can fail later.
 */
import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { launcherCommand } from "@coffer/devstack";
import { openLocalnet } from "@coffer/localnet";
import { createClient } from "@coffer/sdk";
import { fileStore, openSharedVaults, readServedNetwork, resolveSettings, saveServedNetwork } from "@coffer/sdk/node";
import { parseConfig, startServer } from "@coffer/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runOperator } from "../journeys/kit/operator.ts";
import { coffer, type Ran, type Situation } from "../kit/coffer.ts";
import { makeDirectory } from "../kit/directory.ts";
import { listenOnLoopback } from "../kit/loopback.ts";

const PASSWORD = "several unrelated words 41";
const running = new AsyncDisposableStack();
const directory = makeDirectory();
const networkFile = join(directory, "network.json");
let digest: string;
let foreignDigest: string;
/** Each with its own data and accounts, and all but the last on the same chain. */
let services: Record<"honest" | "lying" | "silent" | "elsewhere", Service>;

interface Service {
  readonly baseUrl: string;
  readonly settings: Readonly<Record<string, string>>;
}

beforeAll(async () => {
  const localnet = running.use(await openLocalnet());
  await localnet.listen();
  const network = localnet.network();
  const written = async (file: string, value: object): Promise<string> => {
    const text = `${JSON.stringify(value, null, 2)}\n`;
    await writeFile(file, text);
    return createHash("sha256").update(text).digest("hex");
  };
  digest = await written(networkFile, network);
  const server = { objectId: `0x${"e".repeat(64)}`, weight: 1, publicKey: randomBytes(96).toString("base64") };
  const foreign = { ...network, keyServerSets: [{ threshold: 1, servers: [server] }] };
  foreignDigest = await written(join(directory, "foreign.json"), foreign);
  services = {
    honest: await open({ SERVICE_CHAIN_FILE: networkFile }),
    lying: await open({ SERVICE_CHAIN_FILE: join(directory, "foreign.json") }),
    silent: await open({}),
    elsewhere: await open({ SERVICE_PUBLIC_URL: "https://elsewhere.example" }),
  };
});

afterAll(() => running.disposeAsync());

async function open(more: Readonly<Record<string, string>>): Promise<Service> {
  const settings = {
    SERVICE_ENV: "development",
    SERVICE_PORT: "0",
    SERVICE_DATA_DIR: makeDirectory(),
    SERVICE_LOG_LEVEL: "fatal",
    ...more,
  };
  const server = await startServer(parseConfig(settings));
  running.defer(() => server.close());
  return { baseUrl: server.baseUrl, settings };
}

function person({ baseUrl }: Service) {
  const home = makeDirectory();
  const folder = join(home, ".config", "coffer");
  const env = { SERVICE_BASE_URL: baseUrl };
  const run = (words: readonly string[], situation: Situation = {}): Promise<Ran> =>
    coffer(words, home, { ...situation, env: { ...env, ...situation.env } });
  return {
    home,
    env: { HOME: home, ...env },
    run,
    json: async (words: readonly string[], situation?: Situation): Promise<Record<string, unknown>> =>
      JSON.parse((await run([...words, "--json"], situation)).out) as Record<string, unknown>,
    profile: async (): Promise<Record<string, unknown>> => {
      const text = await readFile(join(folder, "config.json"), "utf8").catch(() => '{"profiles":{}}');
      return (JSON.parse(text) as { profiles: Record<string, Record<string, unknown>> }).profiles["default"] ?? {};
    },
    /** Files of networks that this machine keeps. */
    networks: () => readdir(join(folder, "networks")).catch(() => []),
  };
}

type Person = ReturnType<typeof person>;

const address = (name: string): string => `${name}-${crypto.randomUUID()}@example.com`;
const passwordOn = { input: `${PASSWORD}\n` };

async function codeOf({ settings }: Service): Promise<string> {
  const made = await runOperator(["access-codes", "create"], settings);
  expect(made.code, made.stderr).toBe(0);
  return made.stdout.trim();
}

const signUp = (accessCode: string): string[] => [
  ...["signup", "--email", address("new"), "--password-stdin"],
  ...["--access-code", accessCode],
];

/** An owner with a shared vault at that service, who has the true file from its operator. */
async function ownerAt(service: Service): Promise<Person> {
  const owner = person(service);
  const words = ["signup", "--dev", "--email", address("owner"), "--network-file", networkFile];
  expect((await owner.run(words)).code).toBe(0);
  expect((await owner.run(["vaults", "create", "Team", "--shared"])).code).toBe(0);
  return owner;
}

async function inviteOf(owner: Person): Promise<string> {
  const { invite } = await owner.json(["invites", "create", "--name", "bot", "--vaults", "Team"]);
  return (invite as { code: string }).code;
}

/** What an earlier version made: it tells the vaults, and no digest. */
async function oldInviteOf(owner: Person): Promise<string> {
  const settings = await resolveSettings(owner.env);
  const opened = await openSharedVaults(settings, fileStore(join(owner.home, "store")));
  if (opened === null || settings.baseUrl === null) throw new Error("the owner is set up");
  const { networkDigest: _, ...sharedVaults } = opened;
  const client = createClient({ baseUrl: settings.baseUrl, credentials: settings.apiKey, sharedVaults });
  const { vaults } = await client.vaults.list();
  const vaultIds = vaults.filter(({ name }) => name === "Team").map(({ id }) => id);
  const { text } = await client.invites.create({ name: "old", vaultIds });
  expect(Buffer.from(text.split(".")[2] ?? "", "base64url")[0]).toBe(1);
  return text;
}

describe("a service that gives the true chain with key servers of somebody else", () => {
  it("is refused by the invite's digest, before the invite is used [S37]", async () => {
    const owner = await ownerAt(services.lying);
    const invite = await inviteOf(owner);
    const agent = person(services.lying);
    const refused = await agent.run(["login", "--invite-code", "-"], { input: invite });
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/^error: The network's file .* not used/)]);
    // Nor does a person at a terminal, or whoever agrees to everything, take it against the invite.
    for (const more of [[], ["--yes"]]) {
      const typed = { answers: [foreignDigest.slice(0, 8)] };
      const again = await agent.run(["login", "--invite-code", invite, ...more], typed);
      expect(again.err).toContain("not used");
    }
    expect([await agent.profile(), await agent.networks()]).toEqual([{}, []]);
    const joined = await agent.run(["login", "--invite-code", "-", "--network-file", networkFile], { input: invite });
    expect([joined.code, joined.err]).toEqual([0, ""]);
  });

  it("is refused by coffer-mcp join, which asks nobody [S37]", async () => {
    const owner = await ownerAt(services.lying);
    const agent = person(services.lying);
    const { command, args } = launcherCommand();
    const environment = { ...process.env, ...agent.env };
    const joinBy = (invite: string, ...words: string[]) =>
      promisify(execFile)(command, [...args, "join", invite, ...words], { env: environment });
    const refusalOf = async (joining: Promise<unknown>): Promise<string> => {
      const error = await joining.then(
        () => null,
        (thrown: unknown) => thrown,
      );
      return String((error as { stderr?: string } | null)?.stderr);
    };
    const words = /was not used: its SHA-256 digest/;
    expect(await refusalOf(joinBy(await inviteOf(owner)))).toMatch(words);
    expect(await refusalOf(joinBy(await oldInviteOf(owner), "--network-digest", digest))).toMatch(words);
    expect([await agent.profile(), await agent.networks()]).toEqual([{}, []]);
    // An invite that tells no digest gets an agent that has no network yet, rather than that one.
    const joined = await joinBy(await oldInviteOf(owner), "--json");
    expect(JSON.parse(joined.stdout)).toMatchObject({ networkFile: null });
    expect(await agent.networks()).toEqual([]);
  });

  it("is refused by --network-digest and by what a person types, before an access code is used [S37]", async () => {
    const code = await codeOf(services.lying);
    const newcomer = person(services.lying);
    const asked: string[] = [];
    const typing = (text: string): Situation => ({
      atQuestion: async (question) => {
        asked.push(question);
        return question.startsWith("SHA-256") ? text : PASSWORD;
      },
    });
    const words = signUp(code).filter((word) => word !== "--password-stdin");
    const byLine = await newcomer.run([...signUp(code), "--network-digest", digest], passwordOn);
    const byHand = await newcomer.run(words, typing(digest.slice(0, 8)));
    const short = await newcomer.run(words, typing(foreignDigest.slice(0, 7)));
    for (const refused of [byLine, byHand, short])
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("was not used")]);
    // The answer is not on the screen.
    expect(byHand.err).not.toContain(foreignDigest.slice(0, 8));
    expect(await newcomer.networks()).toEqual([]);

    asked.length = 0;
    const agreeing = await newcomer.run([...words, "--yes"], typing(foreignDigest));
    expect(agreeing.code).toBe(0);
    expect(agreeing.out).toContain("nobody compared the service's network file");
    expect(asked.filter((question) => question.startsWith("SHA-256"))).toEqual([]);
    expect([(await newcomer.profile())["networkFile"], await newcomer.networks()]).toEqual([undefined, []]);
  });

  it("never replaces a network that is there [S37]", async () => {
    const owner = await ownerAt(services.lying);
    const kept = await owner.run(["chain", "network"]);
    expect([kept.code, kept.out]).toEqual([0, `Network file: ${networkFile}\nSHA-256: ${digest}\n`]);
    const other = await owner.run(["chain", "network", "--network-digest", foreignDigest]);
    expect([other.code, other.err]).toEqual([2, expect.stringContaining("does not replace it")]);
    expect(await owner.profile()).toMatchObject({ networkFile });
    expect(await owner.networks()).toEqual([]);
  });
});

describe("the operator's own file", () => {
  it("is what an agent gets by the invite, which then names no file of another machine", async () => {
    const owner = await ownerAt(services.honest);
    const { prompt } = await owner.json(["invites", "create", "--name", "b", "--vaults", "Team", "--prompt"]);
    expect(prompt).not.toContain("network");
    const agent = person(services.honest);
    const joined = await agent.run(["login", "--invite-code", "-"], { input: await inviteOf(owner) });
    const path = join(agent.home, ".config", "coffer", "networks", `${digest}.json`);
    expect([joined.code, joined.out]).toEqual([0, expect.stringContaining(`Network of shared vaults: ${path}\n`)]);
    expect(await readFile(path)).toEqual(await readFile(networkFile));
    expect(await agent.profile()).toMatchObject({ networkFile: path });
    const { chainAddress } = (await agent.json(["chain", "address"])) as { chainAddress: string };
    expect((await owner.run(["agents", "list", "--approve", chainAddress, "--yes"])).code).toBe(0);
    expect((await agent.run(["ls", "Team:"])).code).toBe(0);
  });

  it("is what a new account gets by --network-digest, or by the first eight characters that somebody types", async () => {
    const byLine = person(services.honest);
    const words = [...signUp(await codeOf(services.honest)), "--network-digest", digest.toUpperCase()];
    expect(await byLine.json(words, passwordOn)).toMatchObject({ chainAddress: expect.stringMatching(/^0x/) });
    const byHand = person(services.honest);
    const typed = await byHand.run(["signup", "--dev", "--email", address("typed")], {
      answers: [` ${digest.slice(0, 8)}`],
    });
    expect([typed.code, typed.out]).toEqual([0, expect.stringContaining("Your chain address: 0x")]);
    for (const each of [byLine, byHand]) {
      expect((await each.run(["vaults", "create", "Team", "--shared"])).code).toBe(0);
      expect(await each.networks()).toEqual([`${digest}.json`]);
    }
  });

  it("is what a second machine gets by --network-digest, whichever way it signs in", async () => {
    const { key } = (await (await ownerAt(services.honest)).json(["api-keys", "create", "--name", "k"]))["apiKey"] as {
      key: string;
    };
    const second = person(services.honest);
    const words = ["login", "--api-key-stdin", "--network-digest"];
    const refused = await second.run([...words, foreignDigest], { input: key });
    expect([refused.code, await second.profile()]).toEqual([1, {}]);
    expect((await second.run([...words, digest], { input: key })).code).toBe(0);
    expect((await second.profile())["networkFile"]).toMatch(new RegExp(`networks/${digest}\\.json$`));
  });

  it("can wait: the account is there without it, and coffer chain network gets it", async () => {
    for (const situation of [{}, { answers: [""] }]) {
      const later = person(services.honest);
      const done = await later.run(["signup", "--dev", "--email", address("later")], situation);
      expect([done.code, done.out]).toEqual([0, expect.stringContaining("coffer chain network")]);
      expect((await later.run(["chain", "network"])).code).toBe(2);
      expect((await later.run(["chain", "network", "--network-digest", digest])).code).toBe(0);
      for (const words of [
        ["chain", "generate"],
        ["account", "link-chain"],
        ["vaults", "create", "Team", "--shared"],
      ])
        expect((await later.run(words)).code).toBe(0);
    }
  });

  it("gets to an old invite only by what somebody typed", async () => {
    const owner = await ownerAt(services.honest);
    const unasked = person(services.honest);
    const joined = await unasked.json(["login", "--invite-code", "-"], { input: await oldInviteOf(owner) });
    expect([joined["networkFile"], await unasked.networks()]).toEqual([null, []]);
    const asked = person(services.honest);
    const words = ["login", "--invite-code", await oldInviteOf(owner)];
    expect((await asked.run(words, { answers: [digest.slice(0, 8)] })).code).toBe(0);
    expect(await asked.networks()).toEqual([`${digest}.json`]);
  });

  it("is kept as its user has changed it", async () => {
    const { baseUrl } = services.honest;
    const configuration = join(makeDirectory(), "config.json");
    const served = await readServedNetwork(createClient({ baseUrl }));
    if (served === null) throw new Error("the service names a network");
    const { path } = await saveServedNetwork(served, digest, configuration);
    const witnessed = { ...JSON.parse(await readFile(path, "utf8")), witnessUrls: ["https://witness.example"] };
    await writeFile(path, JSON.stringify(witnessed));
    const again = await saveServedNetwork(served, digest, configuration);
    expect(again).toMatchObject({ path, network: { witnessUrls: ["https://witness.example"] } });
    await expect(saveServedNetwork(served, foreignDigest, configuration)).rejects.toMatchObject({
      code: "configuration",
    });
    const lie = { bytes: Buffer.from("{}"), digest };
    await expect(saveServedNetwork(lie, digest, configuration)).rejects.toMatchObject({ code: "configuration" });
  });

  it("is asked for without a credential", async () => {
    const seen: unknown[] = [];
    await using listener = await listenOnLoopback((request, response) => {
      seen.push([request.url, request.headers.authorization]);
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
    const { baseUrl } = listener;
    const client = createClient({ baseUrl, credentials: { apiKey: `cof_${"a".repeat(49)}` } });
    expect((await readServedNetwork(client))?.digest).toBe(createHash("sha256").update("{}").digest("hex"));
    expect(seen).toEqual([["/api/network", undefined]]);
  });
});

describe("a sign-up [J1]", () => {
  it("at a service without a chain makes the account, and says that shared vaults are not available there", async () => {
    const newcomer = person(services.silent);
    const done = await newcomer.run(signUp(await codeOf(services.silent)), passwordOn);
    expect([done.code, done.err]).toEqual([0, ""]);
    expect(done.out).toContain("Shared vaults are not available at this service");
    expect(done.out).toContain("Next: coffer upload FILE");
    expect((await newcomer.run(["vaults", "create", "Mine", "--public"])).code).toBe(0);
    expect((await newcomer.profile())["chainPrivateKey"]).toBeUndefined();
  });

  it("uses an access code up for nothing that can fail later", async () => {
    const code = await codeOf(services.silent);
    const broken = join(directory, "broken.json");
    await writeFile(broken, "{}");
    const blocked = join(directory, "blocked");
    await writeFile(blocked, "a file where the configuration's directory would be");
    const wrong: readonly (readonly [string, string[], Situation])[] = [
      ["a network file that is not there", ["--network-file", "nowhere.json"], {}],
      ["one that is none", ["--network-file", broken], {}],
      ["a digest of a network that the service does not name", ["--network-digest", digest], {}],
      ["a digest that is none", ["--network-digest", "eight"], {}],
      ["a chain key that is none", ["--network-file", networkFile], { env: { SERVICE_CHAIN_PRIVATE_KEY: "nonsense" } }],
      ["nowhere to keep the sign-in", [], { env: { SERVICE_CONFIG_DIR: join(blocked, "coffer") } }],
    ];
    for (const [what, words, situation] of wrong) {
      const refused = await person(services.silent).run([...signUp(code), ...words], { ...passwordOn, ...situation });
      expect([what, refused.code]).not.toEqual([what, 0]);
    }
    expect((await person(services.silent).run(signUp(code), passwordOn)).code).toBe(0);
    // It was good for one account.
    expect((await person(services.silent).run(signUp(code), passwordOn)).err).toContain("access code");
  });

  it("whose address cannot be linked is there all the same, with the next step", async () => {
    const newcomer = person(services.elsewhere);
    const words = [...signUp(await codeOf(services.elsewhere)), "--network-file", networkFile];
    const done = await newcomer.run(words, passwordOn);
    expect(done.code).toBe(0);
    expect(done.out).toMatch(/could not be linked to the account: .*elsewhere\.example/);
    expect(done.out).toContain("coffer account link-chain");
    expect((await newcomer.run(["whoami"])).code).toBe(0);
  });
});
