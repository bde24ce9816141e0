// The floors of ARCHITECTURE.md, between packages and inside them, and cycles. `process.env` is the linter's.
// Run it with `npm run check:floors`, which also fails when it read fewer modules than there are: the tool says
// "no violations" about sources that its compiler could not read.

const inServer = (directory) => `^server/src/${directory}`;
/** Tests, and the `.test-kit.ts` and `live-service.ts` files that set a service up for the tests next to them. */
const TESTS = "(\\.test|\\.test-kit|/live-service)\\.ts$";
/** `store.ts`, `rules.ts` and what is named after them, such as `queue-store.ts`, in features and in jobs. */
const STORES = inServer("(features|jobs)/.*\\bstore\\.ts$");
const RULES = inServer("(features|jobs)/.*\\brules\\.ts$");
const HANDLERS = inServer("(features/.*\\bhandlers|handler)\\.ts$");
/** An import that is still there at run time. */
const AT_RUN_TIME = { dependencyTypesNot: ["type-only"] };

/** @param {string} name @param {string} comment @param {object} from @param {object} to */
const forbid = (name, comment, from, to) => ({ name, comment, severity: "error", from, to });

/** Which packages a package imports. The server has neither crypto nor sdk nor chain: it cannot decrypt, since it cannot import the code. */
const FLOORS = {
  "packages/contract": [],
  "packages/crypto": [],
  "packages/chain": ["packages/crypto", "packages/contract"],
  "packages/sdk": ["packages/contract", "packages/crypto", "packages/chain"],
  "dev/localnet": ["packages/chain"],
  "packages/tasks": ["packages/sdk", "packages/contract"],
  "packages/mcp": ["packages/tasks", "packages/sdk", "packages/contract"],
  // It depends on the tool server, whose program it starts, and imports nothing of it.
  "packages/cli": ["packages/tasks", "packages/sdk", "packages/contract"],
  server: ["packages/contract"],
  "dev/devstack": ["server", "dev/localnet", "packages/sdk", "packages/mcp", "packages/contract"],
};
const PACKAGES = Object.keys(FLOORS).join("|");
/** What every file of the repository that is in no package may import as well. */
const ROOT = "^(test|bench|examples|scripts)/";

/** Third-party packages, where the list is closed. */
const ONLY_PACKAGES = {
  "packages/contract": ["zod"],
  // No MCP library and no parser of command lines: what is here is below both. These read and change the settings of MCP hosts.
  "packages/tasks": ["diff", "ignore", "jsonc-parser", "smol-toml"],
};

/** Third-party packages of the server that only some of its files import. */
const ONLY_IN = {
  "fastify-only-in-http": { packages: ["fastify", "@fastify/(?!busboy/)[^/]+"], files: ["app\\.ts$", "http/"] },
  "sql-only-in-stores": {
    packages: ["kysely"],
    files: ["(features|jobs)/.*\\bstore\\.ts$", "schema/", "drivers/database/", "ports/database\\.ts$"],
  },
  "vendors-only-in-drivers": {
    packages: ["pg", "@aws-sdk/[^/]+", "nodemailer", "@mysten/[^/]+", "openid-client"],
    builtins: ["sqlite"],
    files: ["drivers/"],
  },
  // Our own access tokens are no provider's: they are read where sessions are.
  "jose-only-where-tokens-are-read": {
    packages: ["jose"],
    files: ["drivers/", "features/sessions/access-tokens\\.ts$"],
  },
};

const floorRules = Object.entries(FLOORS).map(([name, allowed]) =>
  forbid(
    `floor-of-${name.replace("packages/", "")}`,
    `${name} imports ${allowed.join(", ") || "no other package"}.`,
    { path: `^${name}/` },
    { path: "^(packages/[^/]+|dev/(localnet|devstack)|server)/", pathNot: `^(${[name, ...allowed].join("|")})/` },
  ),
);

const closedLists = Object.entries(ONLY_PACKAGES).map(([name, allowed]) =>
  forbid(
    `only-packages-of-${name.replace("packages/", "")}`,
    `${name} uses ${allowed.join(", ")}, and no other package.`,
    { path: `^${name}/src/`, pathNot: TESTS },
    { path: "node_modules/", pathNot: `node_modules/(${allowed.join("|")})/` },
  ),
);

const vendorRules = Object.entries(ONLY_IN).map(([name, { packages, builtins = [], files }]) =>
  forbid(
    name,
    `In the server, ${packages.join(", ")} only in ${files.join(", ")}.`,
    { path: "^server/src/", pathNot: [TESTS, ...files.map(inServer)] },
    { path: [`node_modules/(${packages.join("|")})/`, ...builtins.map((module) => `^(node:)?${module}$`)] },
  ),
);

module.exports = {
  forbidden: [
    ...floorRules,
    ...closedLists,
    ...vendorRules,
    forbid(
      "every-package-has-a-floor",
      "A package that FLOORS does not name is held to nothing.",
      { path: `^(?!(${PACKAGES})/)(packages/[^/]+|dev/(localnet|devstack)|server)/` },
      {},
    ),
    forbid(
      "declared-dependencies",
      "A package declares what it imports: tsup bundles what is not declared without a word.",
      { path: `^(${PACKAGES})/`, pathNot: TESTS },
      { path: "node_modules/", dependencyTypesNot: ["npm", "npm-peer", "npm-optional"] },
    ),
    forbid(
      "no-relative-escape",
      "A package reaches another by its name: a relative path goes around its exports.",
      { path: "^(packages/[^/]+|dev/(localnet|devstack)|server)/" },
      { path: "^(packages|server)/", pathNot: "^$1/", dependencyTypes: ["local"] },
    ),
    forbid(
      "no-relative-path-into-packages",
      "Tests, examples and scripts use packages by their names, through their exports.",
      // `coffer.mjs` is made of two programs, which export nothing.
      { path: ROOT, pathNot: "^dev/scripts/one-file-entry\\.ts$" },
      { path: "^(packages|server)/", dependencyTypesNot: ["aliased-workspace"] },
    ),
    forbid(
      "runtime-neutral",
      "These entries run without Node: nothing they reach imports a module of Node's.",
      { path: "^packages/((contract|crypto|chain|sdk)/src/index|chain/src/package/index)\\.ts$" },
      {
        path: "^(node:)?(fs|path|os|net|tls|http|https|stream|crypto|buffer|child_process|worker_threads|module|url|util)(/|$)",
        reachable: true,
      },
    ),
    forbid(
      "examples-can-be-copied",
      "An example uses published packages alone.",
      { path: "^examples/" },
      { path: ["^(dev|server|test|examples)/"] },
    ),
    forbid(
      "no-cycle",
      "Two modules that need each other, be it for a type, are one module, or miss a third.",
      {},
      { circular: true },
    ),
    forbid(
      "features-below",
      "What accounts and items share is below files, folders and vaults.",
      { path: inServer("features/(account|reach|items)/"), pathNot: TESTS },
      { path: inServer("features/(files|folders|vaults)/") },
    ),
    forbid("resolvable", "An import that cannot be followed cannot be held to a floor.", {}, { couldNotResolve: true }),
    forbid(
      "no-test-in-source",
      "Sources do not import tests.",
      { pathNot: `${TESTS}|^(test|bench|examples|scripts)/` },
      { path: TESTS },
    ),
    forbid(
      "no-tests-directory",
      "Only tests use what test/ holds.",
      { path: "^(packages|server)/", pathNot: TESTS },
      { path: "^(test|bench|examples|scripts)/" },
    ),
    forbid(
      "ports-know-no-driver",
      "A port is an interface: it knows nothing of who implements or uses it.",
      { path: inServer("ports/"), pathNot: TESTS },
      { path: inServer("(drivers|features|http|jobs|schema)/") },
    ),
    forbid(
      "drivers-know-only-ports",
      "A driver implements a port; it knows no feature and no HTTP.",
      { path: inServer("drivers/"), pathNot: TESTS },
      { path: inServer("(features|http|jobs)/|^server/src/(app|main|index)\\.ts$") },
    ),
    forbid(
      "one-door-to-storage",
      "server/src/storage.ts opens databases and blobs, for everybody; tests go through storage.test-kit.ts.",
      { pathNot: inServer("(storage(\\.test-kit)?\\.ts$|drivers/|schema/.*\\.test\\.ts$)") },
      { path: inServer("drivers/(database|blobs)/([^/]+|sqlite/snapshot)\\.ts$") },
    ),
    forbid(
      "features-know-no-driver",
      "A feature works with ports, so that any driver serves it.",
      { path: inServer("(features|http|jobs)/"), pathNot: TESTS },
      { path: inServer("drivers/|^server/src/(app|main|index)\\.ts$") },
    ),
    forbid(
      "features-know-no-http",
      "A feature answers in values and ServiceErrors; server/src/handler.ts is all it knows of a request.",
      { path: inServer("(features|jobs|limits)/"), pathNot: TESTS },
      { path: inServer("http/") },
    ),
    forbid(
      "rules-are-pure",
      "Rules decide from values; they do not reach for rows, bytes or requests. They refuse with the catalogue's errors.",
      { path: RULES },
      { ...AT_RUN_TIME, path: [STORES, HANDLERS, inServer("(http|drivers|jobs|schema)/")] },
    ),
    forbid(
      "stores-know-no-http",
      "A store answers in rows and null; statuses are decided above it.",
      { path: STORES },
      { ...AT_RUN_TIME, path: [HANDLERS, inServer("http/")] },
    ),
    forbid(
      "app-reads-no-environment",
      "The application is given its dependencies; only the entry reads the environment.",
      { path: "^server/src/app\\.ts$" },
      { path: inServer("drivers/|^server/src/(main|index)\\.ts$") },
    ),
    forbid(
      "sdk-root-is-runtime-neutral",
      "The root entry runs in browsers: files, configuration and mocks have entries of their own.",
      { path: "^packages/sdk/src/(?!node/|testing/)", pathNot: TESTS },
      { path: "^packages/sdk/src/(node|testing)/" },
    ),
    forbid(
      "mcp-tools-know-no-transport",
      "A tool is a task; how it is served is decided above it.",
      { path: "^packages/mcp/src/tools/", pathNot: TESTS },
      { path: "^packages/mcp/src/(main|stdio|server|index)\\.ts$" },
    ),
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    // Also imports of types alone: a cycle of types is a cycle in the reader's head.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["coffer-source", "types", "import", "node", "default"],
      mainFields: ["module", "main", "types"],
    },
    doNotFollow: { path: "node_modules" },
    // Builds of ours: that sources do not import them is the linter's.
    exclude: { path: "^(packages/[^/]+|dev/(localnet|devstack)|server)/dist/|^test/projects/[^/]+/" },
  },
};
