/** A home directory of its own for each test file, which goes with it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

export function makeHome(): () => string {
  const home = mkdtempSync(join(tmpdir(), "coffer-home-"));
  afterAll(() => rmSync(home, { recursive: true, force: true }));
  return () => home;
}
