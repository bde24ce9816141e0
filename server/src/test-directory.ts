/** TEST ONLY: a directory that goes with its test. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TestDirectory extends AsyncDisposable {
  readonly path: string;
}

export async function openTestDirectory(): Promise<TestDirectory> {
  const path = await mkdtemp(join(tmpdir(), "coffer-test-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
