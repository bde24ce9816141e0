/** TEST ONLY: what each test of a file, or of a group, has to itself. */
import { beforeEach } from "vitest";

/** Opened before each test, and disposed of after it where it can be. Reads give the running test's own value. */
export function ofEachTest<Opened extends object>(open: () => Promise<Opened>): Opened {
  const opened = {} as Opened;
  beforeEach(async () => {
    Object.assign(opened, await open());
    return () => (opened as Partial<AsyncDisposable>)[Symbol.asyncDispose]?.();
  });
  return opened;
}
