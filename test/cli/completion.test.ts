/** Completion as people get it: by the shells themselves. Of PowerShell only its grammar reads the script. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, it, type TestContext } from "vitest";
import { CLI_PEER_MODULES } from "../../dev/scripts/peers.ts";
import { COFFER, runProgram } from "../kit/coffer-program.ts";
import { makeDirectory } from "../kit/directory.ts";

const home = makeDirectory();
const bin = join(home, "bin");
let environment: Record<string, string>;

beforeAll(async () => {
  await mkdir(bin);
  const [node, script] = COFFER;
  await writeFile(join(bin, "coffer"), `#!/bin/sh\nexec '${node}' '${script ?? ""}' "$@"\n`);
  await chmod(join(bin, "coffer"), 0o755);
  environment = { HOME: home, PATH: `${bin}:${process.env["PATH"] ?? ""}`, TERM: "dumb" };
});

function shell(name: string, args: readonly string[], context: TestContext): string {
  const ran = spawnSync(name, args, { env: environment, encoding: "utf8", cwd: home });
  if (ran.error !== undefined) context.skip(`${name} is not installed; .ci/run installs it`);
  expect(ran.stderr).toBe("");
  return ran.stdout;
}

const scriptOf = async (name: string): Promise<string> =>
  (await runProgram(["completion", name], { env: { HOME: home } })).out;

/** What is typed, and a proposal that must be among those. */
const TYPED: readonly (readonly [words: readonly string[], among: string])[] = [
  [["vau"], "vaults"],
  [["vaults", "cre"], "create"],
  [["completion", ""], "powershell"],
  [["whoami", "--no-c"], "--no-color"],
  [["--json", "profiles", ""], "use"],
];

describe("completion in real shells [issue 19]", () => {
  it.for(TYPED)("bash: %j", async ([words, among]) => {
    const file = join(home, "complete.bash");
    await writeFile(file, await scriptOf("bash"));
    const typed = ["coffer", ...words].map((word) => `'${word}'`).join(" ");
    const program = `. ${file}; complete -p coffer >/dev/null; COMP_WORDS=(${typed}); COMP_CWORD=${String(words.length)}; _coffer; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const ran = spawnSync("bash", ["--norc", "-c", program], { env: environment, encoding: "utf8" });
    expect(ran.stderr).toBe("");
    expect(ran.stdout.split("\n")).toContain(among);
  });

  it("zsh, by its own completion system", async (context) => {
    const functions = join(home, "zfunc");
    await mkdir(functions, { recursive: true });
    await writeFile(join(functions, "_coffer"), await scriptOf("zsh"));
    // zpty is a terminal inside zsh: what a person would see after the tabulator.
    const program = `
zmodload zsh/zpty
zpty -b z "ZDOTDIR=${home} zsh -f -i"
zpty -w z 'fpath=(${functions} $fpath); autoload -Uz compinit; compinit -u -D; PS1=; zstyle ":completion:*" list-prompt ""; unsetopt beep; echo READY-$((40+2))'
zpty -r -m z line '*READY-42*'
zpty -n -w z $'coffer vaults cre\\t'
sleep 3
zpty -n -w z $' \\C-a\\C-kecho DONE-$((40+2))\\n'
zpty -r -m z line '*DONE-42*'
print -r -- "$line"
zpty -d z`;
    expect(shell("zsh", ["-f", "-c", program], context)).toContain("coffer vaults create");
  });

  it.for(TYPED)("fish: %j", async ([words, among], context) => {
    const file = join(home, "coffer.fish");
    await writeFile(file, await scriptOf("fish"));
    const line = ["coffer", ...words].join(" ");
    const proposed = shell("fish", ["--no-config", "-c", `source ${file}; complete -C '${line}'`], context);
    expect(proposed.split("\n").map((each) => each.split("\t")[0])).toContain(among);
  });

  it("PowerShell: its grammar reads the script, and names what it calls", async (context) => {
    if (!existsSync(join(CLI_PEER_MODULES, "web-tree-sitter")))
      context.skip("web-tree-sitter is not installed; .ci/run installs it");
    const parse = await openPowerShell();
    const script = await scriptOf("powershell");
    const root = parse(script);
    expect(root.hasError).toBe(false);
    const called = root.descendantsOfType("command_name").map(({ text }) => text);
    expect(called).toEqual([
      "Register-ArgumentCompleter",
      "Select-Object",
      "ForEach-Object",
      "coffer",
      "ForEach-Object",
    ]);
    for (const broken of [script.replace("$words = @(", "$words = @"), script.replace("-eq ''", "-eq '"), `${script}}`])
      expect(parse(broken).hasError, broken).toBe(true);
  });
});

interface SyntaxNode {
  readonly hasError: boolean;
  readonly text: string;
  descendantsOfType(type: string): readonly SyntaxNode[];
}

/** What is used of web-tree-sitter, which is no dependency of the repository. */
interface TreeSitter {
  readonly Parser: {
    new (): { setLanguage(language: unknown): void; parse(text: string): { readonly rootNode: SyntaxNode } };
    init(): Promise<void>;
  };
  readonly Language: { load(file: string): Promise<unknown> };
}

async function openPowerShell(): Promise<(text: string) => SyntaxNode> {
  const peers = createRequire(join(CLI_PEER_MODULES, "of-peers.js"));
  const { Language, Parser } = (await import(pathToFileURL(peers.resolve("web-tree-sitter")).href)) as TreeSitter;
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(peers.resolve("tree-sitter-powershell/tree-sitter-powershell.wasm")));
  return (text) => parser.parse(text).rootNode;
}
