import { api } from "@coffer/contract";
import type { Flow, Subject } from "../subject.ts";
import { walkPages } from "../paging.ts";

export const vaultsFlow: Flow = async (subject) => {
  await lifeOfAVault(subject);
  await pages(subject);
};

async function lifeOfAVault({ owner, name }: Subject): Promise<void> {
  const { create, delete: remove, get, update } = api.vaults;
  const title = name("vault");
  owner.step("a vault is made and read");
  const made = (await owner.call(create, { body: { name: title, type: "public" } })).value().vault;
  owner.check(
    create,
    made.type === "public" && made.chainObjectId === null && !made.isDefault,
    "type, chainObjectId or isDefault is wrong",
  );
  const params = { vaultId: made.id };
  owner.check(get, (await owner.call(get, { params })).value().vault.name === title, "another name is answered");

  owner.step("names are unique in the account, and a vault is renamed");
  await owner.call(create, { body: { name: title, type: "public" } }, { expect: "name_exists" });
  const renamed = name("renamed");
  const changed = (await owner.call(update, { params, body: { name: renamed } })).value().vault;
  owner.check(update, changed.name === renamed && changed.id === made.id, "the new name is not answered");

  owner.step("shared vaults are refused where the server has none");
  const shared = await owner.call(create, { body: { name: name("shared"), type: "shared" } }, { expect: "any" });
  owner.check(
    create,
    shared.status === 201 || shared.headers.get("x-error-code") === "shared_vaults_unavailable",
    "neither made nor refused with shared_vaults_unavailable",
  );

  owner.step("a vault with content is deleted only by force, the default vault never");
  const file = { query: { vaultId: made.id, name: "keeps.txt" }, headers: {}, body: new Uint8Array([1]) };
  await owner.call(api.files.upload, file);
  await owner.call(remove, { params }, { expect: "vault_not_empty" });
  await owner.call(remove, { params, query: { force: true } });
  await owner.call(get, { params }, { expect: "not_found" });
  await owner.call(remove, { params }, { expect: "not_found" });
  const all = await walkPages(
    async (cursor) => (await owner.call(api.vaults.list, { query: { ...cursor } })).value(),
    (page) => page.vaults,
  );
  const usual = all.find((vault) => vault.isDefault);
  owner.check(api.vaults.list, usual !== undefined, "the account has no default vault");
  if (usual)
    await owner.call(remove, { params: { vaultId: usual.id }, query: { force: true } }, { expect: "default_vault" });
}

async function pages({ owner, name }: Subject): Promise<void> {
  owner.step("pages of one, newest first, each vault once");
  const made: string[] = [];
  for (const stem of ["one", "two", "three"]) {
    made.push((await owner.call(api.vaults.create, { body: { name: name(stem), type: "public" } })).value().vault.id);
  }
  const all = await walkPages(
    async (cursor) => (await owner.call(api.vaults.list, { query: { limit: 1, ...cursor } })).value(),
    (page) => page.vaults,
  );
  const ids = all.map((vault) => vault.id);
  owner.check(api.vaults.list, new Set(ids).size === ids.length, "a vault came twice");
  owner.check(
    api.vaults.list,
    made.every((id) => ids.includes(id)),
    "a vault is missing",
  );
  const times = all.map((vault) => vault.createdAt);
  owner.check(
    api.vaults.list,
    times.every((time, at) => at === 0 || time <= (times[at - 1] ?? "")),
    "not newest first",
  );
  for (const vaultId of made) await owner.call(api.vaults.delete, { params: { vaultId } });
}
