/**
 * Runs tests that `npm test` runs on SQLite and disk again, over a real PostgreSQL and a real S3 store: every server and every service that
 * they open has a database and a prefix of its own there.
 */
import { globSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { whyNoCeph } from "@coffer/devstack/engines";
import { placesGiven, skipWithoutCeph } from "../kit/ceph/store.ts";
import { databasesGiven } from "../kit/postgres/databases.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** The test files that match, one after the other; each pattern matches some. */
export function runOnEngines(...patterns: readonly string[]): void {
  onEngines(() => {
    for (const pattern of patterns) {
      const files = globSync(pattern, { cwd: ROOT }).sort();
      if (files.length === 0) throw new Error(`there is no ${pattern}`);
      for (const file of files)
        describe(file, async () => {
          await import(join(ROOT, file));
        });
    }
  });
}

export function onEngines(define: () => void): void {
  // Before any test is loaded: some modules read it then.
  Object.assign(process.env, { COFFER_TEST_DATABASE: "postgres", COFFER_TEST_BLOBS: "s3" });
  const why = whyNoCeph();
  if (why === null || process.env["COFFER_TEST_ENGINES"] === "required") define();
  else it("needs an S3 store", skipWithoutCeph);
  if (why === null)
    it("had places in both engines", () => {
      expect(databasesGiven()).toBeGreaterThan(0);
      expect(placesGiven()).toBeGreaterThan(0);
    });
}
