/**
 * One journey of an owner and an agent through all that hands out secrets, with --verbose and the log at its most talkative level.
 * No key, token, code, password or secret, and no name or text of a shared vault, is in the server's log or data, or in what the
 * command line and the tool server print beside their results.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "@coffer/sdk/node";
import { beforeAll, expect, it } from "vitest";
import { coffer, type Situation } from "../kit/coffer.ts";
import { makeDirectory } from "../kit/directory.ts";
import { openRawTools } from "../kit/raw-tools.ts";
import { findSecrets, readPlaces, type Place, type Secret } from "../kit/secret-scan.ts";
import { openSharedStack } from "../kit/shared-stack.ts";

const word = (): string => randomBytes(12).toString("hex");
const PASSWORDS = { first: `first ${word()}`, second: `second ${word()}`, wrong: `wrong ${word()}` };
const NAMES = {
  vault: `vault ${word()}`,
  folder: `folder ${word()}`,
  file: `file-${word()}.txt`,
  content: `content ${word()}`,
};

const secrets: Secret[] = [];
let logs: Place[] = [];
let kept: Place[] = [];

interface Profile {
  readonly apiKey?: string;
  readonly chainPrivateKey: string;
}

beforeAll(async () => {
  const environment = { SERVICE_ACCESS_CODES: "off", SERVICE_LOG_LEVEL: "debug" };
  await using stack = await openSharedStack({ environment });
  const said: string[] = [];
  const [owner, agent] = [makeDirectory(), makeDirectory()];
  const networkFile = join(owner, "network.json");
  writeFileSync(networkFile, JSON.stringify(stack.localnet.network()));
  const at = ["--base-url", stack.baseUrl, "--verbose"];
  const on =
    (home: string, code: number) =>
    async (words: readonly string[], situation: Situation = {}) => {
      const ran = await coffer([...words, ...at, "--json"], home, { workingDirectory: owner, ...situation });
      expect([words, ran.code], ran.err + ran.out).toEqual([words, code]);
      said.push(ran.err);
      return JSON.parse(ran.out) as Record<string, unknown>;
    };
  const [run, fails] = [on(owner, 0), (code: number) => on(owner, code)];
  const profileOf = (home: string): Profile => {
    const file = readFileSync(join(home, ".config/coffer/config.json"), "utf8");
    return (JSON.parse(file) as { profiles: { default: Profile } }).profiles.default;
  };
  const note = (kind: string, ...texts: readonly unknown[]): void => {
    for (const text of texts) secrets.push({ kind, text: expectText(text) });
  };
  const noteSession = async (): Promise<void> => {
    const { session } = (await readConfig(join(owner, ".config/coffer/config.json")))?.profiles["default"] ?? {};
    note("access token", session?.accessToken?.reveal());
    note("refresh token", session?.refreshToken.reveal());
  };

  const email = "journey@example.com";
  const signup = ["signup", "--email", email, "--password-stdin", "--network-file", networkFile];
  await run(signup, { input: `${PASSWORDS.first}\n` });
  note("password", ...Object.values(PASSWORDS));
  note("chain private key", profileOf(owner).chainPrivateKey);
  await noteSession();
  await run(["password", "change", "--stdin"], { input: `${PASSWORDS.first}\n${PASSWORDS.second}\n` });
  await run(["logout"]);
  await fails(4)(["login", "--email", email, "--password-stdin"], { input: `${PASSWORDS.wrong}\n` });
  await run(["login", "--email", email, "--password-stdin"], { input: `${PASSWORDS.second}\n` });
  await noteSession();

  await run(["vaults", "create", NAMES.vault, "--shared"]);
  writeFileSync(join(owner, NAMES.file), NAMES.content);
  await run(["upload", NAMES.file, "--vault", NAMES.vault, "--folder", NAMES.folder]);
  await fails(3)(["stat", `${NAMES.vault}:${NAMES.folder}/none`]);
  await fails(7)(
    ["upload", NAMES.file, "--vault", NAMES.vault, "--folder", NAMES.folder, "--name", NAMES.file, "--type", "x/y"],
    {
      workingDirectory: other(NAMES.file),
    },
  );
  note("vault name", NAMES.vault);
  note("name in a shared vault", NAMES.folder, NAMES.file);
  note("content of a shared vault", NAMES.content);

  const key = await run(["api-keys", "create", "--name", "ci"]);
  note("API key", textIn(key, /cof_\w{49}/));
  const hook = await run(["webhooks", "create", "--url", "https://example.com/hook", "--events", "file.uploaded"]);
  note("webhook secret", textIn(hook, /whsec_[\w+/=]+/));
  const invite = await run(["invites", "create", "--name", "bot", "--vaults", NAMES.vault]);
  const code = textIn(invite, /cofi_[\w.-]+/);
  // Its last part names the vaults and their owner, which the service knows.
  note("invite", code, code.split(".")[1]);
  await on(agent, 0)(["login", "--invite-code", code, "--network-file", networkFile]);
  await on(agent, 3)(["login", "--profile", "again", "--invite-code", code, "--network-file", networkFile]);
  const bot = profileOf(agent);
  note("API key", bot.apiKey);
  note("chain private key", bot.chainPrivateKey);
  await run(["agents", "list", "--approve", "bot", "--yes"]);

  const tools = await openRawTools({ environment: { HOME: agent, SERVICE_CONFIG_DIR: join(agent, ".config/coffer") } });
  const listed = await tools.call("file_search", { query: NAMES.file });
  expect(JSON.stringify(listed)).toContain(NAMES.file);
  for (const args of [{ files: [NAMES.file] }, { files: [code] }, { files: [bot.apiKey] }])
    await tools.call("file_get", args);
  await run(["agents", "revoke", "bot", "--yes"]);
  await on(agent, 4)(["whoami"]);
  await tools.call("vault_list", {});
  await tools.hangUp();

  logs = [
    { name: "log of the server", bytes: Buffer.from(stack.log.join("")) },
    { name: "standard error of the command line", bytes: Buffer.from(said.join("")) },
    { name: "standard error of the tool server", bytes: Buffer.from(tools.stderr()) },
  ];
  kept = await readPlaces(stack.dataDirectory, () => true);
});

function other(name: string): string {
  const directory = makeDirectory();
  writeFileSync(join(directory, name), "another content");
  return directory;
}

function expectText(text: unknown): string {
  if (typeof text === "string" && text.length >= 12) return text;
  throw new Error("a secret of the journey is missing");
}

const textIn = (answer: object, form: RegExp): string => expectText(form.exec(JSON.stringify(answer))?.[0]);

const findings = (places: readonly Place[], of = secrets): string[] =>
  findSecrets(of, places).map(({ kind, form, place }) => `${place}: ${kind} (${form})`);

it("no log and nothing beside a result has a secret of the journey", () => {
  expect(findings(logs)).toEqual([]);
  expect(logs[0]?.bytes.toString()).toContain('"endpoint":"webhooks.create"');
  expect(logs[1]?.bytes.toString()).toMatch(/request: [0-9a-f-]{36}/);
});

it("the service keeps none of them, but the name of a vault", () => {
  expect(
    findings(
      kept,
      secrets.filter(({ kind }) => kind !== "vault name"),
    ),
  ).toEqual([]);
  expect(
    findings(
      kept,
      secrets.filter(({ kind }) => kind === "vault name"),
    ),
  ).not.toEqual([]);
});

it("one leak of each kind would be seen", () => {
  const kinds = new Set(secrets.map(({ kind }) => kind));
  expect([...kinds].sort()).toEqual([
    ...["API key", "access token", "chain private key", "content of a shared vault", "invite"],
    ...["name in a shared vault", "password", "refresh token", "vault name", "webhook secret"],
  ]);
  for (const { kind, text } of secrets)
    for (const { name, bytes } of logs) {
      const leaking = {
        name,
        bytes: Buffer.concat([bytes, Buffer.from(JSON.stringify({ leaked: encodeURIComponent(text) }))]),
      };
      expect(findings([leaking]), kind).toContainEqual(expect.stringContaining(`${name}: ${kind}`));
    }
});
