import { globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";

const PACKAGE = join(import.meta.dirname, "..");
const ROOT = join(PACKAGE, "..", "..");
const WITH_EXAMPLES = [...globSync("src/**/*.ts", { cwd: PACKAGE }).map((path) => join(PACKAGE, path))];
const READMES = [join(PACKAGE, "README.md"), join(ROOT, "README.md")];

interface Block {
  /** Where it stands, for the message of a failure. */
  readonly name: string;
  readonly code: string;
}

/** What an example takes for granted; its own declarations and imports win. */
const GIVEN = `
declare const apiKey: string;
declare const baseUrl: string;
declare const credentials: { readonly apiKey: string };
declare const password: string;
declare const accessCode: string;
declare const text: string;
declare const keypair: import("@mysten/sui/keypairs/ed25519").Ed25519Keypair;
declare const client: import("@coffer/sdk").Client;
declare const owner: import("@coffer/sdk").Client;
declare const app: { fetch(request: Request): Promise<Response> };
declare const error: unknown;
declare const event: import("@coffer/sdk/webhooks").ReceivedEvent;
declare const secret: string;
declare const fileId: string;
declare const vaultId: string;
declare const vault: import("@coffer/sdk").Vault;
declare const agentAddress: string;
declare const keyId: string;
declare const body: Uint8Array;
declare const signer: import("@coffer/sdk").Signer;
declare const network: import("@coffer/chain").NetworkConfiguration;
`;
const IMPORTABLE = {
  "@coffer/sdk": [
    ...["api", "chainKeySigner", "createClient", "failureOf", "generateChainKey", "Secret", "sessionCredentials"],
    ...["statementSigner", "type Signer"],
  ],
  "@coffer/sdk/node": [
    "downloadFile",
    "exportVault",
    "filePins",
    "openExport",
    "openSharedVaults",
    "resolveSettings",
    "savedSession",
    "uploadFile",
  ],
  "@coffer/sdk/testing": ["Failure", "mock"],
  "@coffer/sdk/webhooks": ["isEvent", "isKnownEvent", "verifyWebhook"],
  "msw/node": ["setupServer"],
};

it("every example in the documentation of the SDK is a program that the compiler takes", () => {
  const blocks = [...WITH_EXAMPLES.flatMap(examplesOf), ...READMES.flatMap(blocksOf)];
  const documented = [
    "client.ts",
    "files.ts",
    "node/upload-file.ts",
    "node/download-file.ts",
    "errors.ts",
    "webhooks/verify.ts",
  ];
  for (const file of documented) expect(blocks.map(({ name }) => name).join(" ")).toContain(`src/${file}`);
  expect(problemsOf(blocks)).toEqual([]);
  // The check can fail.
  expect(problemsOf([{ name: "broken", code: "const n: number = client.baseUrl;" }])).toEqual([
    expect.stringMatching(/^broken: .*not assignable/),
  ]);
});

function examplesOf(path: string): Block[] {
  if (path.endsWith(".test.ts")) return [];
  const comments = readFileSync(path, "utf8").match(/\/\*\*[\s\S]*?\*\//g) ?? [];
  return comments
    .filter((comment) => comment.includes("@example"))
    .flatMap((comment) => fenced(relative(ROOT, path), comment.replaceAll(/^\s*\* ?/gm, "")));
}

function blocksOf(path: string): Block[] {
  return fenced(relative(ROOT, path), readFileSync(path, "utf8"));
}

function fenced(name: string, text: string): Block[] {
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = ""]) => ({ name, code }));
}

/** A module: the block's imports, those it leaves out, and the rest as the body of a function. */
function moduleOf({ code }: Block): string {
  const lines = code.split("\n");
  const imports = lines.filter((line) => line.startsWith("import ")).join("\n");
  const body = lines.filter((line) => !line.startsWith("import ")).join("\n");
  const left = Object.entries(IMPORTABLE).map(([from, names]) => {
    const used = names.filter((name) => {
      const word = new RegExp(`\\b${name.replace("type ", "")}\\b`);
      return word.test(body) && !word.test(imports);
    });
    return used.length === 0 ? "" : `import { ${used.join(", ")} } from "${from}";`;
  });
  return `${imports}\n${left.join("\n")}\n${GIVEN}\nexport async function example() {\n${body}\nawait undefined;\n}\n`;
}

function problemsOf(blocks: readonly Block[]): string[] {
  const sources = new Map(
    blocks.map((block, index) => [
      join(PACKAGE, "src", `example-${String(index)}.ts`),
      { block, text: moduleOf(block) },
    ]),
  );
  const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), (path) => ts.sys.readFile(path)) as {
    config: { compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);
  const loose = { ...options, noUnusedLocals: false, allowUnreachableCode: true };
  const host = ts.createCompilerHost(loose);
  const own = (path: string): string | undefined => sources.get(path)?.text;
  host.readFile = (path) => own(path) ?? ts.sys.readFile(path);
  host.fileExists = (path) => sources.has(path) || ts.sys.fileExists(path);
  const program = ts.createProgram([...sources.keys()], loose, host);
  return [...sources].flatMap(([path, { block }]) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(path))
      .map(({ messageText }) => `${block.name}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`),
  );
}
