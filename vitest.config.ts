import { globSync, readFileSync } from "node:fs";
import { matchesGlob } from "node:path";
import { defineConfig, type TestProjectConfiguration } from "vitest/config";
import { SlowestFirst } from "./dev/scripts/slowest-first.ts";
import { OWN_CURVE_VARIABLE } from "./test/kit/quick-curve.ts";

/** `npm run test:nightly`: randomised tests run the counts that are promised, instead of a few. */
const FULL = process.env["COFFER_TEST_COUNTS"] === "full";

const TESTS = ["packages/*/src/**/*.test.ts", "dev/*/src/**/*.test.ts", "server/src/**/*.test.ts", "test/**/*.test.ts"];
const NOWHERE = ["**/node_modules/**", "**/dist/**"];

/**
 * What `npm run test:deep` runs, and `npm test` leaves out: whole programs that are started again and again, what is killed or
 * cut off at every step, browsers, most of what needs a chain and key servers, and journeys beyond one of each ground
 * (`test/journeys/programs/samples.ts`). `npx vitest run <file>` runs either kind.
 */
const DEEP = [
  "packages/cli/src/canary.test.ts",
  "packages/cli/src/closed-streams.test.ts",
  "packages/cli/src/examples.test.ts",
  "packages/cli/src/interrupts.test.ts",
  "packages/cli/src/random-lines.test.ts",
  "dev/devstack/src/**/*.test.ts",
  "packages/mcp/src/interop.test.ts",
  "server/src/drivers/blobs/s3-ceph.test.ts",
  "server/src/drivers/blobs/s3-faults.test.ts",
  "server/src/drivers/database/{races,postgres-*}.test.ts",
  "server/src/features/webhooks/delivery/{pace,receivers}.test.ts",
  "server/src/main.test.ts",
  "server/src/schema/postgres-plans.test.ts",
  "server/src/operator/{backup,move}.test.ts",
  "server/src/races/two-processes.test.ts",
  "test/journeys/journeys-*.test.ts",
  "test/any-answer/*.test.ts",
  "test/security/attack/*.test.ts",
  "test/browser/*.test.ts",
  "test/chain/denials.test.ts",
  "test/chain/drawn-ends.test.ts",
  "test/chain/gas-of-acts.test.ts",
  "test/chain/journey.test.ts",
  "test/chain/key-wrap.test.ts",
  "test/cli/accounts.test.ts",
  "test/cli/completion.test.ts",
  "test/cli/cut-transfers.test.ts",
  "test/cli/files.test.ts",
  "test/cli/first-hours.test.ts",
  "test/cli/first-use.test.ts",
  "test/cli/full-disk*.test.ts",
  "test/cli/keychain.test.ts",
  "test/cli/letting-in.test.ts",
  "test/cli/one-file.test.ts",
  "test/cli/onboarding.test.ts",
  "test/cli/owner-scopes.test.ts",
  "test/cli/owner.test.ts",
  "test/cli/rewinding.test.ts",
  "test/cli/second-machine.test.ts",
  "test/cli/signing-in.test.ts",
  "test/cli/sync.test.ts",
  "test/cli/wrong-lines.test.ts",
  "test/client-folder-crash.test.ts",
  "test/client-real.test.ts",
  "test/conformance/pooler.test.ts",
  "test/engines/*.test.ts",
  "test/first-hours/*.test.ts",
  "test/fuzz/fuzz.test.ts",
  "test/crash/*.test.ts",
  "test/mcp/acting-shared.test.ts",
  "test/mcp/canary.test.ts",
  "test/mcp/confirm*.test.ts",
  "test/mcp/damage.test.ts",
  "test/mcp/eras.test.ts",
  "test/mcp/eval.test.ts",
  "test/mcp/http.test.ts",
  "test/mcp/injection*.test.ts",
  "test/mcp/interop.test.ts",
  "test/mcp/join.test.ts",
  "test/mcp/looking.test.ts",
  "test/mcp/matrix.test.ts",
  "test/mcp/offers.test.ts",
  "test/mcp/path-fuzz.test.ts",
  "test/mcp/room.test.ts",
  "test/mcp/shared-vaults.test.ts",
  "test/mcp/sizes.test.ts",
  "test/mcp/taint.test.ts",
  "test/operator/*.test.ts",
  "test/projects/*.test.ts",
  "test/scan/journey.test.ts",
  "test/scan/{identity,webhooks}.test.ts",
  "test/shared-files/*.test.ts",
  "test/shared-vaults/*.test.ts",
  "test/shipped/{packed-packages,programs}.test.ts",
  "test/signers/invites.test.ts",
  "test/signers/life.test.ts",
  "test/start{,-lost-data,-ports}.test.ts",
  "test/security/threats/*.test.ts",
];

/**
 * What neither run has, and `npm run test:nightly` does: long walks and campaigns that guard neither data nor keys, and suites that run
 * a second time on another engine, whose first run `npm test` has. `test/pins/threat-model.test.ts` sees that no claim rests on these
 * alone.
 */
const NIGHTLY = [
  "packages/cli/src/{closed-streams,examples,random-lines}.test.ts",
  "packages/mcp/src/interop.test.ts",
  "server/src/drivers/database/{postgres-pooler,postgres-tls}.test.ts",
  "server/src/schema/postgres-plans.test.ts",
  "test/chain/{gas-of-acts,publish}.test.ts",
  "test/cli/{accounts,completion,first-hours,memory,onboarding,one-file,recording,second-machine}.test.ts",
  "test/conformance/pooler.test.ts",
  "test/engines/{acceptance,fuzz,journeys-*,other-features,permissions}.test.ts",
  "test/first-hours/*.test.ts",
  "test/mcp/{eras,eval,looking,matrix,offers,room,sizes}.test.ts",
  "test/operator/{dockerfile,pages,proxies,release}.test.ts",
  "test/projects/{next,receivers,runners,runtimes}.test.ts",
  "test/shared-vaults/scale.test.ts",
  "test/shipped/global-install.test.ts",
  "test/start-{ports,scaled,stopped}.test.ts",
];

/** Tests of Seal's own arithmetic, and of what key servers answer. All others compute with the quicker one (`test/kit/quick-curve.ts`). */
const SEAL = [
  "{packages/chain,dev/localnet}/src/**/*.test.ts",
  "test/{chain,localnet}/*.test.ts",
  "test/shared-vaults/key-servers.test.ts",
  "test/security/threats/chain-and-key-servers.test.ts",
];

/** Programs that end with their process, and what looks at a whole process: each has one of its own, as has what replaces globals or the clock. */
const ALONE = [
  "dev/devstack/**",
  "test/client-*.test.ts",
  "test/engines/**",
  "test/fuzz/**",
  "test/crash/**",
  "test/scan/**",
];
const REPLACES = /\bvi\.(mock|doMock|stubGlobal|stubEnv|hoisted|useFakeTimers|resetModules)\(/;

const find = (include: string[], exclude: string[]): string[] =>
  globSync(include, { cwd: import.meta.dirname, exclude });
const alone = new Set(
  find(TESTS, ["**/node_modules/**"]).filter(
    (file) =>
      ALONE.some((pattern) => matchesGlob(file, pattern)) ||
      REPLACES.test(readFileSync(new URL(file, import.meta.url), "utf8")),
  ),
);

/** Files of one tier share processes, one file after the other, so that modules are loaded once; those of `alone` do not. */
function projectsOf(tier: string, files: string[]): TestProjectConfiguration[] {
  const seal = new Set(find(SEAL, []));
  const project = (name: string, include: string[], settings = {}): TestProjectConfiguration[] =>
    include.length === 0 ? [] : [{ extends: true, test: { name: `${tier}${name}`, include, ...settings } }];
  const others = files.filter((file) => !seal.has(file));
  const together = others.filter((file) => !alone.has(file));
  const separate = others.filter((file) => alone.has(file));
  return [
    ...project("", together, { isolate: false }),
    ...project("-alone", separate),
    ...project(
      "-seal",
      files.filter((file) => seal.has(file)),
      { isolate: false, env: { [OWN_CURVE_VARIABLE]: "1" } },
    ),
  ];
}

// Read and written by the runner, its workers and every program that tests start: parsed and compiled once, not each time.
process.env["NODE_COMPILE_CACHE"] ??= new URL("node_modules/.cache/coffer-compiled", import.meta.url).pathname;

export default defineConfig({
  resolve: { conditions: ["coffer-source"] },
  ssr: { resolve: { conditions: ["coffer-source"] } },
  test: {
    projects: [
      ...projectsOf("tests", find(TESTS, [...NOWHERE, ...DEEP, ...NIGHTLY])),
      ...projectsOf("deep", find(DEEP, [...NOWHERE, ...NIGHTLY])),
      ...projectsOf("nightly", find(NIGHTLY, NOWHERE)),
    ],
    // A door: the engine behind it starts with the first test that asks.
    globalSetup: "test/kit/ceph/ceph-run.ts",
    pool: "forks",
    // The machines this runs on have two cores, and some tests start servers of their own.
    maxWorkers: 2,
    sequence: { sequencer: SlowestFirst },
    // Tapped before the first import, and scanned after the last test, with all that the file starts (CONTRIBUTING, "The scan").
    execArgv: ["--conditions=coffer-source", `--import=${new URL("test/kit/scan/preload.mjs", import.meta.url).href}`],
    setupFiles: ["test/kit/scan/vitest-setup.ts"],
    // Nothing here is timed. These end what hangs, far beyond what the slowest test takes on a busy machine.
    testTimeout: FULL ? 900_000 : 600_000,
    hookTimeout: 300_000,
  },
});
