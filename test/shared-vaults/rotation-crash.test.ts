/** A rotation that dies inside a large file: the next one goes on with the parts that the service has (file-format §5.5). */
import { randomBytes } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Client, Row, Table } from "@coffer/sdk";
import { fileStore } from "@coffer/sdk/node";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readObject, readRows } from "../kit/crash-points.ts";
import { type Death, type Machine, openMachine } from "../kit/mortal-process.ts";
import { OFTEN_CUT, raiseGeneration, sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const PART = 64 * 1024;
const PARTS = 4;
const CONTENT = randomBytes(PART * PARTS - 3000);

const stack = sharedStack(OFTEN_CUT);
let owner: SharedPerson;
let machine: Machine;

beforeAll(async () => {
  owner = stack.owner;
});
beforeEach(async () => {
  machine = await openMachine(stack);
  return () => machine[Symbol.asyncDispose]();
});

let made = 0;

/** A vault with one file of several parts and one of one, below the generation. */
async function openOld() {
  const { vaults, files } = owner.client;
  const { id: vaultId } = await vaults.create({ name: `large-${String((made += 1))}`, type: "shared" });
  const { file } = await files.upload({ vaultId, name: "large.bin", body: CONTENT });
  await files.upload({ vaultId, name: "small.txt", body: new TextEncoder().encode("small") });
  await raiseGeneration(owner.client, vaultId);
  return { vaultId, fileId: file.id, before: file };
}

const rotate = (vaultId: string) => (client: Client) => client.vaults.rotate(vaultId, { partBytes: PART });
const parts = (calls: readonly string[]): number => calls.filter((name) => name === "uploads.append").length;
const count = (calls: readonly string[], wanted: string): number => calls.filter((name) => name === wanted).length;

/** The n-th part that a process sends. */
const part = (nth: number, isAnswerLost: boolean): Death => ({
  isAt: (call) => call.name === "uploads.append" && call.nth === nth,
  isAnswerLost,
});

async function dieAtPart(vaultId: string, nth: number, isAnswerLost: boolean): Promise<void> {
  const { result, calls } = await machine.live(owner, rotate(vaultId), part(nth, isAnswerLost));
  expect([result, parts(calls)]).toEqual([null, nth]);
}

async function expectRotated(vaultId: string, fileId: string): Promise<void> {
  const { client } = owner;
  const bytes = await (await client.files.download(fileId)).bytes();
  expect(Buffer.compare(bytes, CONTENT)).toBe(0);
  expect((await client.files.get(fileId)).name).toBe("large.bin");
  const { generation, floor, base } = await readObject(stack, (await client.vaults.get(vaultId)).chainObjectId);
  expect([floor, base]).toEqual([generation, generation]);
  // Nothing of it is left, neither here nor there.
  expect(await keptRows()).toEqual([]);
  const begun = "select count(*) from uploads where file_id = ? and finished_file_id is null";
  expect(readRows(stack, begun, fileId)).toEqual([0]);
}

describe("a rotation that dies inside a large file", () => {
  const every = Array.from({ length: PARTS }, (_, at) => at + 1);
  const full = process.env["COFFER_TEST_COUNTS"] === "full";
  test.each(full ? every.flatMap((nth) => [[nth, false] as const, [nth, true] as const]) : [[3, false] as const])(
    "goes on with the parts that the service has: killed at part %i, answer lost: %s",
    async (nth, isAnswerLost) => {
      const { vaultId, fileId, before } = await openOld();
      await dieAtPart(vaultId, nth, isAnswerLost);
      expect(Buffer.compare(await (await owner.client.files.download(fileId)).bytes(), CONTENT)).toBe(0);
      const { calls, result } = await machine.live(owner, rotate(vaultId));
      expect(result?.value).toMatchObject({ generation: 3, floor: 3, failed: [] });
      // A last part that arrived has made the version: nothing of the file is sent again.
      expect(parts(calls)).toBe(PARTS - nth + (isAnswerLost ? 0 : 1));
      expect(count(calls, "uploads.create")).toBe(0);
      await expectRotated(vaultId, fileId);
      const after = await owner.client.files.get(fileId);
      expect(after.versionId).not.toBe(before.versionId);
    },
  );

  test("dies again and again, one part further each time [E10]", async () => {
    const { vaultId, fileId } = await openOld();
    let [sent, created] = [0, 0];
    for (let deaths = 0; ; deaths += 1) {
      const { calls, result } = await machine.live(owner, rotate(vaultId), part(1, true));
      sent += parts(calls);
      created += count(calls, "uploads.create");
      if (result === null) continue;
      expect([result.value.floor, sent, created, deaths]).toEqual([3, PARTS, 1, PARTS]);
      break;
    }
    await expectRotated(vaultId, fileId);
  });

  test("begins anew with a new key when the generation moved meanwhile [E10]", async () => {
    const { vaultId, fileId } = await openOld();
    await dieAtPart(vaultId, 3, true);
    await raiseGeneration(owner.client, vaultId);
    const { calls, result } = await machine.live(owner, rotate(vaultId));
    expect(result?.value).toMatchObject({ generation: 5, floor: 5, failed: [] });
    expect([parts(calls), count(calls, "uploads.create"), count(calls, "uploads.terminate")]).toEqual([PARTS, 1, 1]);
    await expectRotated(vaultId, fileId);
  });

  const changes: [string, (fileId: string) => Promise<unknown>][] = [
    ["its name", (fileId) => owner.client.files.update(fileId, { name: "large.bin" })],
    ["the digest of a part", () => spoil("part", /"tagDigest":"..../, '"tagDigest":"AAAA')],
    ["the salt", () => spoil("entry", /"salt":"..../, '"salt":"AAAA')],
    ["the old version", () => spoil("entry", /"statement":"..../, '"statement":"AAAA')],
  ];
  test.each(full ? changes : changes.slice(0, 2))(
    "begins anew with a new key when another one is %s",
    async (_, change) => {
      const { vaultId, fileId } = await openOld();
      await dieAtPart(vaultId, 2, true);
      await change(fileId);
      const { calls, result } = await machine.live(owner, rotate(vaultId));
      expect(result?.value).toMatchObject({ floor: 3, failed: [] });
      expect([parts(calls), count(calls, "uploads.create")]).toEqual([PARTS, 1]);
      await expectRotated(vaultId, fileId);
    },
  );

  test("begins anew where another has finished it, and forgets what it had begun", async () => {
    const { vaultId, fileId } = await openOld();
    await dieAtPart(vaultId, 2, true);
    await owner.another().vaults.rotate(vaultId);
    const { calls } = await machine.live(owner, rotate(vaultId));
    expect([parts(calls), count(calls, "uploads.create")]).toEqual([PARTS, 1]);
    expect(await keptRows()).toEqual([]);
    expect(Buffer.compare(await (await owner.client.files.download(fileId)).bytes(), CONTENT)).toBe(0);
  });

  test("begins again where nothing can be kept, as in a browser", async () => {
    const { vaultId, fileId } = await openOld();
    await dieAtPart(vaultId, 2, true);
    await uploads().clear();
    const { calls } = await machine.live(owner, rotate(vaultId));
    expect([parts(calls), count(calls, "uploads.create")]).toEqual([PARTS, 1]);
    expect(Buffer.compare(await (await owner.client.files.download(fileId)).bytes(), CONTENT)).toBe(0);
  });

  test("keeps nothing secret, for the owner alone [D5]", async () => {
    const { vaultId } = await openOld();
    await dieAtPart(vaultId, 2, true);
    expect((await stat(join(machine.home, "uploads.table"))).mode & 0o777).toBe(0o600);
    const kept = await keptRows();
    expect(kept.map(({ key }) => key.replace(/^([0-9a-f]{64}\/){2}/, "").replace(/\d+$/, "n"))).toEqual(
      expect.arrayContaining(["entry", "part n"]),
    );
    const { begun, source } = JSON.parse(textOf(kept.find(({ key }) => key.endsWith("/entry"))?.value));
    expect(Object.keys(source).sort()).toEqual(["commitment", "digest", "entry", "length", "statement", "version"]);
    const plan = ["commitment", "contentSize", "envelope", "format", "header", "salt"];
    expect(Object.keys(begun.plan.plan).sort()).toEqual(plan);
  });
});

const uploads = (): Table => fileStore(machine.home).table("uploads");
const keptRows = async (): Promise<readonly Row[]> => (await uploads().page({ limit: 100 })).rows;
const textOf = (value: Uint8Array | undefined): string => Buffer.from(value ?? []).toString();

/** Changes what the journal holds. */
async function spoil(of: "entry" | "part", what: RegExp, into: string): Promise<void> {
  const rows = (await keptRows()).filter(({ key }) => key.includes(`/${of}`));
  const before = rows.map(({ key, value }) => ({ key, text: textOf(value) }));
  expect(before.map(({ text }) => text).join("\n")).toMatch(what);
  await uploads().write(before.map(({ key, text }) => ({ key, value: Buffer.from(text.replace(what, into)) })));
}
