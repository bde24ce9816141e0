import { api, END_STEP } from "@coffer/contract";
import type { Flow, Subject } from "../subject.ts";
import { walkPages } from "../paging.ts";
import { jsonRequest } from "./invites.ts";
import { NOBODYS_ADDRESS } from "./isolation.ts";

export const vaultsFlow: Flow = async (subject) => {
  await lifeOfAVault(subject);
  await pages(subject);
};

async function lifeOfAVault({ owner, name, covers }: Subject): Promise<void> {
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

  if (covers(api.members.list)) await whatPublicOnesLack({ owner, vaultId: made.id });

  owner.step("a vault with content is deleted only by force, the default vault never");
  const file = { query: { vaultId: made.id, name: "keeps.txt" }, headers: {}, body: new Uint8Array([1]) };
  await owner.call(api.files.upload, file);
  await owner.call(remove, { params }, { expect: "vault_not_empty" });
  await intoTheTrashAndOut(owner, made.id, renamed);
  const all = await walkPages(
    async (cursor) => (await owner.call(api.vaults.list, { query: { ...cursor } })).value(),
    (page) => page.vaults,
  );
  const usual = all.find((vault) => vault.isDefault);
  owner.check(api.vaults.list, usual !== undefined, "the account has no default vault");
  if (usual)
    await owner.call(remove, { params: { vaultId: usual.id }, query: { force: true } }, { expect: "default_vault" });
}

/** A vault in the trash is found there and by its id; what lies in it is found nowhere, until it comes back. */
async function intoTheTrashAndOut(owner: Subject["owner"], vaultId: string, title: string): Promise<void> {
  const { create, delete: remove, get, restore } = api.vaults;
  const params = { vaultId };
  owner.step("a deleted vault goes to the trash, once, and nothing in it is found");
  const gone = (await owner.call(remove, { params, query: { force: true } })).value();
  owner.check(remove, gone?.vault.trashedAt != null, "the answer does not say when it went to the trash");
  const again = (await owner.call(remove, { params, query: {} })).value();
  owner.check(remove, again?.vault.trashedAt === gone?.vault.trashedAt, "a repeat changed something");
  owner.check(get, (await owner.call(get, { params })).value().vault.trashedAt !== null, "it is shown as live");
  await owner.call(api.files.list, { query: { vaultId } }, { expect: "not_found" });
  const trash = await walkPages(
    async (cursor) => (await owner.call(api.trash.list, { query: { kind: "vaults", limit: 1, ...cursor } })).value(),
    (page) => page.vaults,
  );
  owner.check(
    api.trash.list,
    trash.some(({ id }) => id === vaultId),
    "the vault is not in the trash",
  );

  owner.step("its name is free; it comes back under another, with its files");
  const other = (await owner.call(create, { body: { name: title, type: "public" } })).value().vault;
  await owner.call(restore, { params, body: {} }, { expect: "name_exists" });
  const back = (await owner.call(restore, { params, body: { name: `${title} again` } })).value().vault;
  owner.check(restore, back.trashedAt === null && back.name === `${title} again`, "it did not come back as asked");
  await owner.call(restore, { params, body: {} }, { expect: "not_trashed" });
  const { files } = (await owner.call(api.files.list, { query: { vaultId } })).value();
  owner.check(restore, files.length === 1, "its file did not come back");

  owner.step("deleted for good it is not there any more");
  await owner.call(remove, { params, query: { force: true, permanent: true } }, { expect: 204 });
  await owner.call(get, { params }, { expect: "not_found" });
  await owner.call(remove, { params, query: {} }, { expect: "not_found" });
  await owner.call(remove, { params: { vaultId: other.id }, query: { permanent: true } }, { expect: 204 });
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
  // Also with an end, with none, and with one that no membership can have.
  const until = new Date((Math.floor(Date.now() / END_STEP) + 2) * END_STEP);
  for (const end of [until.toISOString(), null])
    await owner.call(members.add, { params, body: { chainAddress, until: end } }, lacks);
  const uneven = { chainAddress, until: new Date(until.getTime() + 1).toISOString() };
  await owner.send(
    members.add,
    jsonRequest(owner, members.add.path.replace("{vaultId}", vaultId), uneven),
    "validation_failed",
  );
  await owner.call(members.remove, { params: { vaultId, chainAddress } }, lacks);
  await owner.call(ownership.claim, { params, body: {} }, lacks);
  await owner.call(api.deletion.challenge, { params, body: { act: "delete-vault" } }, lacks);
  await owner.call(vaultKeys.list, { params, query: {} }, lacks);
  await owner.call(vaultKeys.publish, { params, body: { record: "AAAA" } }, lacks);
  await owner.call(vaultKeys.steps, { params, query: {} }, lacks);
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
  for (const vaultId of made)
    await owner.call(api.vaults.delete, { params: { vaultId }, query: { permanent: true } }, { expect: 204 });
}
