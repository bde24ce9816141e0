import { expect, test } from "vitest";
import type { Principal } from "../../handler.ts";
import { answerOf, bodyOf, codeOf, contextOf, openTestService, storeFile } from "../service.test-kit.ts";
import { etagOf } from "./rules.ts";
import { revisionTagOf } from "../items/conditions.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestService);

async function createFolder(name: string, parentId: string | null = null) {
  return (await service.handlers.folders.create({ body: { name, parentId } }, contextOf(service.owner))).reply.body
    .folder;
}

async function trash(fileId: string, as: Principal = service.owner) {
  return answerOf(await service.handlers.files.delete({ params: { fileId }, query: {}, headers: {} }, contextOf(as)))
    .file;
}

async function restore(fileId: string, name?: string) {
  return answerOf(
    await service.handlers.files.restore(
      { headers: {}, params: { fileId }, body: name === undefined ? undefined : { name } },
      contextOf(service.owner),
    ),
  ).file;
}

async function update(fileId: string, body: { name?: string; folderId?: string | null }, ifMatch?: string) {
  const headers = ifMatch === undefined ? {} : { "if-match": ifMatch };
  return answerOf(await service.handlers.files.update({ params: { fileId }, headers, body }, contextOf(service.owner)))
    .file;
}

async function actions(): Promise<string[]> {
  const rows = await service.database.all(
    service.database.build.selectFrom("changes").select(["action", "sequence"]).orderBy("sequence"),
  );
  expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, index) => index + 1));
  return rows.map(({ action }) => action);
}

async function usage() {
  return service.database.first(service.database.build.selectFrom("accounts").select(["usage_bytes", "usage_files"]));
}

test("[D5-update] [D5-revision] [D5-one-vault] rename and move within the vault, guarded by If-Match", async () => {
  const [file, other, folder] = [await storeFile(service, "a"), await storeFile(service, "b"), await createFolder("f")];
  service.clock.advance(5);
  const moved = await update(file.id, { name: "b", folderId: folder.id }, revisionTagOf(file));
  expect(moved).toMatchObject({ name: "b", folderId: folder.id, versionId: file.versionId, createdAt: file.createdAt });
  expect(moved.updatedAt).not.toBe(file.updatedAt);
  expect(await codeOf(update(file.id, { folderId: null }))).toBe("name_exists");
  for (const tag of ['"2"', 'W/"1"', etagOf(other)])
    expect(await codeOf(update(other.id, { name: "c" }, tag))).toBe("precondition_failed");
  const vault = (
    await service.handlers.vaults.create({ body: { name: "V", type: "public" } }, contextOf(service.owner))
  ).reply.body.vault;
  const elsewhere = (
    await service.handlers.folders.create({ body: { name: "e", vaultId: vault.id } }, contextOf(service.owner))
  ).reply.body.folder;
  expect(await codeOf(update(file.id, { folderId: elsewhere.id }))).toBe("different_vault");
  const unchanged = await update(other.id, { name: "b" });
  expect(unchanged).toEqual(other);
  expect(await actions()).toEqual([
    "file.uploaded",
    "file.uploaded",
    "folder.created",
    "file.updated",
    "vault.created",
    "folder.created",
  ]);
});

test("[D5-delete-soft] [D5-restore] to the trash and back: a second deletion changes nothing, the name is free meanwhile", async () => {
  const file = await storeFile(service, "a");
  const trashed = await trash(file.id);
  expect(trashed.trashedAt).not.toBeNull();
  service.clock.advance(5);
  expect(await trash(file.id)).toEqual(trashed);
  await storeFile(service, "a");
  expect(await codeOf(restore(file.id))).toBe("name_exists");
  expect(await restore(file.id, "a (restored)")).toMatchObject({
    id: file.id,
    name: "a (restored)",
    trashedAt: null,
  });
  expect(await codeOf(restore(file.id))).toBe("not_trashed");
  expect(await usage()).toEqual({ usage_bytes: 10, usage_files: 2 });
  expect(await actions()).toEqual(["file.uploaded", "file.trashed", "file.uploaded", "file.restored"]);
});

test("a file whose folder is in the trash or gone comes back at the top of the vault", async () => {
  const folder = await createFolder("f");
  const [first, second] = [
    await storeFile(service, "a", { folderId: folder.id }),
    await storeFile(service, "b", { folderId: folder.id }),
  ];
  await trash(first.id);
  await service.handlers.folders.delete({ headers: {}, params: { folderId: folder.id } }, contextOf(service.owner));
  expect(await restore(first.id)).toMatchObject({ folderId: null });
  expect(await restore(second.id)).toMatchObject({ folderId: null });
  expect(await codeOf(storeFile(service, "c", { folderId: folder.id }))).toBe("trashed");
});

test("[D5-delete-permanent] [D1-second-delete-gone] only the owner deletes for good; the bytes are given back and the blob queued", async () => {
  const file = await storeFile(service, "a");
  const agent: Principal = { ...service.owner, accessLevel: "agent" };
  const erase = (as: Principal) =>
    service.handlers.files.delete(
      { params: { fileId: file.id }, query: { permanent: true }, headers: {} },
      contextOf(as),
    );
  expect(await codeOf(erase(agent))).toBe("owner_only");
  expect(await codeOf(trash(file.id, agent))).toBe("ok");
  expect((await erase(service.owner)).reply).toMatchObject({ status: 204, body: undefined });
  expect(await codeOf(erase(service.owner))).toBe("not_found");
  expect(await usage()).toEqual({ usage_bytes: 0, usage_files: 0 });
  const queued = await service.database.all(service.database.build.selectFrom("blob_deletions").select("not_before"));
  expect(queued).toEqual([{ not_before: service.clock.now() + 60_000 }]);
  expect(await actions()).toEqual(["file.uploaded", "file.trashed", "file.deleted"]);
});

test("[D5-replace] [D5-replace-if-match] [D5-replace-change] a new version: id and name stay, version and digest change, usage follows, the old blob stays", async () => {
  const file = await storeFile(service, "a");
  const replace = (bytes: string, headers: Record<string, string> = {}) =>
    service.handlers.files.replace(
      { params: { fileId: file.id }, query: {}, headers, body: bodyOf(bytes) },
      contextOf(service.owner),
    );
  const { file: second } = answerOf(await replace("123", { "if-match": etagOf(file) }));
  expect(second).toMatchObject({ id: file.id, name: "a", size: 3, contentType: file.contentType });
  expect(second.versionId).not.toBe(file.versionId);
  expect(await codeOf(replace("late", { "if-match": etagOf(file) }))).toBe("precondition_failed");
  const racers = Array.from({ length: 20 }, async (_, index) =>
    codeOf(replace(`racer ${index}`, { "if-match": etagOf(second) })),
  );
  const codes = await Promise.all(racers);
  expect(codes.filter((code) => code === "ok")).toHaveLength(1);
  expect((await usage())?.usage_files).toBe(1);
  let blobs = 0;
  for await (const _blob of service.blobs.list()) blobs += 1;
  const queued = await service.database.all(service.database.build.selectFrom("blob_deletions").select("blob_key"));
  expect([blobs, queued.length]).toEqual([3, 0]);
});

test("[D5-list] [D1-list-cursor] [D1-list-limit] lists page newest first through every filter, without gaps or repeats", async () => {
  const folder = await createFolder("f");
  const vault = (
    await service.handlers.vaults.create({ body: { name: "V", type: "public" } }, contextOf(service.owner))
  ).reply.body.vault;
  for (let index = 0; index < 12; index += 1) {
    if (index % 3 === 0) service.clock.advance(1);
    await storeFile(service, `top ${index}`);
    await storeFile(service, `in ${index}`, { folderId: folder.id });
    await storeFile(service, `other ${index}`, { vaultId: vault.id });
  }
  const defaultVault = folder.vaultId;
  const collect = async (query: Record<string, unknown>, as: Principal = service.owner) => {
    const names: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = answerOf(
        await service.handlers.files.list(
          { query: { limit: 5, ...query, ...(cursor === undefined ? {} : { cursor }) } },
          contextOf(as),
        ),
      );
      const times = page.files.map(({ createdAt }) => createdAt);
      expect(times).toEqual(times.toSorted().reverse());
      names.push(...page.files.map(({ name }) => name));
      cursor = page.nextCursor;
    }
    expect(new Set(names).size).toBe(names.length);
    return names.length;
  };
  expect(await collect({})).toBe(36);
  expect(await collect({ folderId: folder.id })).toBe(12);
  expect(await collect({ folderId: "root" })).toBe(24);
  expect(await collect({ folderId: "root", vaultId: defaultVault })).toBe(12);
  expect(await collect({ vaultId: vault.id })).toBe(12);
  expect(await collect({ folderId: folder.id, vaultId: vault.id })).toBe(0);
  expect(await collect({ name: "in 3" })).toBe(1);
  expect(await collect({ trashed: true })).toBe(0);
  expect(await collect({}, { ...service.owner, vaultIds: new Set([vault.id, defaultVault]) })).toBe(36);
  expect(await collect({}, { ...service.owner, vaultIds: new Set([vault.id]) })).toBe(12);
  expect(await collect({}, { ...service.owner, vaultIds: new Set() })).toBe(0);
  const stranger = await service.addAccount();
  expect(await collect({}, stranger)).toBe(0);
  expect(await codeOf(collect({ vaultId: vault.id }, stranger))).toBe("not_found");
  expect(await codeOf(collect({ folderId: folder.id }, stranger))).toBe("not_found");
});
