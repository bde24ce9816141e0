/** TypeScript of the pages: every block is type-checked, all in one program, and those of guides are run against a stack. */
import { execFile } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { blocksOf, ROOT, type Block } from "./documents.ts";
import { GIVEN, type Given } from "./given.ts";

/** What a block may use without importing it: what an earlier block of its page imports. */
const IMPORTABLE = {
  "@coffer/contract": ["api"],
  "@coffer/sdk": [
    ...[
      "chainKeySigner",
      "createClient",
      "developmentCredentials",
      "failureOf",
      "generateChainKey",
      "Secret",
      "sessionCredentials",
    ],
    ...["statementSigner", "type Signer"],
  ],
  "@coffer/sdk/node": [
    ...["downloadFolder", "knowsFolder", "restoreRemoved", "saveExport", "syncFolder", "uploadFolder"],
    ...["downloadFile", "exportVault", "filePins", "openExport", "openSharedVaults", "resolveSettings", "savedSession"],
    "nodeTransport",
    "uploadFile",
  ],
  "@coffer/sdk/shared": ["checkNetwork", "sharedVaults"],
  "@coffer/sdk/testing": ["Failure"],
  "@coffer/sdk/testing/msw": ["mock"],
  "@coffer/sdk/webhooks": ["isEvent", "isKnownEvent", "verifyWebhook"],
  "@coffer/localnet": ["openLocalnet"],
  "@mysten/sui/grpc": ["SuiGrpcClient"],
  "msw/node": ["setupServer"],
};

/** Modules of the SDK that show how they are used. */
const WITH_EXAMPLES = [
  "client",
  "files",
  "node/upload-file",
  "node/download-file",
  "node/folders",
  "errors",
  "webhooks/verify",
];

/** The blocks of `@example` in the SDK's comments. @throws when one that has to have some has none. */
export function commentBlocks(): Block[] {
  const files = globSync("packages/sdk/src/**/*.ts", { cwd: ROOT, exclude: ["**/*.test.ts"] });
  const blocks = files.toSorted().flatMap((file) => {
    const comments = readFileSync(path.join(ROOT, file), "utf8").match(/\/\*\*[\s\S]*?\*\//g) ?? [];
    return comments
      .filter((comment) => comment.includes("@example"))
      .flatMap((comment) => blocksOf(file, comment.replaceAll(/^\s*\* ?/gm, "")));
  });
  for (const name of WITH_EXAMPLES)
    if (!blocks.some(({ place }) => place.startsWith(`packages/sdk/src/${name}.ts`)))
      throw new Error(`packages/sdk/src/${name}.ts has no @example`);
  return blocks;
}

/** Writes the blocks as modules, below node_modules so that they find packages as a program of the repository does. */
export class ProgramBlocks implements Disposable {
  readonly #directory: string;
  readonly #blocks: readonly Block[];

  constructor(blocks: readonly Block[]) {
    const cache = path.join(ROOT, "node_modules", ".cache");
    mkdirSync(cache, { recursive: true });
    this.#directory = mkdtempSync(path.join(cache, "docs-check-"));
    this.#blocks = blocks;
    blocks.forEach((block, index) => {
      writeFileSync(path.join(this.#directory, `block-${String(index)}.ts`), moduleOf(block));
    });
  }

  /** What the compiler says, each with its block's place. */
  async problems(): Promise<string[]> {
    const files = this.#blocks.map((_, index) => `block-${String(index)}.ts`);
    const extended = path.join(ROOT, "tsconfig.json");
    const compilerOptions = {
      noUnusedLocals: false,
      allowUnreachableCode: true,
      typeRoots: [path.join(ROOT, "node_modules/@types")],
    };
    const config = path.join(this.#directory, "tsconfig.json");
    writeFileSync(config, JSON.stringify({ extends: extended, compilerOptions, include: [], exclude: [], files }));
    const compiler = path.join(ROOT, "node_modules", "typescript-native", "bin", "tsc");
    const args = [compiler, "-p", config, "--pretty", "false"];
    const said = await promisify(execFile)(process.execPath, args, { cwd: this.#directory, maxBuffer: 1 << 26 }).then(
      () => "",
      (error: unknown) => (error as { readonly stdout: string }).stdout || String(error),
    );
    return said
      .split("\n")
      .filter((line) => /error/.test(line))
      .map((line) =>
        line.replace(/^.*?block-(\d+)\.ts\(\d+,\d+\)/, (_, index: string) => this.#blocks[Number(index)]?.place ?? ""),
      );
  }

  /** Runs one of the blocks; rejects with what it throws. */
  async run(block: Block, given: Given): Promise<void> {
    const source = replaceAddresses(moduleOf(block), given);
    const file = path.join(this.#directory, `run-${block.place.replaceAll(/\W/g, "-")}.mjs`);
    writeFileSync(file, stripTypeScriptTypes(source));
    for (const name of Object.keys(given.values))
      if (new RegExp(`\\b${name}\\b`).test(block.code))
        Object.defineProperty(globalThis, name, { value: await given.values[name]?.(), configurable: true });
    const { example } = (await import(pathToFileURL(file).href)) as { example: () => Promise<void> };
    await example();
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Pages name the usual address, and receivers that a reader has: here both are on this machine. */
export function replaceAddresses(code: string, { baseUrl, hookUrl }: Pick<Given, "baseUrl" | "hookUrl">): string {
  return code.replaceAll("http://127.0.0.1:8787", baseUrl).replaceAll(/https:\/\/example\.com\/\w+/g, hookUrl);
}

/** A module: the block's imports, those it leaves out, and the rest as the body of a function. */
export function moduleOf({ code }: Block): string {
  const imports = [...code.matchAll(/^import [\s\S]*?;(?: *\/\/.*)?\n/gm)].map(([text]) => text).join("");
  const body = code.replaceAll(/^import [\s\S]*?;(?: *\/\/.*)?\n/gm, "");
  const left = Object.entries(IMPORTABLE).map(([from, names]) => {
    const used = names.filter((name) => {
      const word = new RegExp(`\\b${name.replace("type ", "")}\\b`);
      return word.test(body) && !word.test(imports);
    });
    return used.length === 0 ? "" : `import { ${used.join(", ")} } from "${from}";\n`;
  });
  return `${imports}${left.join("")}${GIVEN}\nexport async function example() {\n${body}\nawait undefined;\n}\n`;
}
