// Floors inside packages, and cycles. What a package may import from another is held by test/pins/topology.test.ts.
// Run it with `npm run check:floors`, which also fails when it read fewer modules than there are: the tool says
// "no violations" about sources that its compiler could not read.

const inServer = (directory) => `^server/src/${directory}`;
/** Tests, and the `test-….ts` and `live-service.ts` files that set a service up for the tests next to them. */
const TESTS = "(\\.test|/test-[a-z-]+|/live-service)\\.ts$";
/** `store.ts`, `rules.ts` and what is named after them, such as `queue-store.ts`, in features and in jobs. */
const STORES = inServer("(features|jobs)/.*\\bstore\\.ts$");
const RULES = inServer("(features|jobs)/.*\\brules\\.ts$");
const HANDLERS = inServer("(features/.*\\bhandlers|handler)\\.ts$");
/** An import that is still there at run time. */
const AT_RUN_TIME = { dependencyTypesNot: ["type-only"] };

/** @param {string} name @param {string} comment @param {object} from @param {object} to */
const forbid = (name, comment, from, to) => ({ name, comment, severity: "error", from, to });

module.exports = {
  forbidden: [
    forbid(
      "no-cycle",
      "Two modules that need each other, be it for a type, are one module, or miss a third.",
      {},
      { circular: true },
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
      "public-entries-only",
      "A package is used through its exports, not by a path into it.",
      { path: "^(packages/[^/]+|server|test|bench|examples|scripts)/" },
      { path: "^(packages/[^/]+|server)/dist/" },
    ),
    forbid(
      "ports-know-no-driver",
      "A port is an interface: it knows nothing of who implements or uses it.",
      { path: inServer("ports/"), pathNot: TESTS },
      { path: inServer("(drivers|features|http|jobs|migrations)/") },
    ),
    forbid(
      "drivers-know-only-ports",
      "A driver implements a port; it knows no feature and no HTTP.",
      { path: inServer("drivers/"), pathNot: TESTS },
      { path: inServer("(features|http|jobs)/|^server/src/(app|main|index)\\.ts$") },
    ),
    forbid(
      "one-door-to-storage",
      "server/src/storage.ts opens databases and blobs, for everybody; tests go through test-storage.ts.",
      { pathNot: inServer("((test-)?storage\\.ts$|drivers/|migrations/.*\\.test\\.ts$)") },
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
      { ...AT_RUN_TIME, path: [STORES, HANDLERS, inServer("(http|drivers|jobs|migrations)/")] },
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
    exclude: { path: "(^|/)dist/" },
  },
};
