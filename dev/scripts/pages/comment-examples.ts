/** The blocks of `@example` in the SDK's comments, which editors show. They are fragments, so they are compiled and not run. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { blocksOf, ROOT, type Block } from "./documents.ts";
import type { Program } from "./programs.ts";

/** What a fragment may use without importing it. */
const IMPORTABLE = {
  "@coffer/contract": ["api"],
  "@coffer/sdk": [
    ...[
      "appendText",
      "chainKeySigner",
      "createClient",
      "developmentCredentials",
      "failureOf",
      "forgetKeys",
      "generateChainKey",
      "replaceText",
      "Secret",
      "sessionCredentials",
    ],
    ...["statementSigner", "type Signer"],
  ],
  "@coffer/sdk/node": [
    ...["downloadFolder", "knowsFolder", "restoreRemoved", "saveExport", "syncFolder", "uploadFolder"],
    ...[
      "downloadFile",
      "exportVault",
      "fileStore",
      "openExport",
      "openSharedVaults",
      "resolveSettings",
      "savedSession",
    ],
    "nodeTransport",
    ...["uploadFile", "uploadFiles"],
  ],
  "@coffer/sdk/shared": ["checkNetwork", "memoryStore", "pinStore", "sharedVaults", "vaultStores"],
  "@coffer/sdk/testing": ["createFake", "Failure"],
  "@coffer/sdk/testing/msw": ["handlers", "mock"],
  "@coffer/sdk/webhooks": ["isEvent", "isKnownEvent", "verifyWebhook"],
  "@coffer/localnet": ["openLocalnet"],
  "@mysten/sui/grpc": ["SuiGrpcClient"],
  "msw/node": ["setupServer"],
};

/** What a fragment takes for granted. Its own declarations and imports win. */
const GIVEN = `
declare const apiKey: string;
declare const baseUrl: string;
declare const credentials: { readonly apiKey: string };
declare const email: string;
declare const password: string;
declare const accessCode: string;
declare const text: string;
declare const networkText: string;
declare const address: string;
declare const keypair: import("@mysten/sui/keypairs/ed25519").Ed25519Keypair;
declare const client: import("@coffer/sdk").Client;
declare const owner: import("@coffer/sdk").Client;
declare const fake: import("@coffer/sdk/testing").Fake;
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

/** Modules of the SDK that show how they are used. */
const WITH_EXAMPLES = [
  "client",
  "storage/files",
  "node/files/upload-file",
  "node/files/download-file",
  "node/folders/index",
  "http/errors",
  "webhooks/verify",
];

/** @throws when a module that has to have some has none. */
export function commentPrograms(): Program[] {
  return commentBlocks().map(({ place, code }) => ({ place, code: moduleOf(code), blocks: [] }));
}

function commentBlocks(): Block[] {
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

/** A module: the fragment's imports, those it leaves out, and the rest as the body of a function. */
function moduleOf(code: string): string {
  const importing = /^import [\s\S]*?;(?: *\/\/.*)?\n/gm;
  const imports = [...code.matchAll(importing)].map(([text]) => text).join("");
  const body = code.replaceAll(importing, "");
  const left = Object.entries(IMPORTABLE).map(([from, names]) => {
    const used = names.filter((name) => {
      const word = new RegExp(`\\b${name.replace("type ", "")}\\b`);
      return word.test(body) && !word.test(imports);
    });
    return used.length === 0 ? "" : `import { ${used.join(", ")} } from "${from}";\n`;
  });
  return `${imports}${left.join("")}${GIVEN}\nexport async function example() {\n${body}\nawait undefined;\n}\n`;
}
