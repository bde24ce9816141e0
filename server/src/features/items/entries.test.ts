import { beforeEach, describe, expect, test } from "vitest";
import type { Principal } from "../../handler.ts";
import { expireEntries } from "../../jobs/expiry.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { openWriting, put } from "../files/shared-files.test-kit.ts";
import { answerOf, bodyOf, codeOf, contextOf, insertTestKey, openTestService } from "../service.test-kit.ts";

const DAY = 24 * 60 * 60_000;
const service = ofEachTest(openTestService);
let agent: Principal;
let vaultId: string;

beforeEach(async () => {
  const keyId = await insertTestKey(service.database, service.owner.accountId, service.clock.now());
  agent = { ...service.owner, keyId, name: "agent", accessLevel: "agent" };
  const made = await service.handlers.vaults.create({ body: { name: "V", type: "public" } }, contextOf(service.owner));
  vaultId = made.reply.body.vault.id;
});

async function makeFile(name: string, by: Principal = service.owner) {
  const input = { query: { name, vaultId }, headers: {}, body: bodyOf("x") };
  return answerOf(await service.handlers.files.upload(input, contextOf(by))).file;
}

async function makeFolder(name: string, parentId: string | null = null, by: Principal = service.owner) {
  return answerOf(await service.handlers.folders.create({ body: { name, vaultId, parentId } }, contextOf(by))).folder;
}

async function change(
  fileId: string,
  body: { name?: string; folderId?: string | null },
  by: Principal = service.owner,
) {
  service.clock.advance(1000);
  return answerOf(await service.handlers.files.update({ params: { fileId }, headers: {}, body }, contextOf(by))).file;
}

async function entriesOf(fileId: string, query: { limit?: number; cursor?: string } = {}, by = agent) {
  return answerOf(await service.handlers.files.entries({ params: { fileId }, query }, contextOf(by)));
}

const numbersOf = async (fileId: string) =>
  (await entriesOf(fileId, { limit: 1000 })).entries.map(({ number }) => number);

const countEntries = async () =>
  (await service.database.all(service.database.build.selectFrom("item_entries").select("number"))).length;

const expire = () => expireEntries(service, new AbortController().signal);

const byOwner = () => ({ kind: "api-key", id: service.owner.keyId, name: service.owner.name, chainAddress: null });
const byAgent = () => ({ kind: "api-key", id: agent.keyId, name: "agent", chainAddress: null });

test("[D5-entries] names and places of a file stay, newest first in pages, with author, time and how; an act that changes neither adds none", async () => {
  const folder = await makeFolder("folder");
  const { id } = await makeFile("first");
  await change(id, { name: "second" }, agent);
  await change(id, { name: "second" });
  await change(id, { name: "third", folderId: folder.id });
  const put = { params: { fileId: id }, query: {}, headers: {}, body: bodyOf("new") };
  await service.handlers.files.replace(put, contextOf(service.owner));
  const params = { fileId: id };
  await service.handlers.files.delete({ params, query: {}, headers: {} }, contextOf(service.owner));
  await service.handlers.folders.delete({ headers: {}, params: { folderId: folder.id } }, contextOf(service.owner));
  await service.handlers.files.restore({ headers: {}, params, body: undefined }, contextOf(agent));
  const { entries, nextCursor } = await entriesOf(id);
  expect(nextCursor).toBeNull();
  expect(entries.map(({ number, name, folderId, how, author }) => [number, name, folderId, how, author])).toEqual([
    [4, "third", null, "restore", byAgent()],
    [3, "third", folder.id, "move", byOwner()],
    [2, "second", null, "rename", byAgent()],
    [1, "first", null, "create", byOwner()],
  ]);
  expect(entries.map(({ createdAt, expiresAt }) => [createdAt.slice(14, 19), expiresAt?.slice(0, 19) ?? null])).toEqual(
    [
      ["00:03", null],
      ["00:03", "2030-01-31T00:00:03"],
      ["00:01", "2030-01-31T00:00:03"],
      ["00:00", "2030-01-31T00:00:01"],
    ],
  );
  const first = await entriesOf(id, { limit: 3 });
  const second = await entriesOf(id, { limit: 3, cursor: first.nextCursor ?? "" });
  expect([...first.entries, ...second.entries]).toEqual(entries);
  const other = await makeFile("other");
  expect(await codeOf(entriesOf(other.id, { cursor: first.nextCursor ?? "" }))).toBe("validation_failed");
});

test("[D5-entries] those of a folder, below another one, are its own", async () => {
  const [outer, inner] = [await makeFolder("outer"), await makeFolder("inner")];
  const params = { folderId: inner.id };
  const move = { params, headers: {}, body: { parentId: outer.id } };
  await service.handlers.folders.update(move, contextOf(agent));
  const list = (folderId: string) =>
    service.handlers.folders.entries({ params: { folderId }, query: {} }, contextOf(agent));
  expect(answerOf(await list(inner.id)).entries).toMatchObject([
    { number: 2, name: "inner", parentId: outer.id, how: "move", author: byAgent() },
    { number: 1, name: "inner", parentId: null, how: "create", author: byOwner() },
  ]);
  expect(answerOf(await list(outer.id)).entries).toHaveLength(1);
});

test("[D5-entries] nobody outside the account sees them, and no key whose vaults are others", async () => {
  const [{ id }, folder] = [await makeFile("mine"), await makeFolder("mine")];
  await change(id, { name: "renamed" });
  const limited: Principal = { ...agent, vaultIds: new Set([folder.id]) };
  for (const principal of [await service.addAccount(), limited]) {
    const [params, query] = [{ fileId: id, folderId: folder.id }, {}];
    const context = contextOf(principal);
    expect(await codeOf(Promise.resolve(service.handlers.files.entries({ params, query }, context)))).toBe("not_found");
    expect(await codeOf(Promise.resolve(service.handlers.folders.entries({ params, query }, context)))).toBe(
      "not_found",
    );
  }
});

test("[D5-entries-kept] beyond 100 the oldest of the newest entry's own author go, and nobody else's", async () => {
  const { id } = await makeFile("owner's");
  for (let at = 1; at <= 105; at += 1) await change(id, { name: `agent's ${String(at)}` }, agent);
  const numbers = await numbersOf(id);
  expect([numbers.length, numbers.slice(-2)]).toEqual([101, [7, 1]]);
  await change(id, { name: "owner's again" });
  expect(await numbersOf(id)).toHaveLength(102);
});

test("[D5-entries-kept] as long as versions, also after the vault says otherwise; the newest stays; they go with the item and with the vault", async () => {
  const patch = (keepVersionsDays: number | null) =>
    service.handlers.vaults.update(
      { params: { vaultId }, headers: {}, body: { keepVersionsDays } },
      contextOf(service.owner),
    );
  const { id } = await makeFile("first");
  await change(id, { name: "second" });
  await patch(365);
  expect((await entriesOf(id)).entries[1]?.expiresAt).toBe("2031-01-01T00:00:01.000Z");
  service.clock.advance(40 * DAY);
  expect(await expire()).toEqual({ expired: 0 });
  await change(id, { name: "third" });
  await patch(null);
  expect(await numbersOf(id)).toEqual([3, 2]);
  expect(await expire()).toEqual({ expired: 1 });
  service.clock.advance(31 * DAY);
  expect(await numbersOf(id)).toEqual([3]);
  expect(await expire()).toEqual({ expired: 1 });
  await change(id, { name: "fourth" });
  const forGood = { params: { fileId: id }, query: { permanent: true }, headers: {} };
  await service.handlers.files.delete(forGood, contextOf(service.owner));
  expect(await countEntries()).toBe(0);
  await change((await makeFile("another")).id, { name: "renamed" });
  const all = { params: { vaultId }, query: { force: true, permanent: true }, headers: {} };
  await service.handlers.vaults.delete(all, contextOf(service.owner));
  expect(await countEntries()).toBe(0);
});

describe("[D5-author] files and folders", () => {
  test("have the credential that made them, and the one that changed them last, whatever it did", async () => {
    const { id, createdBy, updatedBy } = await makeFile("file");
    expect([createdBy, updatedBy]).toEqual([byOwner(), byOwner()]);
    const params = { fileId: id };
    const body = () => bodyOf("new");
    const acts: readonly ((by: Principal) => unknown)[] = [
      (by) => service.handlers.files.replace({ params, query: {}, headers: {}, body: body() }, contextOf(by)),
      (by) => change(id, { name: "renamed" }, by),
      (by) => service.handlers.files.delete({ params, query: {}, headers: {} }, contextOf(by)),
      (by) => service.handlers.files.restore({ headers: {}, params, body: undefined }, contextOf(by)),
    ];
    for (const act of acts) {
      await act(agent);
      const { file } = answerOf(await service.handlers.files.get({ params }, contextOf(service.owner)));
      expect([file.createdBy, file.updatedBy]).toEqual([byOwner(), byAgent()]);
      await change(id, { name: `owner's ${String(acts.indexOf(act))}` }).catch(() => undefined);
    }
    const folder = await makeFolder("folder", null, agent);
    expect([folder.createdBy, folder.updatedBy]).toEqual([byAgent(), byAgent()]);
  });

  test("name a member of another account by its address alone, and nobody's key to such a member", async () => {
    const writing = await openWriting(service);
    const { owner } = writing.shared;
    const theirs = await put(service, { ...writing, by: writing.member }, "theirs");
    const own = await put(service, writing, "own");
    const read = async (fileId: string, by: Principal) =>
      answerOf(await service.handlers.files.get({ params: { fileId } }, contextOf(by))).file;
    const address = { kind: "api-key", id: null, name: null, chainAddress: writing.member.chainAddress };
    expect((await read(theirs.id, owner.principal)).createdBy).toEqual(address);
    // The owner's key has no address of its own.
    const seen = { ...address, chainAddress: null };
    expect((await read(own.id, owner.principal)).createdBy).toMatchObject({ id: writing.by.principal.keyId });
    const context = contextOf(writing.member.principal);
    const params = { fileId: own.id };
    expect((await read(own.id, writing.member.principal)).createdBy).toEqual(seen);
    const listed = await service.handlers.files.list({ query: { vaultId: writing.shared.vaultId } }, context);
    expect(answerOf(listed).files.find(({ id }) => id === own.id)?.updatedBy).toEqual(seen);
    const { entries } = answerOf(await service.handlers.files.entries({ params, query: {} }, context));
    expect(entries).toMatchObject([{ name: "", author: seen, shared: { nameIndex: own.shared?.nameIndex } }]);
    const { versions } = answerOf(await service.handlers.files.versions({ params, query: {} }, context));
    expect(versions[0]?.author).toEqual(seen);
  });
});
