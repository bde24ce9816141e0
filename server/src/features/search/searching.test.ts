import { rankName, searchWords } from "@coffer/contract";
import { beforeEach, describe, expect, test } from "vitest";
import type { Principal } from "../../handler.ts";
import type { FileRow } from "../../ports/tables.ts";
import { ON_POSTGRES } from "../../storage.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { insertFile } from "../files/store.ts";
import { openWriting, put } from "../files/shared-files.test-kit.ts";
import { listWaiting, putWaiting } from "../search-index/store.ts";
import { moveVault } from "../ownership/store.ts";
import { answerOf, bodyOf, codeOf, contextOf, openTestService } from "../service.test-kit.ts";
import type { SearchQuery } from "./searching.ts";

const service = ofEachTest(openTestService);
let vaultId: string;

beforeEach(async () => {
  vaultId = await addVault("V");
});

async function addVault(name: string, by = service.owner): Promise<string> {
  const made = await service.handlers.vaults.create({ body: { name, type: "public" } }, contextOf(by));
  return made.reply.body.vault.id;
}

async function addFolder(name: string, parentId?: string): Promise<string> {
  const body = { name, vaultId, ...(parentId === undefined ? {} : { parentId }) };
  return answerOf(await service.handlers.folders.create({ body }, contextOf(service.owner))).folder.id;
}

interface Place {
  readonly vaultId?: string;
  readonly folderId?: string;
}

async function add(name: string, place: Place = {}, contentType = "text/plain", by = service.owner) {
  service.clock.advance(1000);
  const query = { name, vaultId, ...place };
  const input = { query, headers: {}, body: bodyOf(name, { contentType }) };
  return answerOf(await service.handlers.files.upload(input, contextOf(by))).file;
}

async function search(query: SearchQuery, by: Principal = service.owner) {
  return answerOf(await service.handlers.files.search({ query }, contextOf(by)));
}

async function namesOf(query: SearchQuery, by?: Principal): Promise<string[]> {
  return (await search(query, by)).files.map(({ name }) => name);
}

/** Files in one act, without contents: many are quick to make. */
async function addMany(names: readonly string[], more: Partial<FileRow> = {}): Promise<void> {
  const sample = await add("sample");
  const { build } = service.database;
  const [row] = await service.database.all(build.selectFrom("files").selectAll().where("id", "=", sample.id));
  await service.database.transaction(async (transaction) => {
    for (const [index, name] of names.entries()) {
      const id = service.random.uuid();
      const at = service.clock.now() + index;
      await insertFile(transaction, { ...(row as FileRow), id, blob_key: id, name, created_at: at, ...more });
    }
  });
}

describe("words of names", () => {
  test("are found without case and accents: whole words first, then beginnings, then parts, the newest first in each [D5-search-words]", async () => {
    for (const name of [
      "Assumption.md",
      "Sum 1.txt",
      "RÉSUMÉ.pdf",
      "summary.txt",
      "Sümme.txt",
      "sum 2.txt",
      "other.txt",
    ])
      await add(name);
    expect(await namesOf({ q: "SUM" })).toEqual([
      ...["sum 2.txt", "Sum 1.txt"],
      ...["Sümme.txt", "summary.txt"],
      ...["RÉSUMÉ.pdf", "Assumption.md"],
    ]);
    expect(await namesOf({ q: "résumé pdf" })).toEqual(["RÉSUMÉ.pdf"]);
    expect(await namesOf({ q: "sum other" })).toEqual([]);
  });

  test("of one or two letters are found where words begin, and those of other scripts anywhere [D5-search-words]", async () => {
    for (const name of ["ab.txt", "about", "crab", "我的文件.pdf", "Ёлка"]) await add(name);
    expect(await namesOf({ q: "ab" })).toEqual(["ab.txt", "about"]);
    expect(await namesOf({ q: "a" })).toEqual(["about", "ab.txt"]);
    expect(await namesOf({ q: "文件" })).toEqual(["我的文件.pdf"]);
    expect(await namesOf({ q: "文" })).toEqual(["我的文件.pdf"]);
    expect(await namesOf({ q: "лк" })).toEqual(["Ёлка"]);
  });

  test("are what a look at every name finds, in any search", async () => {
    const parts = [
      "ann",
      "anna",
      "banana",
      "é",
      "ee",
      "reee",
      "x1",
      "1x1",
      "straße",
      "ﬁn",
      "文件",
      "件",
      "🎉",
      "averyverylongwordindeed",
    ];
    let seed = 7;
    const draw = (end: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % end;
    const drawn = () =>
      Array.from({ length: 1 + draw(3) }, () => parts[draw(parts.length)] ?? "").join(["-", "", " "][draw(3)]);
    const names = Array.from({ length: 400 }, (_, index) => `${drawn()} ${String(index)}`);
    await addMany(names);
    const newestFirst = [...names.toReversed(), "sample"];
    for (let round = 0; round < 120; round += 1) {
      const whole = [...drawn()];
      const q = whole.slice(draw(whole.length), 1 + draw(whole.length)).join("") || whole.join("");
      const wanted = searchWords(q);
      if (wanted.length === 0) continue;
      const ranked = newestFirst.map((name) => ({ name, rank: rankName(searchWords(name), wanted) }));
      const expected = [0, 1, 2].flatMap((rank) => ranked.filter((each) => each.rank === rank).map(({ name }) => name));
      expect(await namesOf({ q, limit: 1000 }), q).toEqual(expected);
    }
  });
});

describe("what else files are found by", () => {
  test("type, size, time and author, each alone and together with words [D5-search-filters]", async () => {
    const start = service.clock.now();
    await add("a.png", {}, "image/png");
    const { createdAt } = await add("a.jpg", {}, "image/jpeg; q=1");
    await add("abc long.txt");
    const by = "0x" + "a".repeat(64);
    await add("theirs a", {}, "text/plain", { ...service.owner, chainAddress: by });
    expect(await namesOf({ type: "image/" })).toEqual(["a.jpg", "a.png"]);
    expect(await namesOf({ type: "IMAGE/jpeg", q: "a" })).toEqual(["a.jpg"]);
    expect(await namesOf({ minSize: 6, maxSize: 11 })).toEqual(["theirs a"]);
    expect(await namesOf({ since: createdAt, q: "a" })).toEqual(["theirs a", "a.jpg", "abc long.txt"]);
    expect(await namesOf({ since: createdAt, until: new Date(Date.parse(createdAt) + 1).toISOString() })).toEqual([
      "a.jpg",
    ]);
    expect(await namesOf({ until: new Date(start).toISOString() })).toEqual([]);
    expect(await namesOf({ by })).toEqual(["theirs a"]);
    expect(await namesOf({ by: service.owner.keyId ?? by, type: "image/png" })).toEqual(["a.png"]);
  });

  test("vault, and a folder with all below it, also after the folder moved [D5-search-filters] [D5-search-in-act]", async () => {
    const [top, other] = [await addFolder("top"), await addFolder("other")];
    const below = await addFolder("below", top);
    await add("note 1", { folderId: top });
    const { id } = await add("note 2", { folderId: below });
    await add("note 3");
    await add("note 4", { vaultId: await addVault("W") });
    expect(await namesOf({ q: "note", vaultId })).toEqual(["note 3", "note 2", "note 1"]);
    expect(await namesOf({ q: "note", folderId: top })).toEqual(["note 2", "note 1"]);
    const change = { params: { folderId: below }, headers: {}, body: { parentId: other } };
    await service.handlers.folders.update(change, contextOf(service.owner));
    expect(await namesOf({ q: "note", folderId: top })).toEqual(["note 1"]);
    expect(await namesOf({ folderId: other })).toEqual(["note 2"]);
    const moved = { params: { fileId: id }, headers: {}, body: { folderId: top } };
    await service.handlers.files.update(moved, contextOf(service.owner));
    expect(await namesOf({ folderId: top })).toEqual(["note 2", "note 1"]);
  });
});

/** Entries wait until there are many. */
const settle = (): Promise<void> =>
  service.database.transaction((transaction) => putWaiting(transaction, service.owner.accountId));

describe.each([
  ["that waits", async () => undefined],
  ["that is written", settle],
])("an entry %s follows each change in its act", (_, then) => {
  test("new names, contents, the trash, restores and deletions [D5-search-in-act]", async () => {
    const { id } = await add("first");
    const params = { fileId: id };
    const asOwner = contextOf(service.owner);
    await then();
    await service.handlers.files.update({ params, headers: {}, body: { name: "second" } }, asOwner);
    await then();
    expect([await namesOf({ q: "first" }), await namesOf({ q: "second" })]).toEqual([[], ["second"]]);
    await service.handlers.files.replace(
      { params, query: {}, headers: {}, body: bodyOf("x", { contentType: "image/png" }) },
      asOwner,
    );
    await then();
    expect(await namesOf({ type: "image/png" })).toEqual(["second"]);
    await service.handlers.files.delete({ params, query: {}, headers: {} }, asOwner);
    expect([await namesOf({ q: "second" }), await namesOf({ q: "second", trashed: true })]).toEqual([[], ["second"]]);
    await service.handlers.files.restore({ headers: {}, params, body: undefined }, asOwner);
    expect(await namesOf({ q: "second" })).toEqual(["second"]);
    await service.handlers.files.delete({ params, query: { permanent: true }, headers: {} }, asOwner);
    expect(await namesOf({ q: "second" })).toEqual([]);
    expect(await entries()).toBe(0);
  });

  test("a name that is refused leaves none, and a vault in the trash hides its files until they are gone with it", async () => {
    await add("taken");
    await settle();
    await expect(codeOf(add("taken"))).resolves.toBe("name_exists");
    expect(await entries()).toBe(1);
    const remove = (permanent: boolean) =>
      service.handlers.vaults.delete(
        { params: { vaultId }, query: { force: true, ...(permanent ? { permanent } : {}) }, headers: {} },
        contextOf(service.owner),
      );
    await remove(false);
    expect([await namesOf({ q: "taken" }), await codeOf(search({ vaultId }))]).toEqual([[], "not_found"]);
    await remove(true);
    expect(await entries()).toBe(0);
  });

  async function entries(): Promise<number> {
    const { build } = service.database;
    const table = ON_POSTGRES ? "file_terms" : "file_terms_docsize";
    const count = build.selectFrom(table as "files").select((row) => row.fn.countAll<number>().as("n"));
    return (await service.database.first(count))?.n ?? -1;
  }
});

describe("a caller finds no more than a list shows it", () => {
  test("limited to vaults, of another account, below a folder of somebody else [D5-search-reach]", async () => {
    await add("secret");
    await add("open", { vaultId: await addVault("W") });
    const limited: Principal = { ...service.owner, accessLevel: "agent", vaultIds: new Set([await addVault("X")]) };
    expect(await namesOf({}, limited)).toEqual([]);
    expect(await codeOf(search({ vaultId }, limited))).toBe("not_found");
    const stranger = await service.addAccount();
    expect(await namesOf({ q: "secret" }, stranger)).toEqual([]);
    expect(await codeOf(search({ vaultId }, stranger))).toBe("not_found");
    expect(await codeOf(search({ folderId: await addFolder("f") }, stranger))).toBe("not_found");
  });
});

describe("shared vaults", () => {
  test("with plain names are searched by their members and by who has them, for as long as that is so [D5-search-reach]", async () => {
    const { member, shared, by: former } = await openWriting(service, { plainNames: true });
    const place = { vault_id: shared.vaultId, account_id: former.principal.accountId };
    await addMany(["shared plans"], { ...place, shared_json: JSON.stringify({ nameIndex: "0" }) });
    const there = { q: "plan", vaultId: shared.vaultId };
    expect(await namesOf({ q: "plan" }, former.principal)).toEqual(["shared plans"]);
    expect(await namesOf(there, member.principal)).toEqual(["shared plans"]);
    expect(await namesOf({ q: "plan" }, member.principal)).toEqual([]);
    expect(await codeOf(search(there))).toBe("not_found");
    service.chain.remove(shared.objectId, member.chainAddress);
    service.clock.advance(10_001);
    expect(await codeOf(search(there, member.principal))).toBe("not_a_member");
    const heir = await service.addAccount();
    const handedOn = { id: shared.vaultId, accountId: heir.accountId, name: "theirs", now: 1 };
    await service.database.transaction((transaction) => moveVault(transaction, handedOn));
    expect(await namesOf({ q: "plan" }, heir)).toEqual(["shared plans"]);
    expect(await namesOf({ q: "plan" }, former.principal)).toEqual([]);
  });

  test("with encrypted names have no entries, and are refused by name [D5-search-reach]", async () => {
    const { by, ...writing } = await openWriting(service);
    await put(service, { by, ...writing }, "content");
    expect(await namesOf({}, by.principal)).toEqual([]);
    expect(await codeOf(search({ vaultId: writing.shared.vaultId }, by.principal))).toBe("validation_failed");
  });
});

describe("pages", () => {
  test("go on where the one before ended, and a cursor is for its own search alone [D5-search]", async () => {
    for (const name of ["b", "bcd 1", "bcd 2", "abcd", "b 1"]) await add(name);
    const all: string[] = [];
    for (let cursor: string | null = null, first = true; first || cursor !== null; first = false) {
      const page = await search({ q: "bcd", limit: 1, ...(cursor === null ? {} : { cursor }) });
      expect([page.files.length, page.complete]).toEqual([1, true]);
      all.push(...page.files.map(({ name }) => name));
      cursor = page.nextCursor;
    }
    expect(all).toEqual(["bcd 2", "bcd 1", "abcd"]);
    const { nextCursor } = await search({ q: "bcd", limit: 1 });
    expect(await codeOf(search({ q: "b", limit: 1, cursor: nextCursor ?? "" }))).toBe("validation_failed");
  });

  test("say that they looked at their bound of rows, and the next one finds what lies behind [D5-search-bounded]", async () => {
    await addMany(["needle in hay", ...Array.from({ length: 2_400 }, (_, index) => `hay ${String(index)}`)]);
    const first = await search({ q: "hay", maxSize: 5, limit: 10 });
    expect(first).toMatchObject({ files: [], complete: false });
    const rest = await search({ q: "hay", minSize: 1, limit: 1000 });
    expect(rest.files.length).toBe(1000);
    let found = 0;
    let page = first;
    for (let turn = 0; turn < 20 && page.nextCursor !== null; turn += 1) {
      page = await search({ q: "hay", maxSize: 5, limit: 10, cursor: page.nextCursor });
      found += page.files.length;
    }
    expect([page.complete, page.nextCursor, found]).toEqual([true, null, 0]);
    expect(await namesOf({ q: "needle hay" })).toEqual(["needle in hay"]);
    // The first search has written what waited.
    expect(await listWaiting(service.database, service.owner.accountId)).toEqual([]);
  });
});
