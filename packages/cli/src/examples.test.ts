/** The examples of `--help` run, and what fails says what helps. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADDRESS, openExampleScene, prepareExample } from "../../../test/cli/example-scene.ts";
import { openScene, openSharedStack, type Scene as Stage, type Shell } from "../../../test/cli/owner-scene.ts";
import type { Ran, Situation } from "../../../test/kit/coffer.ts";
import type { SharedPerson } from "../../../test/kit/shared-stack.ts";
import { listCommands } from "./command-list.ts";
import { EXIT } from "./exit-codes.ts";
import { ROUTES } from "./routes.ts";

/** Commands that serve until they are stopped, or need a mail, a browser or somebody else's program: who runs them instead. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "webhooks listen": "test/cli/owner.test.ts",
  dev: "packages/cli/src/commands/machine/machine.test.ts",
  "mcp serve": "packages/cli/src/commands/machine/machine.test.ts",
  "mcp install": "packages/cli/src/commands/machine/machine.test.ts",
  "mcp uninstall": "packages/cli/src/commands/machine/machine.test.ts",
  "mcp status": "packages/cli/src/commands/machine/machine.test.ts",
  "webhooks test": "test/cli/owner-public.test.ts",
  "webhooks trigger": "test/cli/owner-public.test.ts",
  "webhooks verify": "test/cli/owner-public.test.ts",
  "webhooks retry": "test/cli/owner-public.test.ts",
  "vaults trust": "test/cli/owner.test.ts",
  "vaults trust-owner": "test/cli/owner.test.ts",
  "password change": "test/cli/accounts.test.ts",
  "password forgot": "test/cli/accounts.test.ts",
  "password reset": "test/cli/accounts.test.ts",
  "email verify": "test/cli/accounts.test.ts",
  "email resend": "test/cli/accounts.test.ts",
  "sessions end": "test/cli/accounts.test.ts",
  "billing checkout": "test/cli/accounts.test.ts",
  "billing plan": "test/cli/accounts.test.ts",
};
/** Single examples of the others, for the same reasons. */
const LINES_ELSEWHERE: Readonly<Record<string, string>> = {
  "coffer changes --follow --json-lines": "test/cli/files.test.ts",
  "coffer webhooks deliveries 5f0c2a1e 5f0c2a1e-7b64-4c1d-9a51-0c7f3d2b1a90": "test/cli/owner-public.test.ts",
  "coffer login --zklogin": "test/cli/signing-in.test.ts",
  "coffer login --email me@example.com": "test/cli/signing-in.test.ts",
  "coffer signup --base-url https://coffer.example.com --email me@example.com": "test/cli/signing-in.test.ts",
  "coffer config set key-store keychain": "test/cli/keychain.test.ts",
};

const places = await listCommands(ROUTES);
/** The command, and one line of its help. */
const EXAMPLES = places
  .filter(({ path }) => ELSEWHERE[path.join(" ")] === undefined)
  .flatMap(({ path, command }) => command.examples.map(({ line }) => [path.join(" "), line] as const))
  .filter(([, line]) => LINES_ELSEWHERE[line] === undefined);

let stage: Stage;

beforeAll(async () => {
  stage = await openScene(await openSharedStack());
});
afterAll(() => stage.stack[Symbol.asyncDispose]());

describe("examples of --help [issue 19]", () => {
  it.each(EXAMPLES)("%s: %s", async (path, line) => {
    const example = await prepareExample(stage, path, line);
    const { person, real, shell } = example;
    const run = (situation: Situation): Promise<Ran> => example.run(situation);
    const before = await stateOf(person, shell);
    let asked = 0;
    // Ctrl-C at the first question, and then the end of the input: neither leaves anything half done.
    const stop = new AbortController();
    const atQuestion = async (): Promise<string> => {
      asked += 1;
      stop.abort();
      return "y";
    };
    const isPiped = / (\||>) /.test(line);
    const stopped = await run({ interrupted: stop.signal, broken: READ_NO_MORE, ...(isPiped ? {} : { atQuestion }) });
    if (asked === 0) return expect([real, stopped.code, withoutNotes(stopped)]).toEqual([real, 0, ""]);
    PROMPTING.add(path);
    expect([real, stopped.code, asked]).toEqual([real, EXIT.interrupted, 1]);
    expect([real, (await run({ atQuestion: async () => null })).code]).toEqual([real, EXIT.failed]);
    expect([real, await stateOf(person, shell)]).toEqual([real, before]);
    const ran = await run({ broken: READ_NO_MORE });
    expect([real, ran.code, withoutNotes(ran)]).toEqual([real, 0, ""]);
  });

  it("and these ask [issue 19]", () =>
    expect([...PROMPTING].toSorted()).toMatchInlineSnapshot(`
    [
      "agents list",
      "agents revoke",
      "api-keys revoke",
      "api-keys rotate",
      "members remove",
      "rm",
      "vaults accept",
      "vaults delete",
      "vaults forget-seen",
      "vaults leave",
      "vaults members remove",
      "vaults offer",
      "vaults rotate",
      "webhooks delete",
      "webhooks rotate-secret",
    ]
  `));
});

/** The reader goes once it has read something: the work is done all the same. */
const READ_NO_MORE = { stdout: "EPIPE" } as const;
const PROMPTING = new Set<string>();

/** Whatever a command could have left behind: changes of the account, and files of the machine. */
async function stateOf({ client }: SharedPerson, { home }: Shell): Promise<unknown> {
  const { changes } = await client.changes.list({ limit: 1_000 });
  // What the machine remembers of vaults may grow with each look at them.
  const files = readdirSync(home, { recursive: true, encoding: "utf8" }).filter((name) => !name.startsWith(".config"));
  return [changes.length, files.toSorted(), configOf(home)];
}

const configOf = (home: string): string => {
  const file = join(home, ".config", "coffer", "config.json");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
};

const withoutNotes = ({ code, err }: Ran): string => (code === 0 ? "" : err);

it("a failure names a command that helps with what was named [issue 19]", async () => {
  const { shell } = await openExampleScene(stage, "public");
  const nobody = "00000000-0000-4000-8000-000000000000";
  for (const [words, code, says] of [
    [["webhooks", "get", nobody], 3, "next: coffer webhooks list"],
    [["invites", "revoke", nobody, "--yes"], 3, "next: coffer invites list"],
    [["vaults", "get", nobody], 3, "next: coffer vaults list"],
    [["vaults", "leave", "Team", "--yes"], 7, "A public vault has no members or keys."],
    [["vaults", "members", "add", "Team", ADDRESS], 7, "next: coffer vaults list"],
  ] as const) {
    const ran = await shell.run(words);
    expect([words, ran.code, ran.err]).toEqual([words, code, expect.stringContaining(says)]);
  }
});

it("failures of shared vaults show no key, no content and no name that was not typed, with --verbose neither [issue 19]", async () => {
  const { shell, person } = await openExampleScene(stage, "shared");
  const { shell: strange } = await openExampleScene(stage, "public");
  writeFileSync(join(shell.home, "read by members"), "changed");
  const vault = (await shell.json<{ vault: { id: string } }>(["vaults", "get", "Team"])).vault.id;
  const secrets = [person.privateKey, person.apiKey, "for members", "read by members"];
  for (const words of [
    ...[
      ["cat", "Team:nothing"],
      ["download", "Team:nothing"],
      ["stat", "Team:nothing"],
      ["rm", "Team:nothing", "--yes"],
    ],
    ...[
      ["mv", "Team:nothing", "Team:else"],
      ["versions", "list", "Team:nothing"],
      ["verify", "Team:nothing"],
    ],
    ...[
      ["folders", "list", "Team:nothing"],
      ["trash", "restore", "Team:nothing"],
      ["vaults", "leave", "Team", "--yes"],
    ],
    ...[["vaults", "members", "add", "Team", "0x1"]],
    ...[
      ["vaults", "delete", "Team", "--yes"],
      ["export", "Nothing", "x"],
      ["decrypt", "photos", "out"],
      ["ls", `${vault}:nothing`],
    ],
  ])
    for (const by of [shell, strange])
      for (const flags of [["--verbose"], ["--verbose", "--json"]]) {
        const ran = await by.run([...words, ...flags]);
        expect([words, ran.code]).not.toEqual([words, 0]);
        for (const secret of secrets) expect([words, (ran.out + ran.err).includes(secret)]).toEqual([words, false]);
      }
});
