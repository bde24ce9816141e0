/** Set up before each test file: scans what it and its processes sent, logged and stored, when all of its tests are over. */
import { existsSync, rmSync } from "node:fs";
import { relative } from "node:path";
import { afterAll, expect } from "vitest";
import { removeDirectories } from "../directory.ts";
import { processorSeconds } from "../processor-time.ts";
import { forgetSecrets } from "../secret-recorder.ts";
import { scanUnit } from "./scan-unit.ts";
import { TALLY_VARIABLE, writeOutcome } from "./tally.ts";
import { currentUnit } from "./unit.ts";

/** The processor time of this process when the file before this one ended. On the global object: the module is loaded again for each file. */
const SPENT = Symbol.for("coffer.processor-time");
const BYTES = Symbol.for("coffer.bytes-compared");
const shared = globalThis as { [SPENT]?: number; [BYTES]?: true };

/** Some files move a gigabyte. */
const SCAN_LIMIT = 300_000;

const unit = currentUnit();
if (unit === null) throw new Error("this process is not tapped: vitest.config.ts preloads test/kit/scan/preload.mjs");
const { testPath = "" } = expect.getState();
// Where files share a process (`vitest.config.ts`), each is scanned by itself.
if (!existsSync(unit.directory)) unit.beginAgain();
forgetSecrets();

// `toEqual` looks at each of a million bytes by itself otherwise.
if (shared[BYTES] === undefined)
  expect.addEqualityTesters([
    (one: unknown, other: unknown) =>
      one instanceof Uint8Array && other instanceof Uint8Array && one.constructor === other.constructor
        ? Buffer.compare(one, other) === 0
        : undefined,
  ]);
shared[BYTES] = true;

// Registered before all others, so it runs after them: what they stop and remove has then ended.
afterAll(({}, file) => {
  const outcome = scanUnit(unit.directory);
  removeDirectories();
  // Where files share a process, this one's part is what was added since the file before it.
  const spent = processorSeconds();
  Object.assign(file.meta, { processorSeconds: spent - (shared[SPENT] ?? 0) });
  shared[SPENT] = spent;
  // It holds every secret of these tests.
  rmSync(unit.directory, { recursive: true, force: true });
  const tallies = process.env[TALLY_VARIABLE];
  if (tallies !== undefined) writeOutcome(tallies, relative(process.cwd(), testPath), outcome);
  const { problems } = outcome;
  if (problems.length === 0) return;
  const shown = problems.slice(0, 20).join("\n");
  throw new Error(`the scan found ${problems.length} (seed ${unit.seed}):\n${shown}`);
}, SCAN_LIMIT);
