import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import type { Principal } from "../../handler.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { addPerson } from "../shared-vaults/vaults.test-kit.ts";
import { answerOf, codeOf, contextOf, openTestService, storeFile } from "../service.test-kit.ts";
import { entryOf, nextEntry, openWriting, put } from "./shared-files.test-kit.ts";

const service = ofEachTest(openTestService);

type Body = Parameters<typeof service.handlers.files.moveMany>[0]["body"];

const act = async (name: "trashMany" | "restoreMany", ids: string[], as: Principal = service.owner) =>
  answerOf(await service.handlers.files[name]({ body: { ids } }, contextOf(as))).results;

const move = async (body: Body, as: Principal = service.owner) =>
  answerOf(await service.handlers.files.moveMany({ body }, contextOf(as))).results;

const codes = (results: readonly { readonly error: { readonly code: string } | null }[]): string[] =>
  results.map(({ error }) => error?.code ?? "ok");

async function createFolder(name: string, parentId: string | null = null) {
  return (await service.handlers.folders.create({ body: { name, parentId } }, contextOf(service.owner))).reply.body
    .folder;
}

async function changes(): Promise<string[]> {
  const { database } = service;
  const rows = await database.all(database.build.selectFrom("changes").select(["action"]).orderBy("sequence"));
  return rows.map(({ action }) => action);
}

test("[D5-batch-acts] each has its own result in order, its own change, and a repeat is the same", async () => {
  const folder = await createFolder("f");
  const inside = await storeFile(service, "inside", { folderId: folder.id });
  const [a, b] = [await storeFile(service, "a"), await storeFile(service, "b")];
  const before = (await changes()).length;
  const missing = randomUUID();
  const ids = [a.id, missing, folder.id, b.id, a.id];
  for (const _ of ["first", "again"]) {
    const results = await act("trashMany", ids);
    expect(results.map(({ id }) => id)).toEqual(ids);
    expect(codes(results)).toEqual(["ok", "not_found", "ok", "ok", "ok"]);
  }
  expect((await changes()).slice(before)).toEqual(["file.trashed", "folder.trashed", "file.trashed"]);
  await storeFile(service, "b");
  for (const _ of ["first", "again"])
    expect(codes(await act("restoreMany", ids))).toEqual(["ok", "not_found", "ok", "name_exists", "ok"]);
  const { file } = answerOf(
    await service.handlers.files.get({ params: { fileId: inside.id } }, contextOf(service.owner)),
  );
  expect(file.trashedAt).toBeNull();
});

test("[D5-batch-acts] what is refused leaves nothing behind, and the others move", async () => {
  const folder = await createFolder("f");
  await storeFile(service, "taken", { folderId: folder.id });
  const [taken, free] = [await storeFile(service, "taken"), await storeFile(service, "free")];
  const below = await createFolder("below", folder.id);
  const vault = answerOf(
    await service.handlers.vaults.create({ body: { name: "other", type: "public" } }, contextOf(service.owner)),
  ).vault;
  const elsewhere = await storeFile(service, "elsewhere", { vaultId: vault.id });
  const ids = [taken.id, folder.id, elsewhere.id, free.id];
  const wanted = ["name_exists", "folder_cycle", "different_vault", "ok"];
  expect(codes(await move({ ids, folderId: below.id }))).toEqual(["ok", ...wanted.slice(1)]);
  expect(codes(await move({ ids, folderId: folder.id }))).toEqual(wanted);
  const { database } = service;
  const kept = await database.all(database.build.selectFrom("item_entries").select("item_id"));
  expect(kept.map(({ item_id }) => item_id).sort()).toEqual([taken.id, free.id, free.id].sort());
  expect(codes(await move({ ids: [free.id], folderId: null }))).toEqual(["ok"]);
  expect(await codeOf(move({ ids, folderId: randomUUID() }))).toBe("not_found");
});

test("[D5-batch-acts] what a key may not touch is refused by itself, without a word about it", async () => {
  const other = await service.addAccount();
  const [own, folder] = [await storeFile(service, "own"), await createFolder("f")];
  const vault = answerOf(
    await service.handlers.vaults.create({ body: { name: "other", type: "public" } }, contextOf(service.owner)),
  ).vault;
  const outside = await storeFile(service, "outside", { vaultId: vault.id });
  const limited: Principal = { ...service.owner, vaultIds: new Set([own.vaultId]), scopes: new Set(["files:write"]) };
  const ids = [outside.id, own.id, folder.id];
  expect(codes(await act("trashMany", ids, limited))).toEqual(["not_found", "ok", "missing_scope"]);
  const results = await act("trashMany", [...ids, randomUUID()], other);
  expect(new Set(results.map(({ error }) => error?.message))).toEqual(new Set(["File or folder not found"]));
  expect(await codeOf(move({ ids: [own.id], folderId: folder.id }, other))).toBe("not_found");
});

test("[D5-batch-acts] more than a hundred items are several acts, and others write between them", async () => {
  const ids: string[] = [];
  for (let at = 0; at < 101; at += 1) ids.push((await storeFile(service, `file ${at}`)).id);
  const acting = vi.spyOn(service.database, "act");
  expect(new Set(codes(await act("trashMany", ids)))).toEqual(new Set(["ok"]));
  expect(acting).toHaveBeenCalledTimes(2);
});

test("[D5-batch-acts] moves in a shared vault carry an entry each, and one that does not fit is refused alone", async () => {
  const writing = await openWriting(service);
  const { shared, by, member } = writing;
  const folderEntry = entryOf(writing, "folder", { kind: "folder", id: randomUUID() });
  const body = { vaultId: shared.vaultId, shared: folderEntry };
  const { id: folderId } = answerOf(await service.handlers.folders.create({ body }, contextOf(by.principal))).folder;
  const files = [];
  for (const name of ["a", "b", "c"]) files.push(await put(service, writing, name));
  const [a, b, c] = files as [(typeof files)[0], (typeof files)[0], (typeof files)[0]];
  const entries = [
    { id: a.id, shared: nextEntry(writing, "a", a, { folderId }) },
    { id: b.id, shared: nextEntry(writing, "b", b, { folderId: null }) },
  ];
  const ids = [a.id, b.id, c.id];
  const wanted = ["ok", "statement_invalid", "validation_failed"];
  expect(codes(await move({ ids, folderId, entries }, by.principal))).toEqual(wanted);
  expect(codes(await move({ ids, folderId, entries }, by.principal))).toEqual(wanted);
  // A member of another account, together with a file of its own.
  const own = await storeFile({ ...service, owner: member.principal }, "own");
  expect(codes(await act("trashMany", [b.id, own.id, c.id], member.principal))).toEqual(["ok", "ok", "ok"]);
  const agent = { ...member.principal, accessLevel: "agent" as const, chainAddress: null };
  expect(codes(await act("restoreMany", [b.id, own.id], agent))).toEqual(["not_found", "ok"]);
  // Out of the allowlist, and the chain says so.
  service.chain.remove(shared.objectId, member.chainAddress);
  service.clock.advance(11_000);
  expect(codes(await act("restoreMany", [b.id, own.id, c.id], member.principal))).toEqual([
    "not_a_member",
    "ok",
    "not_a_member",
  ]);
  const stranger = await addPerson(service);
  expect(codes(await act("restoreMany", [b.id], stranger.principal))).toEqual(["not_found"]);
});
