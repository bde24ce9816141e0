import { randomUUID } from "node:crypto";
import type { SharedEntry } from "@coffer/contract";
import { describe, expect, test } from "vitest";
import {
  encryptedFile,
  entryOf,
  indexOf,
  nextEntry,
  openWriting,
  put,
  send,
  versionOf,
  type Writing,
} from "../files/shared-files.test-kit.ts";
import { addMember, publishKey, type TestPerson } from "../shared-vaults/vaults.test-kit.ts";
import { answerOf, codeOf, contextOf, openTestService, outcomes } from "../service.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestService);

/** A vault whose member was removed, with the files that were written before. */
async function openRotating(names: readonly string[]) {
  const { member, ...old } = await openWriting(service);
  const files = [];
  for (const name of names) files.push(await put(service, old, name));
  service.chain.remove(old.shared.objectId, member.chainAddress);
  service.clock.advance(10_001);
  const keyId = await publishKey(service, old.shared, old.by, 2);
  return { old, now: { ...old, keyId, generation: 2 }, files, member };
}

async function stage(
  { shared, by, keyId }: Writing,
  entries: SharedEntry[],
  more: { folderId?: string | null; as?: TestPerson } = {},
) {
  const body = { folderId: more.folderId ?? null, keyId, entries };
  const input = { params: { vaultId: shared.vaultId }, body };
  return answerOf(await service.handlers.folderNames.stage(input, contextOf((more.as ?? by).principal)));
}

async function keyOf({ shared, by }: Writing, folderId?: string) {
  const input = { params: { vaultId: shared.vaultId }, query: folderId === undefined ? {} : { folderId } };
  return answerOf(await service.handlers.folderNames.get(input, contextOf(by.principal))).keyId;
}

async function namesIn({ shared, by }: Writing): Promise<string[]> {
  const query = { vaultId: shared.vaultId, folderId: "root" } as const;
  const { files } = answerOf(await service.handlers.files.list({ query }, contextOf(by.principal)));
  return files.map((file) => file.shared?.nameIndex ?? "").sort();
}

const indexes = ({ keyId }: Writing, names: readonly string[]) => names.map((name) => indexOf(keyId, name)).sort();

describe("a folder's names", () => {
  test("have the key of the first entry, and none while nothing lies there", async () => {
    const { old, now, member } = await openRotating([]);
    expect(await keyOf(old)).toBeNull();
    const file = await put(service, now, "first");
    expect(await keyOf(now)).toBe(now.keyId);
    await service.handlers.files.delete(
      { params: { fileId: file.id }, query: {}, headers: {} },
      contextOf(now.by.principal),
    );
    expect(await keyOf(now)).toBeNull();
    const stranger = contextOf(member.principal);
    const input = { params: { vaultId: now.shared.vaultId }, query: {} };
    expect(await codeOf(service.handlers.folderNames.get(input, stranger))).toBe("not_a_member");
  });

  test("change together once every live one is staged, and until then nothing of them does", async () => {
    const { old, now, files } = await openRotating(["a", "b", "c"]);
    const [a, b, c] = files.map((file, index) => nextEntry(now, "abc"[index] ?? "", file));
    expect(await codeOf(put(service, now, "d"))).toBe("names_outdated");
    expect(await stage(now, [a!, b!])).toEqual({ folderId: null, keyId: old.keyId, remaining: 1 });
    expect(await namesIn(now)).toEqual(indexes(old, ["a", "b", "c"]));
    const done = { folderId: null, keyId: now.keyId, remaining: 0 };
    expect(await stage(now, [c!])).toEqual(done);
    expect(await namesIn(now)).toEqual(indexes(now, ["a", "b", "c"]));
    expect(await stage(now, [c!])).toEqual(done);
    await put(service, now, "d");
    const { build } = service.database;
    expect(await service.database.all(build.selectFrom("staged_names").selectAll())).toEqual([]);
    const changes = build.selectFrom("changes").select("target_json").where("action", "=", "vault.names_changed");
    expect(await service.database.all(changes)).toHaveLength(1);
  });

  test("do not change while one has changed since it was staged, nor for one that came in between", async () => {
    const { old, now, files } = await openRotating(["a", "b"]);
    const [a, b] = files;
    const staged = files.map((file, index) => nextEntry(now, "ab"[index] ?? "", file));
    expect(await stage(now, staged.slice(0, 1))).toMatchObject({ remaining: 1 });
    // What was staged of a follows the entry that it no longer has.
    await service.database.run(
      service.database.build
        .updateTable("files")
        .set({ shared_json: JSON.stringify({ ...a?.shared, ...entryOf(old, "x", { kind: "file", id: a!.id }) }) })
        .where("id", "=", a!.id),
    );
    expect(await stage(now, staged.slice(1))).toEqual({ folderId: null, keyId: old.keyId, remaining: 1 });
    expect(await service.handlers.files.get({ params: { fileId: b!.id } }, contextOf(now.by.principal))).toMatchObject({
      file: { shared: { nameIndex: indexOf(old.keyId, "b") } },
    });
  });

  test("do not wait for what is in the trash or has moved away, which keeps its entry", async () => {
    const { old, now, files } = await openRotating(["a", "b"]);
    const context = contextOf(now.by.principal);
    await service.handlers.files.delete({ params: { fileId: files[1]!.id }, query: {}, headers: {} }, context);
    expect(await stage(now, [nextEntry(now, "a", files[0]!)])).toMatchObject({
      keyId: now.keyId,
      remaining: 0,
    });
    const restore = { params: { fileId: files[1]!.id }, headers: {}, body: undefined };
    expect(await codeOf(service.handlers.files.restore(restore, context))).toBe("names_outdated");
    const shared = nextEntry(now, "b", files[1]!);
    await service.handlers.files.restore({ ...restore, body: { shared } }, context);
    expect(await namesIn(now)).toEqual(indexes(now, ["a", "b"]));
    expect(old.keyId).not.toBe(now.keyId);
  });

  test("are no longer counted as staged of what went to the trash since: the entry that lacks one is missed", async () => {
    const { old, now, files } = await openRotating(["a", "b", "c"]);
    const [a, b, c] = files.map((file, index) => nextEntry(now, "abc"[index] ?? "", file));
    expect(await stage(now, [a!, b!])).toMatchObject({ remaining: 1 });
    const context = contextOf(now.by.principal);
    await service.handlers.files.delete({ params: { fileId: files[1]!.id }, query: {}, headers: {} }, context);
    // As many are staged as lie there.
    expect(await stage(now, [])).toEqual({ folderId: null, keyId: old.keyId, remaining: 1 });
    expect(await namesIn(now)).toEqual(indexes(old, ["a", "c"]));
    expect(await stage(now, [c!])).toEqual({ folderId: null, keyId: now.keyId, remaining: 0 });
    expect(await namesIn(now)).toEqual(indexes(now, ["a", "c"]));
  });

  test("that were used are cleared by a repeated call, where the first was cut off behind the change", async () => {
    const { now, files } = await openRotating(["a"]);
    const entry = nextEntry(now, "a", files[0]!);
    await stage(now, [entry]);
    const { build } = service.database;
    const place = { vault_id: now.shared.vaultId, folder_id: "", key_id: now.keyId };
    const used = { kind: "file", item_id: files[0]!.id, entry: entry.entry, metadata: entry.metadata };
    await service.database.run(
      build.insertInto("staged_names").values({ ...place, ...used, name_index: entry.nameIndex }),
    );
    expect(await stage(now, [])).toMatchObject({ keyId: now.keyId, remaining: 0 });
    expect(await service.database.all(build.selectFrom("staged_names").selectAll())).toEqual([]);
  });

  test("are refused when two are one, of another key, of another folder or generation, or of somebody else", async () => {
    const { old, now, files, member } = await openRotating(["a", "b"]);
    const [a, b] = files;
    const entry = nextEntry(now, "a", a!);
    expect(await codeOf(stage(now, [entry, nextEntry(now, "a", b!)]))).toBe("name_exists");
    expect(await namesIn(now)).toEqual(indexes(old, ["a", "b"]));
    expect(await codeOf(stage(now, [entry, entry]))).toBe("validation_failed");
    expect(await codeOf(stage(now, [nextEntry(old, "a", a!)]))).toBe("statement_invalid");
    expect(await codeOf(stage(old, [nextEntry(old, "a", a!)]))).toBe("generation_moved");
    expect(await codeOf(stage({ ...now, keyId: "3".repeat(64) }, []))).toBe("statement_invalid");
    const elsewhere = nextEntry(now, "a", a!, { folderId: randomUUID() });
    expect(await codeOf(stage(now, [elsewhere]))).toBe("statement_invalid");
    const forged = nextEntry({ ...now, by: member }, "a", a!, { signer: now.by.chainAddress });
    expect(await codeOf(stage(now, [forged]))).toBe("statement_invalid");
    expect(await codeOf(stage(now, [entry], { as: member }))).toBe("not_a_member");
    expect(await codeOf(stage(now, [entry], { folderId: randomUUID() }))).toBe("not_found");
  });

  test("are asked for and staged in their own vault, also by whom another one shows the folder to", async () => {
    const [{ member: _one, ...mine }, { member: _two, ...other }] = [
      await openWriting(service),
      await openWriting(service),
    ];
    await addMember(service, other.shared, mine.by);
    const shared = entryOf(other, "folder", { kind: "folder", id: randomUUID() });
    const body = { vaultId: other.shared.vaultId, shared };
    const { folder } = answerOf(await service.handlers.folders.create({ body }, contextOf(other.by.principal)));
    expect(await codeOf(stage(mine, [], { folderId: folder.id }))).toBe("not_found");
    expect(await codeOf(keyOf(mine, folder.id))).toBe("not_found");
    const { build } = service.database;
    const keys = build.selectFrom("folder_keys").select("folder_id").where("vault_id", "=", mine.shared.vaultId);
    expect(await service.database.all(keys)).toEqual([]);
    expect(await keyOf({ ...other, by: mine.by }, folder.id)).toBeNull();
  });

  test("of folders are staged with those of files", async () => {
    const { member, ...old } = await openWriting(service);
    const entry = entryOf(old, "folder", { kind: "folder", id: randomUUID() });
    const body = { vaultId: old.shared.vaultId, shared: entry };
    const { folder } = answerOf(await service.handlers.folders.create({ body }, contextOf(old.by.principal)));
    const file = await put(service, old, "file");
    service.chain.remove(old.shared.objectId, member.chainAddress);
    service.clock.advance(10_001);
    const now = { ...old, keyId: await publishKey(service, old.shared, old.by, 2), generation: 2 };
    const named = nextEntry(now, "folder", folder, { kind: "folder" });
    expect(await stage(now, [named])).toMatchObject({ remaining: 1 });
    expect(await stage(now, [nextEntry(now, "file", file)])).toMatchObject({ remaining: 0 });
    const found = await service.handlers.folders.get({ params: { folderId: folder.id } }, contextOf(now.by.principal));
    expect(answerOf(found).folder).toMatchObject({ name: "", shared: named });
  });

  test("wait under one key at most: what was staged under another can never be used", async () => {
    const { now, files } = await openRotating(["a", "b"]);
    await stage(now, [nextEntry(now, "a", files[0]!)]);
    const { shared, by, generation } = now;
    const next = { ...now, keyId: await publishKey(service, shared, by, generation, now.keyId) };
    expect(await stage(next, [nextEntry(next, "b", files[1]!)])).toMatchObject({ remaining: 1 });
    const { build } = service.database;
    expect(await service.database.all(build.selectFrom("staged_names").select(["key_id", "item_id"]))).toEqual([
      { key_id: next.keyId, item_id: files[1]!.id },
    ]);
  });

  test("a folder with a file's id, or a file with a folder's, would be one entry with it: neither is made", async () => {
    const { member, ...old } = await openWriting(service);
    const context = contextOf(member.principal);
    const byMember = { ...old, by: member };
    const file = await put(service, old, "file");
    const made = (id: string, name: string) => {
      const body = { vaultId: old.shared.vaultId, shared: entryOf(byMember, name, { kind: "folder", id }) };
      return service.handlers.folders.create({ body }, context);
    };
    expect(await codeOf(made(file.id, "its double"))).toBe("statement_invalid");
    const { folder } = answerOf(await made(randomUUID(), "folder"));
    const double = encryptedFile({ fileId: folder.id });
    const entry = entryOf(byMember, "the other's double", { kind: "file", id: folder.id });
    const upload = { file: double, version: versionOf(byMember, double), entry };
    expect(await codeOf(send(service, byMember, upload))).toBe("statement_invalid");
    expect(await namesIn(old)).toEqual(indexes(old, ["file"]));
  });

  test("staged by several at once while uploads come: one key in the end, and no two names of it are one", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const { now, files } = await openRotating(names);
    const staging = files.map((file, index) => stage(now, [nextEntry(now, names[index] ?? "", file)]));
    const uploads = ["a", "g", "h"].map((name) => put(service, now, name));
    const results = await outcomes([...staging, ...uploads]);
    expect(results["ok"]).toBeGreaterThanOrEqual(6);
    expect(await keyOf(now)).toBe(now.keyId);
    const found = await namesIn(now);
    expect(new Set(found).size).toBe(found.length);
    expect(found).toEqual(expect.arrayContaining(indexes(now, names)));
    expect(await codeOf(put(service, now, "a"))).toBe("name_exists");
  });
});
