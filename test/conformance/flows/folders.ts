import { api } from "@coffer/contract";
import type { Flow, Subject } from "../subject.ts";
import { walkPages } from "../paging.ts";

export const foldersFlow: Flow = async (subject) => {
  await lifeOfAFolder(subject);
  await trashAndBack(subject);
  await depth(subject);
};

async function lifeOfAFolder({ owner, name, vaultId }: Subject): Promise<void> {
  const { create, get, list, update } = api.folders;
  owner.step("folders are made, one in the other, and read");
  const outerName = name("outer");
  const outer = (await owner.call(create, { body: { name: outerName, vaultId } })).value().folder;
  owner.check(
    create,
    outer.parentId === null && outer.vaultId === vaultId && outer.trashedAt === null,
    "parentId, vaultId or trashedAt is wrong",
  );
  const inner = (await owner.call(create, { body: { name: "inner", vaultId, parentId: outer.id } })).value().folder;
  owner.check(create, inner.parentId === outer.id, "the parent is not answered");
  owner.check(
    get,
    (await owner.call(get, { params: { folderId: inner.id } })).value().folder.name === "inner",
    "another name is answered",
  );

  owner.step("the list goes by parent and by exact name");
  const top = await walkPages(
    async (cursor) => (await owner.call(list, { query: { vaultId, parentId: "root", limit: 1, ...cursor } })).value(),
    (page) => page.folders,
  );
  owner.check(
    list,
    top.some(({ id }) => id === outer.id) && top.every(({ parentId }) => parentId === null),
    "the top level is wrong",
  );
  const below = (await owner.call(list, { query: { parentId: outer.id } })).value().folders;
  owner.check(list, below.length === 1 && below[0]?.id === inner.id, "the folder's children are wrong");
  const named = (await owner.call(list, { query: { vaultId, name: outerName } })).value().folders;
  owner.check(list, named.length === 1 && named[0]?.id === outer.id, "the list by name is wrong");

  owner.step("names are unique beside each other; a folder is renamed and moved, never into itself");
  await owner.call(create, { body: { name: outerName, vaultId } }, { expect: "name_exists" });
  await owner.call(
    update,
    { params: { folderId: outer.id }, body: { parentId: inner.id } },
    { expect: "folder_cycle" },
  );
  const moved = (
    await owner.call(update, { params: { folderId: inner.id }, body: { name: name("moved"), parentId: null } })
  ).value();
  owner.check(update, moved.folder.parentId === null, "the folder did not move to the top");
  const unknown = "00000000-0000-4000-8000-000000000000";
  await owner.call(create, { body: { name: "lost", vaultId, parentId: unknown } }, { expect: "not_found" });

  owner.step("folders do not cross vaults");
  const other = (await owner.call(api.vaults.create, { body: { name: name("other"), type: "public" } })).value().vault;
  await owner.call(
    create,
    { body: { name: "astray", vaultId: other.id, parentId: outer.id } },
    { expect: "different_vault" },
  );
  await owner.call(api.vaults.delete, { params: { vaultId: other.id }, query: { permanent: true } }, { expect: 204 });
}

async function trashAndBack({ owner, name, vaultId }: Subject): Promise<void> {
  const { create, delete: remove, get, restore } = api.folders;
  owner.step("a folder goes to the trash with all below it, and comes back");
  const outer = (await owner.call(create, { body: { name: name("binned"), vaultId } })).value().folder;
  const inner = (await owner.call(create, { body: { name: "inside", vaultId, parentId: outer.id } })).value().folder;
  const params = { folderId: outer.id };
  await owner.call(restore, { params }, { expect: "not_trashed" });
  const trashed = (await owner.call(remove, { params })).value().folder;
  owner.check(remove, trashed.trashedAt !== null, "trashedAt is null");
  const innerTrashed = (await owner.call(get, { params: { folderId: inner.id } })).value().folder;
  owner.check(get, innerTrashed.trashedAt !== null, "the folder below did not go along");
  const back = (await owner.call(restore, { params, body: { name: name("restored") } })).value().folder;
  owner.check(restore, back.trashedAt === null, "trashedAt is not null after restoring");
  const innerBack = (await owner.call(get, { params: { folderId: inner.id } })).value().folder;
  owner.check(get, innerBack.trashedAt === null, "the folder below did not come back");
}

async function depth({ owner, name, vaultId }: Subject): Promise<void> {
  owner.step("nesting ends at the account's folderDepth");
  const { account } = (await owner.call(api.account.get, {})).value();
  let parentId: string | null = null;
  for (let level = 1; level <= account.limits.folderDepth; level += 1) {
    const body: { name: string; vaultId: string; parentId: string | null } = { name: name("level"), vaultId, parentId };
    parentId = (await owner.call(api.folders.create, { body })).value().folder.id;
  }
  await owner.call(api.folders.create, { body: { name: "too-deep", vaultId, parentId } }, { expect: "too_deep" });
}
