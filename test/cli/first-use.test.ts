/** Lines that a newcomer gets wrong: each failure says what was wrong and what to type, with --json as one document. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { coffer } from "../kit/coffer.ts";
import { runProgram, WITHOUT_OVERRIDE } from "../kit/coffer-program.ts";
import { makeDirectory } from "../kit/directory.ts";
import { onlyDocument, openScene, openSharedStack, type Scene, type Shell } from "./owner-scene.ts";

let stage: Scene;
let shell: Shell;

beforeAll(async () => {
  stage = await openScene(await openSharedStack());
  shell = stage.shellOf(await stage.stack.signUp("newcomer"));
  for (const name of ["Team", "Web site"]) await shell.run(["vaults", "create", name, "--public"]);
  writeFileSync(join(shell.home, "a.txt"), "hello");
  writeFileSync(join(shell.home, "-dash.txt"), "hello");
  mkdirSync(join(shell.home, "dir"));
  writeFileSync(join(shell.home, "dir", "x y ü.txt"), "x");
  await shell.run(["upload", "a.txt", "--vault", "Team"]);
});
afterAll(() => stage.stack[Symbol.asyncDispose]());

type Line = readonly [words: string[], code: number, error: string, next: string, input?: string];

async function refused(lines: readonly Line[], home: string, env: Readonly<Record<string, string>>): Promise<void> {
  for (const [words, code, error, next, input = ""] of lines) {
    const ran = await coffer(words, home, { env, input });
    const said = `error: ${error}.\nnext: ${next}\n`.replace("?.\n", "?\n");
    expect([words, ran.code, ran.out, ran.err]).toEqual([words, code, "", said]);
    const json = await coffer([...words, "--json"], home, { env, input });
    expect([words, json.code, json.err]).toEqual([words, code, ""]);
    expect(onlyDocument(json)).toMatchObject({ error: { nextStep: next } });
  }
}

it("words that are nearly right are named, and others are not guessed [issue 19]", () =>
  refused(
    [
      [["uplaod", "a.txt"], 2, "There is no command uplaod: did you mean upload?", "coffer --help"],
      [["vaults", "lst"], 2, "There is no command lst: did you mean list?", "coffer vaults --help"],
      [["nope"], 2, "There is no command nope", "coffer --help"],
      [["ls", "--vualt", "Team"], 2, "There is no flag --vualt: did you mean --vault?", "coffer ls --help"],
      [
        ["upload", "--if-exist", "skip"],
        2,
        "There is no flag --if-exist: did you mean --if-exists?",
        "coffer upload --help",
      ],
      [["ls", "--limit"], 2, "--limit is missing, or its value", "coffer ls --help"],
      [["cat"], 2, "FILE is missing", "coffer cat --help"],
      [["mv", "Team:a.txt"], 2, "ITEM is needed 2 times at least", "coffer mv --help"],
      [["ls", "a", "b"], 2, "b is one argument too much", "coffer ls --help"],
      [["whoami", "me"], 2, "me is too much: no argument belongs here", "coffer whoami --help"],
      [["webhooks", "create"], 2, "--url is missing, or its value", "coffer webhooks create --help"],
    ],
    makeDirectory(),
    {},
  ));

it("a machine without a sign-in says how to begin [issue 19]", async () => {
  const { baseUrl } = stage.stack;
  const home = makeDirectory();
  const begin = "coffer login --base-url URL, or coffer signup --base-url URL for a new account";
  const whole = "ask the owner for the text that coffer invites create printed";
  const noInvite = "That is no whole invite: one is a single word that begins with cofi_";
  const at = ["login", "--base-url", baseUrl];
  await refused(
    [
      [["ls"], 4, "Nobody is signed in here", begin],
      [
        ["ls", "--profile", "nope"],
        2,
        "There is no profile nope",
        "coffer profiles list, or coffer login --profile nope",
      ],
      [["logout"], 4, "The profile default is not signed in", "coffer login --base-url URL"],
      [
        [...at, "--api-key-stdin"],
        2,
        "What is on standard input is no API key: one begins with cof_",
        "coffer login --api-key-stdin < FILE",
        "hello world\n",
      ],
      [[...at, "--invite-code", "hello"], 2, noInvite, whole],
      [[...at, "--invite-code", "cofi_AAAA.BBBB"], 2, noInvite, whole],
      [
        [...at, "--email", "nomail", "--password-stdin"],
        2,
        "That cannot be used: email: expected an e-mail address: name@example.com",
        "correct what the message names; --help shows an example",
        "secret secret secret\n",
      ],
    ],
    home,
    {},
  );
  const away = "No answer from http://127.0.0.1:1";
  await refused([[["ls"], 8, away, "check the base URL and that the service runs; then repeat it"]], home, {
    SERVICE_BASE_URL: "http://127.0.0.1:1",
    SERVICE_API_KEY: `cof_${"A".repeat(49)}`,
  });
});

it("vaults and paths in the wrong form are told apart [issue 19]", async () => {
  const { home, env } = shell;
  await refused(
    [
      [["ls", "Team"], 2, "Team is a vault, and a colon belongs behind its name", 'write "Team:" or "Team:PATH"'],
      [
        ["rm", "Web site"],
        2,
        "Web site is a vault, and a colon belongs behind its name",
        'write "Web site:" or "Web site:PATH"',
      ],
      [
        ["upload", "a.txt", "Team:2027"],
        2,
        "Team:2027 is no file of this machine, and the vault is named by --vault",
        "coffer upload PATH --vault Team --folder 2027",
      ],
      [
        ["upload", "a.txt", "--vault", "Team", "--name", "x/y"],
        2,
        "The name must not contain control characters, / or \\",
        "correct what the message names; --help shows an example",
      ],
      [
        ["upload", "dir", "--vault", "Team", "--name", "x"],
        2,
        "--name is for a single file",
        "correct what the message names; --help shows an example",
      ],
      [
        ["vaults", "create", "Team", "--public"],
        7,
        "The name is taken: A vault of this name exists",
        "choose another name",
      ],
      [
        ["invites", "create", "--name", "bot", "--vaults", "Nope"],
        3,
        "There is no such vault: Nope",
        "coffer vaults list",
      ],
      [
        ["config", "set", "network-file", "nope.json"],
        3,
        `There is no file ${join(home, "nope.json")}`,
        "name the file that the operator gave you",
      ],
    ],
    home,
    env,
  );
  const several = await shell.run(["download", "a.txt"]);
  expect([several.code, several.err]).toEqual([
    2,
    expect.stringMatching(
      /^error: The vault of a\.txt is not named, and there are several: .*Team \([\s\S]*next: write VAULT:PATH, or pass --vault VAULT\n$/,
    ),
  ]);
  const noKey = { ...env, SERVICE_CHAIN_PRIVATE_KEY: "", SERVICE_NETWORK_FILE: "" };
  await refused(
    [
      [
        ["vaults", "members", "list", "Team"],
        4,
        "Shared vaults need a chain key and a network file, and one of them is missing here (SERVICE_CHAIN_PRIVATE_KEY, SERVICE_NETWORK_FILE)",
        "coffer doctor, which says what is missing and how to get it",
      ],
    ],
    home,
    noKey,
  );
  for (const words of [
    ["upload", "-dash.txt", "--vault", "Team"],
    ["upload", "--vault", "Team", "--", "-dash.txt"],
  ])
    expect(await shell.run(words)).toMatchObject({ code: 0, err: "" });
});

it("a failure of the file system says why, and names the path [issue 19]", async () => {
  const { home, env } = shell;
  const [unread, unwritten] = [join(home, "unread.txt"), join(home, "unwritten")];
  writeFileSync(unread, "x", { mode: 0 });
  mkdirSync(unwritten);
  chmodSync(unwritten, 0o500);
  for (const [words, says] of [
    [
      ["upload", "unread.txt", "--vault", "Team"],
      `error: The local file system refused: permission denied: ${unread}.\n`,
    ],
    [
      ["download", "Team:a.txt", "unwritten"],
      `error: The local file system refused: permission denied: ${join(unwritten, "a.txt")}.\n`,
    ],
    [["upload", "nope.txt", "--vault", "Team"], `error: There is no such local file: nope.txt.\n`],
  ] as const) {
    const ran = await runProgram(words, { program: WITHOUT_OVERRIDE, env: { ...env, HOME: home }, cwd: home });
    expect([words, ran.err]).toEqual([words, expect.stringContaining(says)]);
  }
});
