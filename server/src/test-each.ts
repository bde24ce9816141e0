/** TEST ONLY: what each test of a file, or of a group, has to itself. */
import { beforeEach } from "vitest";

/** Opened before each test, and disposed of after it where it can be. What is read of it is the running test's own. */
export function ofEachTest<Opened extends object>(open: () => Promise<Opened>): Opened {
  const opened = {} as Opened;
  beforeEach(async () => {
    Object.assign(opened, await open());
    return () => (opened as Partial<AsyncDisposable>)[Symbol.asyncDispose]?.();
  });
  return opened;
}
