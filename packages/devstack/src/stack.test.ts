import { chmod, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startStack } from "./stack.ts";

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o7777;

it("leaves the mode of a data directory that was there, closes one it makes, and keeps the key for the owner alone", async () => {
  const parent = await mkdtemp(join(tmpdir(), "coffer-stack-test-"));
  try {
    await chmod(parent, 0o1777);
    const existing = await startStack({ dataDirectory: parent });
    await existing.close();
    expect(await modeOf(parent)).toBe(0o1777);
    expect(await modeOf(existing.credentialsFile)).toBe(0o600);
    const made = await startStack({ dataDirectory: join(parent, "deep", "data") });
    await made.close();
    expect(await modeOf(made.dataDirectory)).toBe(0o700);
    expect(await modeOf(made.credentialsFile)).toBe(0o600);
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
});
