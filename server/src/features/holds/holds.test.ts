/** What unfinished uploads hold: rows that all processes count, never more than one held file's worth beyond the quota. */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { ON_POSTGRES, openMemoryBlobs } from "../../storage.test-kit.ts";
import type { IncomingBytes } from "../../handler.ts";
import { deleteQueuedBlobs } from "../../jobs/blob-deletions.ts";
import { jobsOf } from "../../jobs/jobs.test-kit.ts";
import { filesHandlers } from "../files/handlers.ts";
import { answerOf, bodyOf, codeOf, contextOf, openTestService, type TestService } from "../service.test-kit.ts";

const MIB = 1024 * 1024;
const QUOTA = 10 * MIB;
const environment = { SERVICE_FREE_STORAGE_BYTES: String(QUOTA) };

const open = () => openTestService({ environment, plan: "free" });

/** Sends a part and then nothing, until it is let go or cut off. */
function heldBody(sent: number, length: number | null): { body: IncomingBytes; cut: (reason: Error) => void } {
  let cut: (reason: Error) => void = () => undefined;
  const silence = new Promise<never>((_, reject) => (cut = reject));
  silence.catch(() => undefined);
  async function* stream(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < sent; at += MIB) yield await Promise.resolve(new Uint8Array(Math.min(MIB, sent - at)));
    await silence;
  }
  return { body: { stream: stream(), length, contentType: null }, cut };
}

function upload(service: Pick<TestService, "owner" | "handlers">, name: string, body: IncomingBytes): Promise<string> {
  return codeOf(
    Promise.resolve(service.handlers.files.upload({ query: { name }, headers: {}, body }, contextOf(service.owner))),
  );
}

async function readHolds(service: TestService): Promise<number[]> {
  const rows = await service.database.all(service.database.build.selectFrom("upload_holds").select("bytes"));
  return rows.map(({ bytes }) => bytes);
}

/** All that have an outcome by now. */
async function settled(outcomes: readonly Promise<string>[]): Promise<string[]> {
  const open = Symbol("open");
  for (let before = -1; ;) {
    await pause(ON_POSTGRES ? 1_000 : 50);
    const now = await Promise.all(outcomes.map((each) => Promise.race([each, Promise.resolve(open)])));
    const over = now.filter((each) => typeof each === "string");
    if (over.length === before) return over;
    before = over.length;
  }
}

class Gone extends Error {}

/** Stores a file of so many bytes and deletes it for good, as often as it is let. */
async function storeAndDelete(service: TestService, bytes: number, times: number): Promise<string[]> {
  const outcomes: string[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    const body = bodyOf(Buffer.alloc(bytes), { chunk: MIB });
    const input = { query: { name: `${turn}` }, headers: {}, body };
    const stored = service.handlers.files.upload(input, contextOf(service.owner));
    outcomes.push(await codeOf(Promise.resolve(stored)));
    if (outcomes.at(-1) !== "ok") continue;
    const { file } = answerOf(await stored);
    const forGood = { params: { fileId: file.id }, query: { permanent: true }, headers: {} };
    await service.handlers.files.delete(forGood, contextOf(service.owner));
  }
  return outcomes;
}

const countOf = (outcomes: readonly string[], wanted: string) =>
  outcomes.filter((outcome) => outcome === wanted).length;

async function bytesOnDisk({ blobs }: TestService): Promise<number> {
  let sum = 0;
  for await (const { size } of blobs.list()) sum += size;
  return sum;
}

async function runDeletions(service: TestService): Promise<void> {
  service.clock.advance(2 * 60_000);
  const log = { info: () => undefined, error: (_: unknown, message: string) => expect.unreachable(message) };
  await deleteQueuedBlobs(jobsOf(service, log), new AbortController().signal);
}

describe("who stores and deletes for good without a pause", () => {
  test.each([5 * MIB, 256 * 1024])(
    "[D1-quota-in-flight] has two quotas on the disk, with what is in quarantine three, and no more, by %i bytes",
    async (bytes) => {
      await using service = await open();
      const fits = (2 * QUOTA) / bytes;
      const outcomes = await storeAndDelete(service, bytes, fits + 5);
      expect([countOf(outcomes, "ok"), countOf(outcomes, "storage_quota")]).toEqual([fits, 5]);
      expect(await bytesOnDisk(service)).toBe(2 * QUOTA);
      await runDeletions(service);
      expect(await bytesOnDisk(service)).toBe(QUOTA);
      // As before there was a quarantine: what lies in it takes no room.
      expect(countOf(await storeAndDelete(service, bytes, fits + 5), "ok")).toBe(fits);
      await runDeletions(service);
      expect(await bytesOnDisk(service)).toBe(QUOTA);
      service.clock.advance(24 * 60 * 60_000);
      await runDeletions(service);
      expect(await bytesOnDisk(service)).toBe(0);
    },
  );

  test("may fill the quota again at once", async () => {
    await using service = await open();
    expect(await storeAndDelete(service, QUOTA, 3)).toEqual(["ok", "ok", "storage_quota"]);
  });

  test("[D1-quota-in-flight] has no more there by replacing a file, however small", async () => {
    await using service = await open();
    const { file } = answerOf(
      await service.handlers.files.upload(
        { query: { name: "replaced" }, headers: {}, body: bodyOf(Buffer.alloc(64 * 1024)) },
        contextOf(service.owner),
      ),
    );
    const outcomes: string[] = [];
    const query = { keep: false };
    for (let turn = 0; turn < 170; turn += 1) {
      const input = { params: { fileId: file.id }, query, headers: {}, body: bodyOf(Buffer.alloc(64 * 1024)) };
      outcomes.push(await codeOf(Promise.resolve(service.handlers.files.replace(input, contextOf(service.owner)))));
    }
    expect([countOf(outcomes, "ok"), countOf(outcomes, "storage_quota")]).toEqual([161, 9]);
    expect(await bytesOnDisk(service)).toBeLessThanOrEqual(2 * QUOTA);
  });
});

async function endAll(held: readonly { cut: (reason: Error) => void }[], outcomes: readonly Promise<string>[]) {
  for (const { cut } of held) cut(new Gone());
  return (await Promise.allSettled(outcomes)).map((each) => (each.status === "fulfilled" ? each.value : "cut"));
}

test("[D1-quota-in-flight] of 40 uploads that declare 6 MB and fall silent, a quota of 10 MB takes one", async () => {
  await using service = await open();
  const held = Array.from({ length: 40 }, () => heldBody(5 * MIB, 6 * MIB));
  const outcomes = held.map(({ body }, index) => upload(service, `${index}`, body));
  expect(await settled(outcomes)).toEqual(Array.from({ length: 39 }, () => "storage_quota"));
  expect(await readHolds(service)).toEqual([6 * MIB]);
  await endAll(held, outcomes);
  expect(await readHolds(service)).toEqual([]);
  expect(await upload(service, "after", bodyOf(Buffer.alloc(9 * MIB), { chunk: MIB }))).toBe("ok");
});

test("of 40 that do not say how much comes, what arrived stays within the quota", async () => {
  await using service = await open();
  /** Of those under way: one that is refused gives its room to the others, after its stream has ended. */
  const arrived = new Map<number, number>();
  let most = 0;
  const held = Array.from({ length: 40 }, () => heldBody(6 * MIB, null));
  const counted = (body: IncomingBytes, index: number): IncomingBytes => ({
    ...body,
    stream: (async function* () {
      try {
        for await (const chunk of body.stream) {
          yield chunk;
          arrived.set(index, (arrived.get(index) ?? 0) + chunk.length);
          most = Math.max(
            most,
            [...arrived.values()].reduce((sum, bytes) => sum + bytes, 0),
          );
        }
      } finally {
        arrived.delete(index);
      }
    })(),
  });
  const outcomes = held.map(({ body }, index) => upload(service, `${index}`, counted(body, index)));
  await vi.waitFor(() => expect(most).toBeGreaterThan(0), { timeout: 10_000 });
  await settled(outcomes);
  expect(most).toBeLessThanOrEqual(QUOTA);
  expect((await readHolds(service)).reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(QUOTA);
  await endAll(held, outcomes);
});

test("another process counts them, and what a killed one left counts until it expires", async () => {
  await using service = await open();
  const other = { owner: service.owner, handlers: { ...service.handlers, files: filesHandlers(service) } };
  const held = heldBody(MIB, 6 * MIB);
  const outcome = upload(service, "held", held.body);
  await settled([outcome]);
  const large = () => bodyOf(Buffer.alloc(5 * MIB), { chunk: MIB });
  expect(await upload(other, "other", large())).toBe("storage_quota");
  const tus = { "tus-resumable": "1.0.0", "upload-length": 5 * MIB, "upload-metadata": "filename YQ==" };
  const creation = () =>
    codeOf(
      Promise.resolve(
        service.handlers.uploads.create({ headers: tus, body: bodyOf("", { length: null }) }, contextOf(service.owner)),
      ),
    );
  expect(await creation()).toBe("storage_quota");
  service.clock.advance(10 * 60_000);
  expect(await upload(other, "late", large())).toBe("ok");
  expect(await readHolds(service)).toEqual([]);
  await endAll([held], [outcome]);
});

test("an upload in one request leaves what a resumable one holds", async () => {
  await using service = await open();
  const headers = { "tus-resumable": "1.0.0", "upload-length": 8 * MIB, "upload-metadata": "filename YQ==" };
  await service.handlers.uploads.create({ headers, body: bodyOf("", { length: null }) }, contextOf(service.owner));
  expect(await upload(service, "raw", bodyOf(Buffer.alloc(3 * MIB), { chunk: MIB }))).toBe("storage_quota");
  expect(await upload(service, "raw", bodyOf(Buffer.alloc(2 * MIB), { chunk: MIB }))).toBe("ok");
});

test("a slow sender that goes on sending keeps its hold", async () => {
  await using service = await open();
  async function* slow(): AsyncGenerator<Uint8Array> {
    for (let sent = 0; sent < 6; sent += 1) {
      service.clock.advance(31_000);
      yield await Promise.resolve(new Uint8Array(MIB));
      expect(await readHolds(service)).toEqual([6 * MIB]);
      expect(await upload(service, `beside ${sent}`, bodyOf(Buffer.alloc(5 * MIB), { chunk: MIB }))).toBe(
        "storage_quota",
      );
    }
  }
  expect(await upload(service, "slow", { stream: slow(), length: 6 * MIB, contentType: null })).toBe("ok");
  expect(await readHolds(service)).toEqual([]);
});

test("small uploads write no row until an account has many of them at once", async () => {
  await using service = await open();
  const held = Array.from({ length: 20 }, () => heldBody(60_000, 64_000));
  const outcomes = held.map(({ body }, index) => upload(service, `${index}`, body));
  await settled(outcomes);
  expect((await readHolds(service)).every((bytes) => bytes === 64_000)).toBe(true);
  expect(await readHolds(service)).toHaveLength(20 - Math.floor(MIB / 64_000));
  await endAll(held, outcomes);
  expect(await readHolds(service)).toEqual([]);
});

test("a file that is replaced gives its room to one new version, not to forty", async () => {
  await using service = await open();
  const { files } = service.handlers;
  const context = contextOf(service.owner);
  const first = { query: { name: "a" }, headers: {}, body: bodyOf(Buffer.alloc(8 * MIB), { chunk: MIB }) };
  const { file } = answerOf(await files.upload(first, context));
  const held = Array.from({ length: 40 }, () => heldBody(5 * MIB, 8 * MIB));
  const outcomes = held.map(({ body }) =>
    codeOf(
      Promise.resolve(
        files.replace({ params: { fileId: file.id }, query: { keep: false }, headers: {}, body }, context),
      ),
    ),
  );
  expect(await settled(outcomes)).toHaveLength(39);
  await endAll(held, outcomes);
  const next = {
    params: { fileId: file.id },
    query: { keep: false },
    headers: {},
    body: bodyOf(Buffer.alloc(9 * MIB), { chunk: MIB }),
  };
  expect(await codeOf(Promise.resolve(files.replace(next, context)))).toBe("ok");
});

test("a blob store that fails frees what was held", async () => {
  const blobs = openMemoryBlobs();
  await using service = await openTestService({ environment, plan: "free", blobs });
  blobs.put = () => Promise.reject(new Gone());
  await expect(upload(service, "a", bodyOf(Buffer.alloc(6 * MIB), { chunk: MIB }))).rejects.toThrow(Gone);
  expect(await readHolds(service)).toEqual([]);
});

test("files too small for a row leave what an upload holds", async () => {
  await using service = await open();
  const held = heldBody(7 * MIB, 8 * MIB);
  const outcome = upload(service, "held", held.body);
  await settled([outcome]);
  const outcomes = new Map<string, number>();
  for (let sent = 0; sent < 40; sent += 1) {
    const code = await upload(service, `small ${sent}`, bodyOf(Buffer.alloc(64_000)));
    outcomes.set(code, (outcomes.get(code) ?? 0) + 1);
  }
  expect(Object.fromEntries(outcomes)).toEqual({ ok: 32, storage_quota: 8 });
  await endAll([held], [outcome]);
});

test("[D1-quota-in-flight] what was held while the clock was ahead holds nothing once it is set right", async () => {
  await using service = await open();
  service.clock.advance(2 * 86_400_000);
  const held = heldBody(MIB, 6 * MIB);
  const outcome = upload(service, "held", held.body);
  await settled([outcome]);
  expect(await upload(service, "beside", bodyOf(Buffer.alloc(5 * MIB), { chunk: MIB }))).toBe("storage_quota");
  service.clock.advance(-2 * 86_400_000);
  expect(await upload(service, "after", bodyOf(Buffer.alloc(5 * MIB), { chunk: MIB }))).toBe("ok");
  await endAll([held], [outcome]);
});

describe("an account with much room", () => {
  const openAmple = () =>
    openTestService({ environment: { SERVICE_FREE_STORAGE_BYTES: String(300 * MIB) }, plan: "free" });
  const SPARE = 16 * MIB;
  const large = () => bodyOf(Buffer.alloc(MIB), { chunk: MIB });

  test("takes a row for many uploads, which shrinks as they become files", async () => {
    await using service = await openAmple();
    for (let stored = 0; stored <= 16; stored += 1) {
      expect(await upload(service, `${stored}`, large())).toBe("ok");
      expect(await readHolds(service)).toEqual(stored === 16 ? [] : [SPARE - stored * MIB]);
    }
    expect(await upload(service, "next", large())).toBe("ok");
    expect(await readHolds(service)).toEqual([SPARE]);
  });

  test("gets back the share of an upload that fails, and may use what the last row had left", async () => {
    await using service = await openAmple();
    expect(await upload(service, "a", large())).toBe("ok");
    const held = heldBody(MIB, 12 * MIB);
    const outcome = upload(service, "held", held.body);
    expect(await settled([outcome])).toEqual([]);
    expect(await readHolds(service)).toEqual([SPARE]);
    await endAll([held], [outcome]);
    expect(await upload(service, "b", bodyOf(Buffer.alloc(SPARE), { chunk: MIB }))).toBe("ok");
    expect(await readHolds(service)).toEqual([]);
    expect(await upload(service, "c", large())).toBe("ok");
    const rest = Array.from({ length: 3 }, () => heldBody(MIB, 94 * MIB));
    const last = rest.map(({ body }, index) => upload(service, `rest ${index}`, body));
    expect(await settled(last)).toEqual([]);
    expect(await readHolds(service)).toEqual([94, 94, 94].map((size) => size * MIB));
    expect(await upload(service, "beyond", bodyOf(Buffer.alloc(64_000)))).toBe("storage_quota");
    await endAll(rest, last);
  });

  test("has no row left when an upload outlives its row, and a quiet hour passes", async () => {
    await using service = await openAmple();
    const slow: IncomingBytes = {
      length: 3 * MIB,
      contentType: null,
      stream: (async function* () {
        for (let sent = 0; sent < 3; sent += 1) {
          service.clock.advance(31_000);
          yield await Promise.resolve(new Uint8Array(MIB));
          expect(await readHolds(service)).toEqual([SPARE + 3 * MIB]);
        }
      })(),
    };
    expect(await upload(service, "a", slow)).toBe("ok");
    expect(await readHolds(service)).toEqual([SPARE]);
    service.clock.advance(60 * 60_000);
    expect(await upload(service, "b", large())).toBe("ok");
    expect(await readHolds(service)).toEqual([SPARE]);
  });

  test("never has files and holds beyond its quota, whatever two processes do", async () => {
    await using service = await openAmple();
    const processes = [
      service,
      { owner: service.owner, handlers: { ...service.handlers, files: filesHandlers(service) } },
    ];
    const inside = async () => {
      const { usage_bytes } = await service.database
        .all(
          service.database.build.selectFrom("accounts").select("usage_bytes").where("id", "=", service.owner.accountId),
        )
        .then(([row]) => row ?? { usage_bytes: Number.NaN });
      return usage_bytes + (await readHolds(service)).reduce((sum, bytes) => sum + bytes, 0);
    };
    const held: { cut: (reason: Error) => void }[] = [];
    const outcomes: Promise<string>[] = [];
    const send = (turn: number, body: IncomingBytes, name: number): void => {
      const outcome = upload(processes[turn % 2] ?? service, `${name}`, body);
      outcome.catch(() => undefined);
      outcomes.push(outcome);
    };
    for (let turn = 0; turn < 60; turn += 1) {
      const size = ((turn * 7) % 11) * MIB + 70_000;
      if (turn % 3 === 0) {
        const body = heldBody(MIB, size * 5);
        held.push(body);
        send(turn, body.body, turn);
      } else {
        const length = turn % 4 === 0 ? null : size;
        send(turn, bodyOf(Buffer.alloc(size), { chunk: MIB, length }), turn % 20);
      }
      if (turn % 5 === 0) held.shift()?.cut(new Gone());
      if (turn % 10 === 0) service.clock.advance(31_000);
      await pause(5);
      expect(await inside()).toBeLessThanOrEqual(300 * MIB);
    }
    const all = await endAll(held, outcomes);
    expect(new Set(all)).toEqual(new Set(["ok", "cut", "name_exists", "storage_quota"]));
    service.clock.advance(60 * 60_000);
    expect(await upload(service, "last", bodyOf(Buffer.alloc(20 * MIB), { chunk: MIB }))).toBe("ok");
    expect((await readHolds(service)).length).toBeLessThanOrEqual(1);
  });
});
