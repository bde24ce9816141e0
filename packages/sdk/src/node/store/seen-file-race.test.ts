import type * as Files from "node:fs/promises";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { fileSeen } from "./seen-file.ts";

/** What another process does between the opening of a file to append to and the look at it. */
let meanwhile: ((path: string) => Promise<void>) | null = null;
/** The same, just before the writing. */
let beforeWriting: (() => Promise<void>) | null = null;

vi.mock("node:fs/promises", async (original) => {
  const files = await original<typeof Files>();
  return {
    ...files,
    open: async (path: string, flags: string, mode?: number) => {
      const file = await files.open(path, flags, mode);
      const work = flags === "a" ? meanwhile : null;
      if (work !== null) meanwhile = null;
      await work?.(path);
      const write = file.appendFile.bind(file);
      file.appendFile = async (...content) => {
        const first = beforeWriting;
        beforeWriting = null;
        await first?.();
        return write(...content);
      };
      return file;
    },
  };
});

const OBJECT = `0x${"ab".repeat(32)}`;
const ID = "0197b6f0-0000-7000-8000-000000000001";
const OTHER_ID = "0197b6f0-0000-7000-8000-000000000002";

it("what is written into a file that another process has just replaced is written into the new one as well", async () => {
  const directory = makeDirectory();
  const memory = await fileSeen(directory).open(OBJECT);
  meanwhile = async (path) => {
    const draft = join(directory, "draft");
    await writeFile(draft, `coffer-seen 1 ${OBJECT} ${"0".repeat(16)}`);
    await rename(draft, path);
  };
  memory.note("version", ID, { number: 7n, generation: 1n, after: 0n, hash: new Uint8Array(32) });
  await memory.flush();
  expect(meanwhile).toBeNull();
  expect((await fileSeen(directory).open(OBJECT)).find("version", ID)?.number).toBe(7n);
});

it("what two processes write into a file that is new to both is in it", async () => {
  const directory = makeDirectory();
  const [one, other] = [await fileSeen(directory).open(OBJECT), await fileSeen(directory).open(OBJECT)];
  const seen = { generation: 1n, after: 0n, hash: new Uint8Array(32) };
  one.note("version", ID, { number: 4n, ...seen });
  other.note("version", OTHER_ID, { number: 9n, ...seen });
  beforeWriting = () => other.flush();
  await one.flush();
  expect(beforeWriting).toBeNull();
  const read = await fileSeen(directory).open(OBJECT);
  expect([ID, OTHER_ID].map((id) => read.find("version", id)?.number)).toEqual([4n, 9n]);
});
