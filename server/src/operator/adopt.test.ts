/** `adopt` as an operator runs it. With servers: test/operator/pairing.test.ts. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { inChunks } from "../../../test/kit/bytes.ts";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { parseMark } from "../features/pairing/mark.ts";
import { openBeside } from "../storage.ts";
import { testAddress } from "../storage.test-kit.ts";
import { runAsked, runCommand } from "./operator.test-kit.ts";

/** New rows beside a store that has a content which they do not name. */
async function openScene(mark: string | null) {
  const directory = makeDirectory();
  const place = { kind: "disk", directory: join(directory, "blobs"), reserveBytes: 0 } as const;
  const pair = await openBeside({ database: await testAddress(directory), blobs: place });
  onTestFinished(() => pair[Symbol.asyncDispose]());
  const { blobs } = pair;
  await blobs.put("content-of-others", inChunks(Buffer.from("content")));
  if (mark !== null) await blobs.replaceMark(null, mark);
  return { directory, blobs };
}

describe("adopt", () => {
  it("shows both marks and what is stored, asks, and changes nothing without a yes", async () => {
    const { directory, blobs } = await openScene(null);
    const unanswered = await runCommand(directory, "adopt");
    expect(unanswered).toMatchObject({ status: 1, note: expect.stringContaining("say --yes") as string });
    expect(unanswered.out).toContain("know no store");
    expect(unanswered.out).toContain(`${join(directory, "blobs")} has no mark`);
    expect(unanswered.out).toContain("0 contents that these rows name, 1 that they do not");
    expect((await runAsked(directory, "no", "adopt")).status).toBe(1);
    expect(await blobs.readMark()).toBeNull();
    expect(await runAsked(directory, "y", "adopt")).toMatchObject({ status: 0 });
    expect(parseMark((await blobs.readMark()) ?? "").contested).toBe(false);
    const again = await runCommand(directory, "adopt", "--yes");
    expect([again.status, again.out]).toEqual([0, expect.stringMatching(/know the store \S+, renewed 2/)]);
  });

  it("replaces a mark that cannot be read, and waits where another database has renewed its own lately", async () => {
    const broken = await openScene("{");
    expect(await runCommand(broken.directory, "adopt", "--yes")).toMatchObject({
      status: 0,
      out: expect.stringContaining("a mark that cannot be read") as string,
    });
    const mark = { storeId: "store", token: "token", renewedAt: Date.now() - 60_000, contested: false };
    const busy = await openScene(JSON.stringify(mark));
    const refused = await runCommand(busy.directory, "adopt", "--yes");
    expect([refused.status, refused.note]).toEqual([1, expect.stringContaining("in the last 30 minutes")]);
    const silent = await openScene(JSON.stringify({ ...mark, renewedAt: Date.now() - 31 * 60_000 }));
    expect((await runCommand(silent.directory, "adopt", "--yes")).status).toBe(0);
  });

  it("makes no database where there is none", async () => {
    const directory = makeDirectory();
    await expect(runCommand(directory, "adopt", "--yes")).rejects.toThrow("there is no database");
    rmSync(directory, { recursive: true });
  });
});
