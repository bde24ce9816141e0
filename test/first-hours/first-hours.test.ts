/**
 * First hours of people who paste what is printed and what the guides show, and add only what is theirs: a name, a file, an end. Each ends with a file
 * that was stored and read back, and with access that ended when it was said to: the clock of every process is set then.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { openToolClient } from "@coffer/devstack";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { readersEnvironment } from "../../scripts/pages/clone.ts";
import { blocksOf, ROOT } from "../../scripts/pages/documents.ts";
import { printedBlocks, printedCommands } from "../../scripts/pages/printed-blocks.ts";
import { Terminal } from "../../scripts/pages/terminal.ts";
import { makeDirectory } from "../kit/directory.ts";
import { clockThatIsSet, NO_FAKETIME, type SetClock } from "../operator/set-clock.ts";

const PATIENCE_MS = 240_000;

/** What `npm start` prints for MCP clients. */
interface Configuration {
  readonly mcpServers: {
    readonly coffer: { readonly command: string; readonly args: string[]; readonly env: Record<string, string> };
  };
}

const HOUR = 3600;
/** The chain keeps ends of access by whole quarters of an hour. */
const QUARTER = 900;

let base: string;
let clock: SetClock;
let source: string;
let accessCodeLine: string;
let configuration: Configuration;
let stack: Terminal;
const opened: Terminal[] = [];

beforeAll(async () => {
  if (NO_FAKETIME !== null) return;
  base = makeDirectory();
  clock = clockThatIsSet(base);
  mkdirSync(join(base, "bin"));
  symlinkSync(process.execPath, join(base, "bin", "node"));
  stack = openTerminal("stack");
  const folder = join(base, "files");
  cpSync(join(ROOT, "docs", "recordings"), folder, { recursive: true });
  const line = `npm start -- --port 0 --data "${join(base, "data")}" --folder "${folder}"`;
  const printed = await stack.pasteServing(line, /up until Ctrl-C/);
  configuration = JSON.parse(/^\{\n[^]*?^\}$/m.exec(printed)?.[0] ?? "") as Configuration;
  const blocks = printedBlocks(printed);
  source = blocks[0] ?? "";
  accessCodeLine = blocks.find((block) => block.includes("access-codes create")) ?? "";
}, PATIENCE_MS);

afterAll(async () => {
  for (const terminal of opened.reverse()) await terminal[Symbol.asyncDispose]();
}, PATIENCE_MS);

beforeEach((context) => {
  if (NO_FAKETIME !== null) context.skip(NO_FAKETIME);
});

it(
  "an owner, and an agent with a home directory of its own [issue 49]",
  async () => {
    const owner = await newcomer("owner-1");
    const [, signUp] = guide("owner.md");
    const first = await owner.paste(signUp);
    // "Next: coffer vaults create …", which prints the line for an invite. NAME is the owner's to choose, and so is the end.
    const made = await owner.paste(only(first, "vaults create"));
    const invite = only(made, "invites create").replace("NAME", "bot");
    const text = await owner.paste(`${invite} --access-until 2h`);
    const agent = await newcomer("agent-1");
    const joined = await agent.paste(only(text, "login --invite-code"));
    await owner.paste(only(joined, /members add|agents list --approve/));
    await agent.paste(storeAndReadBack("Team"));
    clock.set(2 * HOUR + 2 * QUARTER);
    await expect(agent.paste("coffer ls Team:")).rejects.toThrow(/error: .*\nnext: /);
    expect(await owner.paste("coffer ls Team:")).toContain("SECURITY.md");
  },
  PATIENCE_MS,
);

it(
  "an operator who lets a second person in, and an owner who shares with that person [issue 49]",
  async () => {
    const operator = await newcomer("operator-2");
    const code = (await operator.paste(accessCodeLine)).split("\n").find((line) => /^[\dA-Z-]{20,}$/.test(line)) ?? "";
    const person = await newcomer("person-2");
    const signUp = `coffer signup --email second@example.com --access-code ${code} --network-file "$SERVICE_NETWORK_FILE" --password-stdin`;
    const signedUp = await person.paste(`echo "a long sentence that only I know" | ${signUp}`);
    await person.paste(only(signedUp, "vaults create"));
    await person.paste(storeAndReadBack("Team"));
    const [address = ""] = /0x[\da-f]{64}/.exec(signedUp) ?? [];
    const owner = await newcomer("owner-2");
    const [, ownersSignUp] = guide("owner.md");
    const made = await owner.paste(only(await owner.paste(ownersSignUp), "vaults create"));
    const [vaultId = ""] = /[\da-f]{8}-[\da-f-]{27}/.exec(made) ?? [];
    await owner.paste("coffer upload SECURITY.md --vault Team");
    await owner.paste(`coffer vaults members add Team ${address} --until 2h`);
    expect(await person.paste(`coffer cat ${vaultId}:SECURITY.md`)).toContain("# ");
    clock.set(5 * HOUR);
    await expect(person.paste(`coffer cat ${vaultId}:SECURITY.md`)).rejects.toThrow(/error: .*\nnext: /);
    expect(await owner.paste("coffer cat Team:SECURITY.md")).toContain("# ");
  },
  PATIENCE_MS,
);

it(
  "an owner, and an agent on the same machine, by the configuration that is printed: for 90 days [issue 49]",
  async () => {
    const { command, args, env } = configuration.mcpServers.coffer;
    const credentialsFile = env["SERVICE_CONFIG_FILE"] ?? "";
    const environment = clock.environment;
    await using tools = await openToolClient({
      credentialsFile,
      folders: [],
      launcher: { command, args },
      environment,
    });
    const [folder = ""] = args.slice(-1);
    const vaultId = "My files";
    const [name = ""] = readdirSync(folder).filter((each) => each.endsWith(".svg"));
    expect((await tools.call("file_upload", { paths: [join(folder, name)], vaultId })).code).toBeNull();
    const dest = join(folder, "coffer", name);
    expect((await tools.call("file_download", { files: [name], vaultId, dest })).code).toBeNull();
    expect(readFileSync(dest).equals(readFileSync(join(folder, name)))).toBe(true);
    clock.set(89 * 24 * HOUR);
    expect((await tools.call("file_list", { vaultId })).text).toContain(name);
    clock.set(91 * 24 * HOUR);
    await vi.waitFor(
      async () =>
        expect(await tools.call("file_list", { vaultId })).toMatchObject({ isError: true, code: "signed_out" }),
      { timeout: 20_000, interval: 500 },
    );
  },
  PATIENCE_MS,
);

function openTerminal(name: string): Terminal {
  const env = { ...readersEnvironment(join(base, name), join(base, "bin")), ...clock.environment };
  const terminal = new Terminal(ROOT, env, PATIENCE_MS);
  opened.push(terminal);
  return terminal;
}

/** A terminal in the clone, in which the line for other shells was pasted, and the guide's line for `coffer`. */
async function newcomer(name: string): Promise<Terminal> {
  const terminal = openTerminal(name);
  await terminal.paste(source);
  const [line = ""] = guide("agent.md")[0].split("\n");
  await terminal.paste(line);
  return terminal;
}

/** The first shell block of a guide, whole and without the line that stands for `coffer`. */
function guide(name: string): readonly [block: string, rest: string] {
  const [first] = blocksOf(`docs/guides/${name}`).filter(({ language }) => language === "sh");
  const code = first?.code ?? "";
  return [code, code.split("\n").slice(1).join("\n")];
}

/** The one printed command that has these words. */
function only(printed: string, words: string | RegExp): string {
  const found = printedCommands(printed).filter((command) =>
    typeof words === "string" ? command.includes(words) : words.test(command),
  );
  expect([printed, found.length]).toEqual([printed, 1]);
  return found[0] ?? "";
}

function storeAndReadBack(vault: string): string {
  return `coffer upload SECURITY.md --vault "${vault}"
folder=$(mktemp -d)
coffer download "${vault}:SECURITY.md" "$folder"
cmp SECURITY.md "$folder/SECURITY.md"`;
}
