/**
 * The first hour of a developer, by the README of the SDK: its commands and its program, as they stand. It ends with a file that an agent stored and read
 * back, and with the agent's access ended when the program said: the clocks of chain, service and agent are moved.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chainKeySigner, createClient, Secret } from "@coffer/sdk";
import { sharedVaults } from "@coffer/sdk/shared";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readersEnvironment } from "../../dev/scripts/pages/clone.ts";
import { blocksOf, ROOT } from "../../dev/scripts/pages/documents.ts";
import { programsOf } from "../../dev/scripts/pages/programs.ts";
import { Terminal } from "../../dev/scripts/pages/terminal.ts";
import { makeDirectory } from "../kit/directory.ts";
import { openSharedStack, type SharedStack } from "../kit/shared-stack.ts";

const PATIENCE_MS = 240_000;
/** What the program leaves to this test: the agent's keys, and what it stored. */
const LEAVES = `
import { writeFileSync } from "node:fs";
writeFileSync("left.json", JSON.stringify({ accessUntil, key, privateKey: privateKey.reveal(), noteId: note.id }));
`;

let stack: SharedStack;
let ahead = 0;
const now = (): number => Date.now() + ahead;

beforeAll(async () => {
  stack = await openSharedStack({ clock: now });
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
});

it(
  "a developer, by the SDK's README: the agent that the program lets in reads until the end that it said [issue 49]",
  async () => {
    const blocks = blocksOf("packages/sdk/README.md");
    const signUp = blocks.findIndex(({ code }) => code.includes("export SERVICE_PROFILE="));
    const setUp = blocks.slice(signUp, signUp + 2).filter(({ language }) => language === "sh");
    const lets = blocks.findIndex(({ code }) => code.includes("invites.create"));
    const program = programsOf(blocks.slice(0, lets + 1)).at(-1)?.code ?? "";

    const base = makeDirectory();
    const home = join(base, "home");
    for (const directory of [home, join(base, "bin"), join(home, "my-project")])
      mkdirSync(directory, { recursive: true });
    symlinkSync(process.execPath, join(base, "bin", "node"));
    // What `npm install` of the packed files brings.
    symlinkSync(join(ROOT, "node_modules"), join(home, "my-project", "node_modules"));
    const networkFile = join(base, "network.json");
    writeFileSync(networkFile, JSON.stringify(stack.localnet.network()));
    const fromStart = {
      SERVICE_BASE_URL: stack.baseUrl,
      SERVICE_NETWORK_FILE: networkFile,
      COFFER_DATA_DIR: stack.dataDirectory,
      NODE_OPTIONS: "--conditions=coffer-source",
    };
    await using terminal = new Terminal(
      ROOT,
      { ...readersEnvironment(home, join(base, "bin")), ...fromStart },
      PATIENCE_MS,
    );
    for (const { code } of setUp) await terminal.paste(code);
    writeFileSync(join(home, "my-project", "program.ts"), program + LEAVES);
    expect(await terminal.paste("node program.ts")).toContain("From the agent.");

    const left = JSON.parse(readFileSync(join(home, "my-project", "left.json"), "utf8")) as Record<string, string>;
    const { accessUntil = "", key = "", noteId = "", privateKey = "" } = left;
    const signer = await chainKeySigner(new Secret(privateKey));
    /** The agent in a new process, which remembers nothing. */
    const read = async (): Promise<string> => {
      const { baseUrl, network } = stack;
      const agent = createClient({
        baseUrl,
        credentials: { apiKey: key },
        sharedVaults: sharedVaults({ signer, network, clock: now }),
      });
      return new TextDecoder().decode(await (await agent.files.download(noteId)).bytes());
    };
    ahead = Date.parse(accessUntil) - Date.now() - 60_000;
    expect(await read()).toBe("From the agent.");
    ahead = Date.parse(accessUntil) - Date.now() + 40_000;
    await expect(read()).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:invalid_credential|key_expired|signed_out|unauthenticated)$/),
    });
  },
  PATIENCE_MS,
);
