import { api } from "@coffer/contract";
import type { Flow, Subject } from "../subject.ts";
import { walkPages } from "../paging.ts";
import { NOBODYS_ADDRESS } from "./isolation.ts";

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

  owner.step("a shared vault without its object on the chain is refused, and where the server has none any");
  const shared = await owner.call(create, { body: { name: name("shared"), type: "shared" } }, { expect: "any" });
  const refused = shared.headers.get("x-error-code") ?? "";
  owner.check(
    create,
    ["validation_failed", "shared_vaults_unavailable"].includes(refused),
    "refused with neither validation_failed nor shared_vaults_unavailable",
  );

  await whatPublicOnesLack({ owner, vaultId: made.id });

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

/** Shared vaults need a chain that the server reads: what only they have is refused by name elsewhere. */
async function whatPublicOnesLack({ owner, vaultId }: Pick<Subject, "owner" | "vaultId">): Promise<void> {
  const { members, ownership, vaultKeys, folderNames } = api;
  owner.step(
    "a public vault has no members, owner on the chain, keys or index of names, and is in no list of shared ones",
  );
  const params = { vaultId };
  const lacks = { expect: "public_vault" } as const;
  const chainAddress = NOBODYS_ADDRESS;
  await owner.call(members.list, { params }, lacks);
  await owner.call(members.add, { params, body: { chainAddress } }, lacks);
  await owner.call(members.remove, { params: { vaultId, chainAddress } }, lacks);
  await owner.call(ownership.claim, { params, body: {} }, lacks);
  await owner.call(vaultKeys.list, { params, query: {} }, lacks);
  await owner.call(vaultKeys.publish, { params, body: { record: "AAAA" } }, lacks);
  await owner.call(folderNames.get, { params, query: {} }, lacks);
  const body = { folderId: null, keyId: "5f".repeat(32), entries: [] };
  await owner.call(folderNames.stage, { params, body }, lacks);
  for (const query of [{ shared: true }, { type: "shared" }] as const) {
    const { vaults } = (await owner.call(api.vaults.list, { query })).value();
    owner.check(api.vaults.list, !vaults.some(({ id }) => id === vaultId), "it is listed as a shared one");
  }
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
