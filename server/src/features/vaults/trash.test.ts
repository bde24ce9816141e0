import { expect, test } from "vitest";
import { ServiceError } from "../../service-error.ts";
import { answerOf, codeOf, contextOf, openTestService, storeFile } from "../service.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestService);

async function trash(fileId: string) {
  await service.handlers.files.delete({ params: { fileId }, query: {}, headers: {} }, contextOf(service.owner));
}

async function names(vaultIds: ReadonlySet<string> | null = null) {
  const page = answerOf(await service.handlers.trash.list({ query: {} }, contextOf({ ...service.owner, vaultIds })));
  return page.files.map(({ name }) => name).sort();
}

test("[D5-trash] the trash lists what is in it, for a limited key only its vaults", async () => {
  const vault = (
    await service.handlers.vaults.create({ body: { name: "V", type: "public" } }, contextOf(service.owner))
  ).reply.body.vault;
  const [a, b] = [await storeFile(service, "a"), await storeFile(service, "b", { vaultId: vault.id })];
  await storeFile(service, "live");
  await trash(a.id);
  await trash(b.id);
  expect(await names()).toEqual(["a", "b"]);
  expect(await names(new Set([vault.id]))).toEqual(["b"]);
});

test("[D5-trash] emptying one vault's trash, then all: live items stay, whole trees go, more than one batch", async () => {
  const vault = (
    await service.handlers.vaults.create({ body: { name: "V", type: "public" } }, contextOf(service.owner))
  ).reply.body.vault;
  const top = (
    await service.handlers.folders.create({ body: { name: "top", vaultId: vault.id } }, contextOf(service.owner))
  ).reply.body.folder;
  const sub = (
    await service.handlers.folders.create({ body: { name: "sub", parentId: top.id } }, contextOf(service.owner))
  ).reply.body.folder;
  for (let index = 0; index < 250; index += 1)
    await storeFile(service, `${index}`, { folderId: index % 2 === 0 ? top.id : sub.id });
  const [elsewhere] = [await storeFile(service, "elsewhere"), await storeFile(service, "live", { vaultId: vault.id })];
  await trash(elsewhere.id);
  await service.handlers.folders.delete({ headers: {}, params: { folderId: top.id } }, contextOf(service.owner));
  const empty = (query: { vaultId?: string }) =>
    service.handlers.trash.empty({ query, headers: {} }, contextOf(service.owner));
  await empty({ vaultId: vault.id });
  expect(await names()).toEqual(["elsewhere"]);
  expect(await codeOf(service.handlers.folders.get({ params: { folderId: sub.id } }, contextOf(service.owner)))).toBe(
    "not_found",
  );
  await empty({});
  await empty({});
  expect(await names()).toEqual([]);
  const { database } = service;
  expect(await database.first(database.build.selectFrom("accounts").select(["usage_bytes", "usage_files"]))).toEqual({
    usage_bytes: 5,
    usage_files: 1,
  });
  expect(await database.all(database.build.selectFrom("blob_deletions").select("blob_key"))).toHaveLength(251);
  const actions = await database.all(
    database.build.selectFrom("changes").select("action").where("action", "like", "%.deleted"),
  );
  expect(actions.filter(({ action }) => action === "file.deleted")).toHaveLength(251);
  expect(actions.filter(({ action }) => action === "folder.deleted")).toHaveLength(2);
  const stranger = await service.addAccount();
  expect(
    await codeOf(service.handlers.trash.empty({ query: { vaultId: vault.id }, headers: {} }, contextOf(stranger))),
  ).toBe("not_found");
});

test("a credential that ends while the trash is emptied stops it at the next batch", async () => {
  for (let index = 0; index < 250; index += 1) await trash((await storeFile(service, `${index}`)).id);
  const left: number[] = [];
  const count = async () => {
    const query = service.database.build.selectFrom("files").select((row) => row.fn.countAll<number>().as("count"));
    return (await service.database.first(query))?.count ?? 0;
  };
  const recheck = async () => {
    left.push(await count());
    if (left.length === 2) throw new ServiceError("invalid_credential");
  };
  const emptied = service.handlers.trash.empty({ query: {}, headers: {} }, contextOf(service.owner, { recheck }));
  expect(await codeOf(emptied)).toBe("invalid_credential");
  // Each file has three rows: its own, its change and what is queued for deletion.
  expect(left).toEqual([250, 83]);
  expect(await count()).toBe(83);
});
