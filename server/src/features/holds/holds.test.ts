/** What unfinished uploads hold: rows that all processes count, never more than one held file's worth beyond the quota. */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { openMemoryBlobs } from "../../drivers/blobs/memory.ts";
import type { IncomingBytes } from "../../http/handlers.ts";
import { filesHandlers } from "../files/handlers.ts";
import { answerOf, bodyOf, codeOf, contextOf, openTestService, type TestService } from "../test-service.ts";

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
  await pause(50);
  const open = Symbol("open");
  const now = await Promise.all(outcomes.map((each) => Promise.race([each, Promise.resolve(open)])));
  return now.filter((each) => typeof each === "string");
}

class Gone extends Error {}

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
  let arrived = 0;
  const held = Array.from({ length: 40 }, () => heldBody(6 * MIB, null));
  const counted = (body: IncomingBytes): IncomingBytes => ({
    ...body,
    stream: (async function* () {
      for await (const chunk of body.stream) {
        yield chunk;
        arrived += chunk.length;
      }
    })(),
  });
  const outcomes = held.map(({ body }, index) => upload(service, `${index}`, counted(body)));
  await settled(outcomes);
  expect(arrived).toBeLessThanOrEqual(QUOTA);
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
    codeOf(Promise.resolve(files.replace({ params: { fileId: file.id }, headers: {}, body }, context))),
  );
  expect(await settled(outcomes)).toHaveLength(39);
  await endAll(held, outcomes);
  const next = { params: { fileId: file.id }, headers: {}, body: bodyOf(Buffer.alloc(9 * MIB), { chunk: MIB }) };
  expect(await codeOf(Promise.resolve(files.replace(next, context)))).toBe("ok");
});

test("a blob store that fails frees what was held", async () => {
  const blobs = openMemoryBlobs();
  await using service = await openTestService({ environment, plan: "free", blobs });
  blobs.put = () => Promise.reject(new Gone());
  await expect(upload(service, "a", bodyOf(Buffer.alloc(6 * MIB), { chunk: MIB }))).rejects.toThrow(Gone);
  expect(await readHolds(service)).toEqual([]);
});
