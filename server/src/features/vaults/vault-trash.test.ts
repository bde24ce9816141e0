/** The trash of vaults: what is in there, for whom, and what comes back (decision 0030). */
import { TRASH_DAYS } from "@coffer/contract";
import { describe, expect, test } from "vitest";
import { purgeTrash } from "../../jobs/trash-purge.ts";
import type { Principal } from "../../handler.ts";
import { deleteVault as deleteShared, prove } from "../deletion/proofs.test-kit.ts";
import { openWriting, put } from "../files/shared-files.test-kit.ts";
import { agentOf } from "../shared-vaults/vaults.test-kit.ts";
import {
  answerOf,
  bodyOf,
  codeOf,
  contextOf,
  openTestService,
  outcomes,
  type TestService,
} from "../service.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestService);

const DAY = 24 * 60 * 60_000;

async function create(service: TestService, name: string, as = service.owner) {
  return answerOf(await service.handlers.vaults.create({ body: { name, type: "public" } }, contextOf(as))).vault;
}

async function upload(vaultId: string, name: string, folderId?: string) {
  const query = folderId === undefined ? { vaultId, name } : { vaultId, name, folderId };
  return answerOf(
    await service.handlers.files.upload({ query, headers: {}, body: bodyOf("12345") }, contextOf(service.owner)),
  ).file;
}

type Deletion = { readonly force?: boolean; readonly permanent?: boolean };

function remove(service: TestService, vaultId: string, query: Deletion = { force: true }, as = service.owner) {
  return service.handlers.vaults.delete({ params: { vaultId }, query, headers: {} }, contextOf(as));
}

function restore(service: TestService, vaultId: string, name?: string, as = service.owner) {
  const body = name === undefined ? {} : { name };
  return service.handlers.vaults.restore({ params: { vaultId }, body }, contextOf(as));
}

async function trashed(as: Principal = service.owner) {
  const page = answerOf(await service.handlers.trash.list({ query: { kind: "vaults" } }, contextOf(as)));
  expect(page.files).toEqual([]);
  return page.vaults;
}

async function usage({ database, owner }: TestService) {
  const query = database.build.selectFrom("accounts").select(["usage_bytes as bytes", "usage_files as files"]);
  return database.first(query.where("id", "=", owner.accountId));
}

async function actions({ database, owner }: TestService): Promise<string[]> {
  const query = database.build.selectFrom("changes").select("action").where("account_id", "=", owner.accountId);
  return (await database.all(query.orderBy("sequence"))).map(({ action }) => action);
}

/** A vault with a folder, a file in it, one at the top, one in the trash, and an upload that has begun. */
async function openFilled() {
  const vault = await create(service, "V");
  const body = { name: "folder", vaultId: vault.id };
  const { folder } = answerOf(await service.handlers.folders.create({ body }, contextOf(service.owner)));
  const file = await upload(vault.id, "top");
  const inFolder = await upload(vault.id, "below", folder.id);
  const gone = await upload(vault.id, "gone");
  const input = { params: { fileId: gone.id }, query: {}, headers: {} };
  await service.handlers.files.delete(input, contextOf(service.owner));
  return { vault, folder, file, inFolder, gone };
}

describe("[D5-vault-trash] a vault that is deleted", () => {
  test("goes to the trash with all that lies in it, once however often it is asked for", async () => {
    const { vault } = await openFilled();
    const first = answerOf(await remove(service, vault.id)).vault;
    expect(first).toMatchObject({ id: vault.id, trashedAt: expect.any(String) as string });
    service.clock.advance(1000);
    expect(answerOf(await remove(service, vault.id)).vault).toEqual(first);
    expect(answerOf(await remove(service, vault.id, {})).vault).toEqual(first);
    expect(await trashed()).toEqual([first]);
    expect((await actions(service)).filter((action) => action.startsWith("vault."))).toEqual([
      "vault.created",
      "vault.trashed",
    ]);
    expect(await usage(service)).toEqual({ bytes: 15, files: 3 });
  });

  test("comes back with its files and folders as they were [A8]", async () => {
    const { vault, folder, file, inFolder, gone } = await openFilled();
    const context = contextOf(service.owner);
    const seen = async () => ({
      files: answerOf(await service.handlers.files.list({ query: { vaultId: vault.id } }, context)).files,
      folders: answerOf(await service.handlers.folders.list({ query: { vaultId: vault.id } }, context)).folders,
      trash: answerOf(await service.handlers.trash.list({ query: { vaultId: vault.id } }, context)).files,
    });
    const before = await seen();
    expect([before.files.length, before.folders.length, before.trash.length]).toEqual([2, 1, 1]);
    await remove(service, vault.id);
    service.clock.advance(29 * DAY);
    expect(answerOf(await restore(service, vault.id)).vault).toMatchObject({ name: "V", trashedAt: null });
    expect(await seen()).toEqual(before);
    expect([file, inFolder, gone].map(({ vaultId }) => vaultId)).toEqual([vault.id, vault.id, folder.vaultId]);
    expect(await codeOf(restore(service, vault.id))).toBe("not_trashed");
    expect((await actions(service)).at(-1)).toBe("vault.restored");
  });

  test("gives its name free, counts among the account's vaults, and comes back under another name", async () => {
    await using service = await openTestService({ environment: { SERVICE_MAX_VAULTS: "3" } });
    const vault = await create(service, "V");
    await remove(service, vault.id);
    await create(service, "V");
    expect(await codeOf(create(service, "W"))).toBe("limit_reached");
    expect(await codeOf(restore(service, vault.id))).toBe("name_exists");
    expect(answerOf(await restore(service, vault.id, "old V")).vault.name).toBe("old V");
  });

  test("is shown to nobody but in the trash: every way to what lies in it is closed", async () => {
    const { vault, folder, file, inFolder, gone } = await openFilled();
    const { handlers, owner } = service;
    await remove(service, vault.id);
    const vaultId = vault.id;
    const limited = { ...owner, vaultIds: new Set([vaultId]) };
    const agent: Principal = { ...owner, accessLevel: "agent", chainAddress: `0x${"a".repeat(64)}` };
    for (const as of [owner, limited, agent]) {
      const context = contextOf(as);
      const params = { fileId: file.id };
      const closed = [
        handlers.files.get({ params }, context),
        handlers.files.get({ params: { fileId: gone.id } }, context),
        handlers.files.content({ params, query: {}, headers: {} }, context),
        handlers.files.contentHead({ params, query: {}, headers: {} }, context),
        handlers.files.update({ params, headers: {}, body: { name: "n" } }, context),
        handlers.files.update({ params, headers: {}, body: { folderId: folder.id } }, context),
        handlers.files.delete({ params, query: {}, headers: {} }, context),
        handlers.files.replace({ params, query: {}, headers: {}, body: bodyOf("new") }, context),
        handlers.files.restore({ headers: {}, params: { fileId: gone.id }, body: {} }, context),
        handlers.files.upload({ query: { vaultId, name: "n" }, headers: {}, body: bodyOf("new") }, context),
        handlers.files.upload({ query: { folderId: folder.id, name: "n" }, headers: {}, body: bodyOf("new") }, context),
        handlers.files.list({ query: { vaultId } }, context),
        handlers.files.list({ query: { folderId: folder.id } }, context),
        handlers.folders.get({ params: { folderId: folder.id } }, context),
        handlers.folders.create({ body: { name: "n", vaultId } }, context),
        handlers.folders.create({ body: { name: "n", parentId: folder.id } }, context),
        handlers.folders.update({ params: { folderId: folder.id }, headers: {}, body: { name: "n" } }, context),
        handlers.folders.delete({ headers: {}, params: { folderId: folder.id } }, context),
        handlers.folders.list({ query: { vaultId } }, context),
        handlers.folders.list({ query: { parentId: folder.id } }, context),
        handlers.trash.list({ query: { vaultId } }, context),
        handlers.members.list({ params: { vaultId } }, context),
        handlers.vaultKeys.list({ params: { vaultId }, query: {} }, context),
        handlers.folderNames.get({ params: { vaultId }, query: {} }, context),
      ];
      expect(await outcomes(closed)).toEqual({ not_found: closed.length });
      const listed = await Promise.all([
        handlers.files.list({ query: {} }, context),
        handlers.files.list({ query: { folderId: "root" } }, context),
        handlers.files.list({ query: { trashed: true } }, context),
        handlers.trash.list({ query: {} }, context),
      ]);
      for (const page of listed) expect(answerOf(page).files).toEqual([]);
      expect(answerOf(await handlers.folders.list({ query: {} }, context)).folders).toEqual([]);
      const { vaults } = answerOf(await handlers.vaults.list({ query: {} }, context));
      expect(vaults.map(({ id }) => id)).not.toContain(vaultId);
      expect((await trashed(as)).map(({ id }) => id)).toEqual([vaultId]);
    }
    const context = contextOf(owner);
    expect(
      await codeOf(handlers.vaults.update({ params: { vaultId }, headers: {}, body: { name: "n" } }, context)),
    ).toBe("not_found");
    expect(
      await codeOf(
        handlers.files.delete({ params: { fileId: file.id }, query: { permanent: true }, headers: {} }, context),
      ),
    ).toBe("not_found");
    expect(await codeOf(handlers.trash.empty({ query: { vaultId }, headers: {} }, context))).toBe("not_found");
    expect(answerOf(await handlers.vaults.get({ params: { vaultId } }, context)).vault.trashedAt).not.toBeNull();
    const elsewhere = { ...owner, vaultIds: new Set(["00000000-0000-4000-8000-000000000000"]) };
    expect(await trashed(elsewhere)).toEqual([]);
    for (const stranger of [await service.addAccount(), elsewhere]) {
      expect(await codeOf(handlers.vaults.get({ params: { vaultId } }, contextOf(stranger)))).toBe("not_found");
      expect(await codeOf(restore(service, vaultId, undefined, stranger))).toBe("not_found");
      expect(await codeOf(remove(service, vaultId, { permanent: true }, stranger))).toBe("not_found");
    }
    expect(inFolder.vaultId).toBe(vaultId);
  });

  test("is not touched when the trash is emptied", async () => {
    const { vault, gone } = await openFilled();
    await remove(service, vault.id);
    await service.handlers.trash.empty({ query: {}, headers: {} }, contextOf(service.owner));
    await restore(service, vault.id);
    const context = contextOf(service.owner);
    expect(await codeOf(service.handlers.files.get({ params: { fileId: gone.id } }, context))).toBe("ok");
  });

  test("is left by uploads that have begun: they end when they would make the file, and go on after a restore", async () => {
    const vault = await create(service, "V");
    const context = contextOf(service.owner);
    const encode = (text: string) => Buffer.from(text).toString("base64");
    const headers = {
      "tus-resumable": "1.0.0",
      "upload-length": 5,
      "upload-metadata": `filename ${encode("slow")},vaultId ${encode(vault.id)}`,
    };
    const created = answerOfHeaders(
      await service.handlers.uploads.create({ headers, body: bodyOf("", { length: 0 }) }, context),
    );
    const uploadId = String(created["Location"]).split("/").at(-1) ?? "";
    const send = () =>
      service.handlers.uploads.append(
        {
          params: { uploadId },
          headers: { "tus-resumable": "1.0.0", "upload-offset": 0 },
          body: bodyOf("12345", { contentType: "application/offset+octet-stream" }),
        },
        context,
      );
    await remove(service, vault.id);
    expect(await codeOf(send())).toBe("not_found");
    await restore(service, vault.id);
    expect(await codeOf(send())).toBe("ok");
    const { files } = answerOf(await service.handlers.files.list({ query: { vaultId: vault.id } }, context));
    expect(files.map(({ name }) => name)).toEqual(["slow"]);
  });
});

function answerOfHeaders(answer: unknown): Readonly<Record<string, string>> {
  const { reply = answer } = answer as { reply?: unknown };
  return (reply as { headers: Readonly<Record<string, string>> }).headers;
}

describe("[D5-vault-trash] a vault ends", () => {
  test("by its owner with permanent=true, from the trash or at once, where it is public; a second time it is not there", async () => {
    const { vault } = await openFilled();
    expect(await codeOf(remove(service, vault.id, { permanent: true }))).toBe("vault_not_empty");
    await remove(service, vault.id);
    expect(await codeOf(remove(service, vault.id, { permanent: true }))).toBe("ok");
    expect(await codeOf(remove(service, vault.id, { permanent: true }))).toBe("not_found");
    expect(await trashed()).toEqual([]);
    expect(await usage(service)).toEqual({ bytes: 0, files: 0 });
    const other = await create(service, "W");
    await upload(other.id, "a");
    await remove(service, other.id, { force: true, permanent: true });
    expect(await usage(service)).toEqual({ bytes: 0, files: 0 });
    expect((await actions(service)).filter((action) => action === "vault.deleted")).toHaveLength(2);
  });

  test("thirty days after it went to the trash, and not before", async () => {
    const { vault } = await openFilled();
    const running = new AbortController().signal;
    await remove(service, vault.id);
    service.clock.advance(TRASH_DAYS * DAY - 1);
    expect(await purgeTrash(service, running)).toMatchObject({ vaults: 0 });
    service.clock.advance(1);
    expect(await purgeTrash(service, running)).toMatchObject({ vaults: 1 });
    expect(await trashed()).toEqual([]);
    expect(await usage(service)).toEqual({ bytes: 0, files: 0 });
    const { database } = service;
    expect(await database.all(database.build.selectFrom("blob_deletions").select("blob_key"))).toHaveLength(3);
    const actor = await database.first(
      database.build.selectFrom("changes").select("actor_json").where("action", "=", "vault.deleted"),
    );
    expect(actor?.actor_json).toContain('"system"');
  });

  test("never by the default vault's way, and by agents and members no way", async () => {
    const vault = await create(service, "V");
    const agent: Principal = { ...service.owner, accessLevel: "agent", chainAddress: `0x${"a".repeat(64)}` };
    expect(await codeOf(remove(service, vault.id, {}, agent))).toBe("owner_only");
    await remove(service, vault.id);
    expect(await codeOf(remove(service, vault.id, { permanent: true }, agent))).toBe("owner_only");
    expect(await codeOf(restore(service, vault.id, undefined, agent))).toBe("owner_only");
  });

  test("and a restore at the same time: one of them has the last word, and nothing is left half", async () => {
    for (let round = 0; round < 50; round += 1) {
      const vault = await create(service, `V${round}`);
      await upload(vault.id, "a");
      await remove(service, vault.id);
      await Promise.all([
        codeOf(restore(service, vault.id)),
        codeOf(remove(service, vault.id, { force: true, permanent: true })),
        codeOf(remove(service, vault.id)),
      ]);
      await codeOf(remove(service, vault.id, { force: true, permanent: true }));
    }
    expect(await usage(service)).toEqual({ bytes: 0, files: 0 });
    expect((await actions(service)).filter((action) => action === "vault.deleted")).toHaveLength(50);
  });
});

test("[D5-vault-trash] a shared vault in the trash is closed to its members, and opens to them when it comes back", async () => {
  const { member, ...writing } = await openWriting(service);
  const file = await put(service, writing, "name");
  const { shared } = writing;
  const proof = await prove(service, shared, "delete-vault");
  expect(answerOf(await deleteShared(service, shared, { proof })).vault.trashedAt).not.toBeNull();
  const { handlers } = service;
  const members = [member, agentOf(shared.owner)];
  const params = { vaultId: shared.vaultId };
  for (const { principal } of members) {
    expect(await codeOf(handlers.files.get({ params: { fileId: file.id } }, contextOf(principal)))).toBe("not_found");
    expect(await codeOf(handlers.vaultKeys.list({ params, query: {} }, contextOf(principal)))).toBe("not_found");
  }
  const context = contextOf(member.principal);
  expect(answerOf(await handlers.vaults.list({ query: { shared: true } }, context)).vaults).toEqual([]);
  expect(await codeOf(handlers.vaults.get({ params }, context))).toBe("not_found");
  // A second deletion is answered without another proof: there is nothing left to prove.
  expect(answerOf(await deleteShared(service, shared)).vault.trashedAt).not.toBeNull();
  await handlers.vaults.restore({ params, body: {} }, contextOf(shared.owner.principal));
  expect(await codeOf(handlers.files.get({ params: { fileId: file.id } }, context))).toBe("ok");
  expect(answerOf(await handlers.vaults.list({ query: { shared: true } }, context)).vaults).toHaveLength(1);
});

test("[D5-vault-trash] a shared vault whose trash is over goes by itself, and with the owner's proof before that", async () => {
  const { member: _member, ...writing } = await openWriting(service);
  await put(service, writing, "name");
  const { shared } = writing;
  await deleteShared(service, shared, { proof: await prove(service, shared, "delete-vault") });
  expect(await codeOf(deleteShared(service, shared, { permanent: true }))).toBe("owner_proof_required");
  const proof = await prove(service, shared, "purge-vault");
  expect(await codeOf(deleteShared(service, shared, { proof, permanent: true }))).toBe("ok");

  const { member: _other, ...again } = await openWriting(service);
  await put(service, again, "name");
  await deleteShared(service, again.shared, { proof: await prove(service, again.shared, "delete-vault") });
  service.clock.advance(TRASH_DAYS * DAY);
  expect(await purgeTrash(service, new AbortController().signal)).toMatchObject({ vaults: 1 });
  const { database } = service;
  for (const table of ["vault_keys", "vault_members", "file_versions"] as const) {
    expect(await database.all(database.build.selectFrom(table).selectAll())).toEqual([]);
  }
});
