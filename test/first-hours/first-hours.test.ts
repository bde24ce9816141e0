/**
 * The first hour of an owner whose agent is on the same machine, by what `npm start` prints. It ends with a file that was stored and read back, and
 * with access that ended when it was said to: the clock of every process is set then. The others are in test/cli.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { openToolClient } from "@coffer/devstack";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { readersEnvironment } from "../../dev/scripts/pages/clone.ts";
import { ROOT } from "../../dev/scripts/pages/documents.ts";
import { Terminal } from "../../dev/scripts/pages/terminal.ts";
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

let base: string;
let clock: SetClock;
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
}, PATIENCE_MS);

afterAll(async () => {
  for (const terminal of opened.reverse()) await terminal[Symbol.asyncDispose]();
}, PATIENCE_MS);

beforeEach((context) => {
  if (NO_FAKETIME !== null) context.skip(NO_FAKETIME);
});

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
