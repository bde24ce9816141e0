/** Many files into a shared vault in few requests: each encrypted, signed, verified and refused as by itself. */
import type { Middleware } from "@coffer/sdk";
import { fileStore, uploadFolder } from "@coffer/sdk/node";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { lyingAt } from "../kit/lying-service.ts";
import { raiseGeneration, read, sharedStack, UNLIMITED } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack(UNLIMITED);
let member: SharedPerson;
let vaultId: string;

beforeAll(async () => {
  const { vaults } = stack.owner.client;
  vaultId = (await vaults.create({ name: "batches", type: "shared" })).id;
  member = await stack.invite("member");
  await vaults.members.add(vaultId, member.signer.chainAddress);
});

const inputs = (names: readonly string[]) => names.map((name) => ({ vaultId, name, body: `content of ${name}` }));
const countBlobs = () =>
  readdirSync(join(stack.dataDirectory, "blobs"), { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  ).length;

/** Paths of the requests. */
function counting(sent: string[]): Middleware {
  return (request, next) => {
    sent.push(`${request.method} ${new URL(request.url).pathname}`);
    return next(request);
  };
}

test("each file is there for another member, under its name, and most come in one request [D5-batch-shared]", async () => {
  const { folders } = stack.owner.client;
  const folder = await folders.create({ vaultId, name: "in" });
  const names = Array.from({ length: 60 }, (_, at) => `à ${String(at)}`);
  const sent: string[] = [];
  const client = member.another({ middleware: [counting(sent)] });
  const outcomes = await client.files.uploadMany([
    ...inputs(names),
    { vaultId, folderId: folder.id, name: "à 1", body: "in a folder" },
    { vaultId, name: "à 1", body: "again" },
  ]);
  expect(outcomes.map(({ result, error }) => result?.file.name ?? error?.code)).toEqual([
    ...names,
    "à 1",
    "name_exists",
  ]);
  expect(sent.filter((one) => one === "POST /api/files/batch")).toHaveLength(1);
  expect(sent).not.toContain("POST /api/files");
  const reader = stack.owner.another();
  for (const at of [0, 31, 60]) {
    const content = at === 60 ? "in a folder" : `content of ${names[at] ?? ""}`;
    expect(outcomes[at]?.result?.bytes).toBe(Buffer.byteLength(content));
    expect(await read(reader, outcomes[at]?.result?.file.id ?? "")).toBe(content);
  }
});

/** Raises the generation when the first batch goes; notes the batches. */
function raising(batches: string[]): Middleware {
  return async (request, next) => {
    if (request.url.includes("/api/files/batch") && batches.push(request.url) === 1)
      await raiseGeneration(stack.owner.client, vaultId);
    return next(request);
  };
}

test("a generation that is raised meanwhile costs another batch and loses nothing", async () => {
  const batches: string[] = [];
  const names = ["moved 1", "moved 2", "moved 3"];
  const outcomes = await member.another({ middleware: [raising(batches)] }).files.uploadMany(inputs(names));
  expect(batches.length).toBeGreaterThan(1);
  expect(outcomes.map(({ error }) => error)).toEqual([null, null, null]);
  for (const { result } of outcomes)
    expect(await read(stack.owner.another(), result?.file.id ?? "")).toBe(`content of ${result?.file.name ?? ""}`);
});

test("a folder of more files than a batch takes goes again in few batches, too", async () => {
  const batches: string[] = [];
  const base = makeDirectory();
  const root = join(base, "folder");
  mkdirSync(root);
  for (let at = 0; at < 110; at += 1) writeFileSync(join(root, `many ${String(at)}`), String(at));
  const client = member.another({ middleware: [raising(batches)] });
  const { failed, files } = await uploadFolder(client, root, { vaultId, store: fileStore(join(base, "store")) });
  expect({ failed, files: files.length }).toEqual({ failed: [], files: 110 });
  expect(batches.length).toBeLessThanOrEqual(9);
});

test("an address that is no member stores no byte", async () => {
  const stranger = await stack.invite("stranger");
  const kept = await stack.owner.client.files.uploadMany(inputs(["kept"]));
  expect(kept[0]?.error).toBeNull();
  const before = countBlobs();
  const [outcome] = await stranger.client.files.uploadMany(inputs(["strange"]));
  expect(outcome?.error?.code).toBe("not_a_member");
  expect(countBlobs()).toBe(before);
});

test("results that are about other files than were sent are refused", async () => {
  const swapped = lyingAt("files.batch", ({ results }: { results: unknown[] }) => ({ results: results.toReversed() }));
  const outcomes = await member.another({ middleware: [swapped] }).files.uploadMany(inputs(["one", "other"]));
  expect(outcomes.map(({ result }) => result)).toEqual([null, null]);
  const shorter = lyingAt("files.batch", ({ results }: { results: unknown[] }) => ({ results: results.slice(1) }));
  const refused = await member.another({ middleware: [shorter] }).files.uploadMany(inputs(["third", "fourth"]));
  expect(refused.map(({ error }) => error?.code)).toEqual(["contract_broken", "contract_broken"]);
});

test("many are moved, put in the trash and brought back in one request each, signed, and the one that fails alone [D5-many-acts]", async () => {
  const [from, to] = await Promise.all(
    ["many from", "many to"].map((name) => stack.owner.client.folders.create({ vaultId, name })),
  );
  const there = { vaultId, folderId: from?.id ?? "" };
  const sent: string[] = [];
  const client = member.another({ middleware: [counting(sent)] });
  const stored = await client.files.uploadMany(
    ["one", "two", "three"].map((name) => ({ ...there, name, body: `content of ${name}` })),
  );
  const ids = stored.map(({ result }) => result?.file.id ?? "");
  await stack.owner.client.files.upload({ vaultId, folderId: to?.id ?? "", name: "two", body: "was there" });
  sent.length = 0;
  const unknown = crypto.randomUUID();
  const moved = await client.files.moveMany([...ids, from?.id ?? "", unknown], to?.id ?? "", { vaultId });
  expect(moved.map(({ id, error }) => [id, error?.code ?? null])).toEqual([
    [ids[0], null],
    [ids[1], "name_exists"],
    [ids[2], null],
    [from?.id, null],
    [unknown, "not_found"],
  ]);
  expect(sent.filter((one) => one === "POST /api/files/move")).toHaveLength(1);
  // Another member's fresh process believes signatures alone.
  const reader = stack.owner.another();
  const placed = await Promise.all(ids.map((id) => reader.files.get(id)));
  expect(placed.map(({ name, folderId, updatedBy }) => [name, folderId, updatedBy?.chainAddress])).toEqual(
    ["one", "two", "three"].map((name, at) => [name, at === 1 ? from?.id : to?.id, member.signer.chainAddress]),
  );
  expect((await reader.folders.get(from?.id ?? "")).parentId).toBe(to?.id);
  for (const act of ["trashMany", "restoreMany"] as const) {
    expect((await client.files[act](ids)).map(({ error }) => error)).toEqual([null, null, null]);
    const trashed = (await Promise.all(ids.map((id) => reader.files.get(id)))).map(
      ({ trashedAt }) => trashedAt !== null,
    );
    expect(trashed).toEqual(ids.map(() => act === "trashMany"));
  }
  expect(await read(reader, ids[0] ?? "")).toBe("content of one");
});
