import { defineConfig } from "vitest/config";
import { SlowestFirst } from "./scripts/slowest-first.ts";

/** `npm run test:full`: randomised tests run the counts that are promised, instead of a few. */
const FULL = process.env["COFFER_TEST_COUNTS"] === "full";

export default defineConfig({
  resolve: { conditions: ["coffer-source"] },
  ssr: { resolve: { conditions: ["coffer-source"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "server/src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    pool: "forks",
    // The machines this runs on have two cores, and some tests start servers of their own.
    maxWorkers: 2,
    sequence: { sequencer: SlowestFirst },
    // Tapped before the first import, and scanned after the last test, with all that the file starts (CONTRIBUTING, "The scan").
    execArgv: ["--conditions=coffer-source", `--import=${new URL("test/kit/scan/preload.mjs", import.meta.url).href}`],
    setupFiles: ["test/kit/scan/vitest-setup.ts"],
    // Nothing here is timed. These end what hangs, far beyond what the slowest test takes on a busy machine.
    testTimeout: FULL ? 900_000 : 180_000,
    hookTimeout: 180_000,
  },
});
