import { expect, test } from "vitest";
import { wrapped } from "../../wrapped.test-kit.ts";
import type { Principal } from "../../handler.ts";
import {
  answerOf,
  codeOf,
  contextOf,
  openTestService,
  outcomes,
  storeFile,
  type TestService,
} from "../service.test-kit.ts";
import { vaultsHandlers } from "./handlers.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestService);

async function create(service: TestService, name: string, as: Principal = service.owner) {
  return (await service.handlers.vaults.create({ body: { name, type: "public" } }, contextOf(as))).reply.body.vault;
}

async function list(as: Principal = service.owner) {
  return answerOf(await service.handlers.vaults.list({ query: {} }, contextOf(as))).vaults;
}

function remove(vaultId: string, force?: boolean) {
  return service.handlers.vaults.delete(
    { params: { vaultId }, query: force === undefined ? {} : { force }, headers: {} },
    contextOf(service.owner),
  );
}

test("[D5-default-vault] an account begins with its default vault, which cannot be deleted", async () => {
  const [files] = await list();
  expect(files).toMatchObject({ name: "Files", type: "public", isDefault: true, chainObjectId: null });
  for (const force of [undefined, true]) expect(await codeOf(remove(files?.id ?? "", force))).toBe("default_vault");
});

test("[D5-vaults-paths] [D5-vault-names-clear] create, rename, list and delete; names are unique per account", async () => {
  const vault = await create(service, "V");
  expect(vault).toMatchObject({ name: "V", isDefault: false });
  expect(await codeOf(create(service, "V"))).toBe("name_exists");
  expect(await codeOf(create(service, "V", await service.addAccount()))).toBe("ok");
  const rename = async (name: string) =>
    answerOf(
      await service.handlers.vaults.update(
        { params: { vaultId: vault.id }, headers: {}, body: { name } },
        contextOf(service.owner),
      ),
    ).vault;
  expect(await codeOf(rename("Files"))).toBe("name_exists");
  expect(await rename("W")).toMatchObject({ id: vault.id, name: "W" });
  expect((await list()).map(({ name }) => name).sort()).toEqual(["Files", "W"]);
  expect(answerOf(await remove(vault.id)).vault.trashedAt).not.toBeNull();
  const actions = await service.database.all(
    service.database.build
      .selectFrom("changes")
      .select("action")
      .where("account_id", "=", service.owner.accountId)
      .orderBy("sequence"),
  );
  expect(actions.map(({ action }) => action)).toEqual(["vault.created", "vault.updated", "vault.trashed"]);
});

test("[D5-shared-unavailable] shared vaults are refused by name on a server without a chain", async () => {
  await using service = await openTestService({ hasChain: false });
  const shared = service.handlers.vaults.create({ body: { name: "S", type: "shared" } }, contextOf(service.owner));
  await expect(shared).rejects.toMatchObject({
    code: "shared_vaults_unavailable",
    message: "shared vaults are not available on this server",
  });
});

test("[D2-vaults] the limit of vaults holds for many at the same time", async () => {
  await using service = await openTestService({ environment: { SERVICE_MAX_VAULTS: "5" } });
  expect(await outcomes(Array.from({ length: 20 }, (_, index) => create(service, `v${index}`)))).toEqual({
    ok: 4,
    limit_reached: 16,
  });
});

test("a forced deletion works on a full disk too: it frees space", async () => {
  const vault = await create(service, "V");
  await storeFile(service, "a", { vaultId: vault.id });
  const asked: unknown[] = [];
  const database = wrapped(service.database, {
    act(accountIds, work, options) {
      asked.push(options);
      return service.database.act(accountIds, work, options);
    },
  });
  const handlers = vaultsHandlers({ ...service, database });
  await handlers.delete(
    { params: { vaultId: vault.id }, query: { force: true }, headers: {} },
    contextOf(service.owner),
  );
  expect(asked).toEqual([{ freesSpace: true }]);
});

test("a limited key sees its vaults and no others", async () => {
  const [mine, other] = [await create(service, "mine"), await create(service, "other")];
  const limited = { ...service.owner, vaultIds: new Set([mine.id]) };
  expect((await list(limited)).map(({ id }) => id)).toEqual([mine.id]);
  expect(await codeOf(service.handlers.vaults.get({ params: { vaultId: other.id } }, contextOf(limited)))).toBe(
    "not_found",
  );
  expect(await list({ ...limited, vaultIds: new Set() })).toEqual([]);
});

test("[D5-vault-delete] a vault with content, trash included, is only deleted by force, and the message says what is in it", async () => {
  const vault = await create(service, "V");
  const folder = (
    await service.handlers.folders.create({ body: { name: "f", vaultId: vault.id } }, contextOf(service.owner))
  ).reply.body.folder;
  const [kept, trashed] = [
    await storeFile(service, "a", { folderId: folder.id }),
    await storeFile(service, "b", { vaultId: vault.id }),
  ];
  await service.handlers.files.delete(
    { params: { fileId: trashed.id }, query: {}, headers: {} },
    contextOf(service.owner),
  );
  await expect(remove(vault.id)).rejects.toMatchObject({
    code: "vault_not_empty",
    message: "The vault is not empty: it holds 1 file, 1 folder and 1 file in the trash",
  });
  await service.handlers.folders.delete({ headers: {}, params: { folderId: folder.id } }, contextOf(service.owner));
  await expect(remove(vault.id)).rejects.toMatchObject({
    message: "The vault is not empty: it holds 2 files in the trash and 1 folder in the trash",
  });
  const outside = await storeFile(service, "outside", {});
  await remove(vault.id, true);
  for (const file of [kept, trashed])
    expect(await codeOf(service.handlers.files.get({ params: { fileId: file.id } }, contextOf(service.owner)))).toBe(
      "not_found",
    );
  expect(await codeOf(service.handlers.files.get({ params: { fileId: outside.id } }, contextOf(service.owner)))).toBe(
    "ok",
  );
  const { database } = service;
  const usage = () => database.first(database.build.selectFrom("accounts").select(["usage_bytes", "usage_files"]));
  // The trash counts, until it is over.
  expect(await usage()).toEqual({ usage_bytes: 15, usage_files: 3 });
  const permanent = { params: { vaultId: vault.id }, query: { permanent: true }, headers: {} };
  await service.handlers.vaults.delete(permanent, contextOf(service.owner));
  expect(await usage()).toEqual({ usage_bytes: 5, usage_files: 1 });
  expect(await database.all(database.build.selectFrom("blob_deletions").select("blob_key"))).toHaveLength(2);
});

test("an agent of the account is none of its vaults' owners [issue 48]", async () => {
  const { id } = await create(service, "V");
  const agent: Principal = { ...service.owner, accessLevel: "agent", chainAddress: `0x${"a".repeat(64)}` };
  const seen = async (as: Principal) =>
    answerOf(await service.handlers.vaults.get({ params: { vaultId: id } }, contextOf(as))).vault.role;
  expect([await seen(service.owner), await seen(agent)]).toEqual(["owner", "agent"]);
  expect(new Set((await list(agent)).map(({ role }) => role))).toEqual(new Set(["agent"]));
});
