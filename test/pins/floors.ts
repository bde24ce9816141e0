/**
 * The floors of ARCHITECTURE.md as data: what each workspace may depend on, and which files may touch what. Workspaces
 * that come later are named already, so that their first import is held to their floor.
 */

/** Which workspaces a workspace may depend on. A workspace that is not named here is an error. */
export const ALLOWED_WORKSPACES: Readonly<Record<string, readonly string[]>> = {
  "@coffer/contract": [],
  "@coffer/crypto": [],
  "@coffer/chain": ["@coffer/crypto", "@coffer/contract"],
  "@coffer/sdk": ["@coffer/contract", "@coffer/crypto", "@coffer/chain"],
  "@coffer/localnet": ["@coffer/chain"],
  "@coffer/tasks": ["@coffer/sdk", "@coffer/contract"],
  "@coffer/mcp": ["@coffer/tasks", "@coffer/sdk", "@coffer/contract"],
  // Of the tool server it starts the program, and imports nothing (FILE_RULES).
  "@coffer/cli": ["@coffer/tasks", "@coffer/sdk", "@coffer/contract", "@coffer/mcp"],
  // Never crypto, sdk or chain: "the server cannot decrypt" is a property of this graph.
  "@coffer/server": ["@coffer/contract"],
  "@coffer/devstack": ["@coffer/server", "@coffer/localnet", "@coffer/sdk", "@coffer/mcp", "@coffer/contract"],
};

/** Third-party packages of a workspace, where the list is closed. */
export const ALLOWED_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "@coffer/contract": ["zod"],
  // No MCP library and no parser of command lines: what is here is below both. These read and change the settings of MCP hosts.
  "@coffer/tasks": ["diff", "jsonc-parser", "smol-toml"],
};

/** Entries that run without Node: nothing they reach may import a `node:` module. */
export const RUNTIME_NEUTRAL_ENTRIES: readonly string[] = [
  "packages/contract/src/index.ts",
  "packages/crypto/src/index.ts",
  "packages/chain/src/index.ts",
  "packages/chain/src/package/index.ts",
  "packages/sdk/src/index.ts",
];

/** The only files that read `process.env`; everything else is given its settings. */
export const ENVIRONMENT_READERS: readonly RegExp[] = [
  /^server\/src\/(config|main)\.ts$/,
  /^packages\/sdk\/src\/node\/(config|settings)\.ts$/,
  /^packages\/mcp\/src\/process\.ts$/,
  /^packages\/cli\/src\/process\.ts$/,
  /^packages\/(devstack|localnet)\/src\/(start|main)\.ts$/,
  // Where the programs of engines are.
  /^packages\/devstack\/src\/engines\//,
  // Starts the tool server as a program, with the few variables a program needs.
  /^packages\/devstack\/src\/tool-client\.ts$/,
];

export interface FileRule {
  readonly name: string;
  /** The import specifiers the rule is about. */
  readonly imports: RegExp;
  /** The files it holds in; a path from the repository's root. */
  readonly within: RegExp;
  /** The files among them that may. */
  readonly allowedIn: RegExp;
}

export const FILE_RULES: readonly FileRule[] = [
  {
    name: "fastify only in app.ts and http/",
    imports: /^(fastify|@fastify\/(?!busboy$).+)(\/|$)/,
    within: /^server\/src\//,
    allowedIn: /^server\/src\/(app\.ts$|http\/)/,
  },
  {
    name: "SQL only in stores, migrations and the database driver",
    imports: /^kysely(\/|$)/,
    within: /^server\/src\//,
    allowedIn:
      /^server\/src\/((features|jobs)\/([^/]+\/)*([^/]+-)?store\.ts$|migrations\/|drivers\/database\/|ports\/database\.ts$)/,
  },
  {
    name: "vendor SDKs only in drivers/",
    imports:
      /^(node:sqlite|better-sqlite3|pg|@electric-sql\/.+|@aws-sdk\/.+|nodemailer|@mysten\/.+|openid-client)(\/|$)/,
    within: /^server\/src\//,
    allowedIn: /^server\/src\/drivers\//,
  },
  {
    name: "the command line starts the tool server's program, and imports nothing of it",
    imports: /^@coffer\/mcp(\/|$)/,
    within: /^packages\/cli\/src\//,
    allowedIn: /^$/,
  },
  {
    name: "examples use published packages alone, so that they can be copied",
    imports: /^(@coffer\/(devstack|localnet|server)(\/|$)|\.)/,
    within: /^examples\//,
    allowedIn: /^$/,
  },
  {
    // Our own access tokens are no provider's: they are read where sessions are.
    name: "jose only in drivers/ and where access tokens are read",
    imports: /^jose(\/|$)/,
    within: /^server\/src\//,
    allowedIn: /^server\/src\/(drivers\/|features\/sessions\/access-tokens\.ts$)/,
  },
];
