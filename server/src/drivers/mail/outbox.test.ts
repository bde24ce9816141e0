import fc from "fast-check";
import { chmod, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../../test/kit/clock.ts";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { FaultyFiles } from "../../../../test/kit/faulty-files.ts";
import { PowerLossFiles } from "../../../../test/kit/power-loss.ts";
import { readMail } from "../../../../test/suites/mailer-message.ts";
import { describeMailer, failureOf, mailOf } from "../../../../test/suites/mailer.ts";
import { systemRandom } from "../../ports/random.ts";
import { diskFileSystem } from "../blobs/disk/file-system.ts";
import { openOutbox } from "./outbox.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const scratch = ofEachTest(async () => ({ path: makeDirectory() }));

const FROM = "Coffer <service@example.test>";
const RUNS = process.env["COFFER_TEST_COUNTS"] === "full" ? 500 : 50;

describeMailer("outbox", async () => {
  const directory = join(makeDirectory(), "data", "outbox");
  return {
    open: (from) => openOutbox({ directory, from, clock: new ManualClock(), random: systemRandom }),
    received: async () => {
      const names = (await readdir(directory)).filter((name) => name.endsWith(".eml")).toSorted();
      const all = await Promise.all(names.map((name) => readFile(join(directory, name))));
      return all.map((bytes) => ({ envelope: null, bytes }));
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
});

describe("the outbox's files", () => {
  it("[D1-mail-tokens] can be read by the server's own user only, whatever was there before", async () => {
    const directory = join(scratch.path, "outbox");
    await open(directory);
    await chmod(directory, 0o755);
    const outbox = await open(directory);
    await outbox.send(mailOf());
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    const names = await readdir(directory);
    expect(names).toHaveLength(1);
    for (const name of names) expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
  });

  it("are named in the order of sending, also within one millisecond and by two processes", async () => {
    const clock = new ManualClock();
    const [one, other] = [await open(scratch.path, clock), await open(scratch.path, clock)];
    for (let at = 0; at < 12; at += 1) {
      await one.send(mailOf({ subject: `one ${at}` }));
      await other.send(mailOf({ subject: `other ${at}` }));
      if (at % 3 === 0) clock.advance(1);
    }
    const subjects = await subjectsIn(scratch.path);
    for (const who of ["one", "other"]) {
      const own = subjects.filter((subject) => subject.startsWith(`${who} `));
      expect(own).toEqual(Array.from({ length: 12 }, (_, at) => `${who} ${at}`));
    }
  });

  it("leave nothing behind when a step fails, and the failure is one that passes", async () => {
    for (const step of ["create", "write", "flush", "link"] as const) {
      const scratch = makeDirectory();
      const files = new FaultyFiles(diskFileSystem);
      const outbox = await openOutbox({ ...options(scratch), files });
      files.inject({ code: "ENOSPC", at: 0, calls: [step] });
      const error = await failureOf(outbox.send(mailOf({ text: "kept-to-itself" })));
      expect(error.permanent).toBe(false);
      expect(error.message).toContain("ENOSPC");
      expect(await readdir(scratch)).toEqual([]);
      await outbox.send(mailOf());
      expect(await readdir(scratch)).toHaveLength(1);
    }
  });

  it("are whole or not there after a power loss at any point, and there once the send has resolved", async () => {
    const chances = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 50 });
    await fc.assert(
      fc.asyncProperty(chances, async (drawn) => {
        const files = new PowerLossFiles();
        const outbox = await openOutbox({ ...options("/data/outbox"), files });
        await outbox.send(mailOf());
        for (let point = 0; point <= files.points; point += 1) {
          let next = 0;
          const texts = await textsIn(files.afterCrash(point, () => drawn[next++ % drawn.length] ?? 0));
          if (point === files.points) expect(texts).toHaveLength(1);
          for (const text of texts) expect(text).toBe(mailOf().text);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("that a crash left half written are gone after the next start, an hour later", async () => {
    const [old, fresh] = [".2026-01-01T00-00-00.000Z-000001-id.part", ".2026-01-01T00-00-00.000Z-000002-id.part"];
    for (const name of [old, fresh, "note.txt"]) await writeFile(join(scratch.path, name), "half a mail");
    const clock = new ManualClock();
    const hourAgo = clock.now() / 1000 - 3601;
    await utimes(join(scratch.path, old), hourAgo, hourAgo);
    await utimes(join(scratch.path, "note.txt"), hourAgo, hourAgo);
    await open(scratch.path, clock);
    expect((await readdir(scratch.path)).toSorted()).toEqual([fresh, "note.txt"]);
  });

  it("do not replace a file that is there", async () => {
    const random = { ...systemRandom, uuid: () => "00000000-0000-4000-8000-000000000000" };
    const first = await openOutbox({ ...options(scratch.path), random });
    await first.send(mailOf({ subject: "first" }));
    const second = await openOutbox({ ...options(scratch.path), random });
    expect((await failureOf(second.send(mailOf({ subject: "second" })))).message).toContain("EEXIST");
    expect(await subjectsIn(scratch.path)).toEqual(["first"]);
  });

  it("say so when their directory cannot be made", async () => {
    const path = join(scratch.path, "file");
    await writeFile(path, "");
    await expect(open(path)).rejects.toThrow();
  });
});

function options(directory: string, clock = new ManualClock()) {
  return { directory, from: FROM, clock, random: systemRandom };
}

function open(directory: string, clock?: ManualClock) {
  return openOutbox(options(directory, clock));
}

/** Of the mails that a mail program would find there. */
async function textsIn(files: PowerLossFiles): Promise<string[]> {
  const names = (await files.list("/data/outbox")).filter((name) => name.endsWith(".eml"));
  const reading = names.map(async (name) => {
    const file = await files.open(`/data/outbox/${name}`);
    const bytes = new Uint8Array(4096);
    return readMail(bytes.subarray(0, await file.read(bytes, 0))).text;
  });
  return Promise.all(reading);
}

async function subjectsIn(directory: string): Promise<string[]> {
  const names = (await readdir(directory)).toSorted();
  const all = await Promise.all(names.map((name) => readFile(join(directory, name))));
  return all.map((bytes) => readMail(bytes).header("subject"));
}
