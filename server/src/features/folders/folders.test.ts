import { expect, test } from "vitest";
import { answerOf, codeOf, contextOf, openTestService, outcomes, storeFile } from "../service.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestService);

async function create(name: string, parentId: string | null = null) {
  return (await service.handlers.folders.create({ body: { name, parentId } }, contextOf(service.owner))).reply.body
    .folder;
}

async function update(folderId: string, body: { name?: string; parentId?: string | null }) {
  return answerOf(
    await service.handlers.folders.update({ params: { folderId }, headers: {}, body }, contextOf(service.owner)),
  ).folder;
}

async function trash(folderId: string) {
  return answerOf(
    await service.handlers.folders.delete({ headers: {}, params: { folderId } }, contextOf(service.owner)),
  ).folder;
}

async function restore(folderId: string, name?: string) {
  const body = name === undefined ? undefined : { name };
  return answerOf(
    await service.handlers.folders.restore({ headers: {}, params: { folderId }, body }, contextOf(service.owner)),
  ).folder;
}

async function chain(depth: number, prefix = "d") {
  const ids: string[] = [];
  for (let level = 1; level <= depth; level += 1) ids.push((await create(`${prefix}${level}`, ids.at(-1) ?? null)).id);
  return ids;
}

/** Names of what is live, with the depth that is kept of folders. */
async function live(): Promise<string[]> {
  const { database } = service;
  const folders = await database.all(
    database.build.selectFrom("folders").select(["name", "depth"]).where("trashed_at", "is", null),
  );
  const files = await database.all(database.build.selectFrom("files").select("name").where("trashed_at", "is", null));
  return [...folders.map(({ name, depth }) => `${name}/${depth}`), ...files.map(({ name }) => name)].sort();
}

test("[D2-folder-depth] folders nest 32 deep, whether made or moved there, the subtree counted", async () => {
  const ids = await chain(32);
  expect(await codeOf(create("too deep", ids.at(-1) ?? null))).toBe("too_deep");
  const other = await chain(3, "o");
  expect(await codeOf(update(other[0] ?? "", { parentId: ids[29] ?? "" }))).toBe("too_deep");
  await update(other[0] ?? "", { parentId: ids[28] ?? "" });
  expect(await live()).toContain("o3/32");
  expect(await codeOf(create("deeper", other[2] ?? ""))).toBe("too_deep");
});

test("a folder moves neither into itself nor below itself", async () => {
  const [top = "", middle = "", bottom = ""] = await chain(3);
  for (const parentId of [top, middle, bottom]) expect(await codeOf(update(top, { parentId }))).toBe("folder_cycle");
  await update(bottom, { parentId: null });
  await update(top, { parentId: bottom });
  expect(await live()).toEqual(["d1/2", "d2/3", "d3/1"]);
});

test("two moves that would close a circle together: one is refused", async () => {
  const [a, b] = [await create("a"), await create("b")];
  expect(await outcomes([update(a.id, { parentId: b.id }), update(b.id, { parentId: a.id })])).toEqual({
    ok: 1,
    folder_cycle: 1,
  });
});

test("names are taken once per place, also by 50 at the same time", async () => {
  const folder = await create("f");
  expect(await codeOf(create("f"))).toBe("name_exists");
  expect(await codeOf(create("f", folder.id))).toBe("ok");
  expect(await outcomes(Array.from({ length: 50 }, () => create("one")))).toEqual({ ok: 1, name_exists: 49 });
  const other = await create("g");
  expect(await codeOf(update(other.id, { name: "f" }))).toBe("name_exists");
});

test("[D5-folder-delete] a deleted folder takes its subtree along, and brings back just that", async () => {
  const [top = "", middle = ""] = await chain(3);
  const [early, kept] = [
    await storeFile(service, "early", { folderId: middle }),
    await storeFile(service, "kept", { folderId: middle }),
  ];
  const sub = await create("sub", top);
  await service.handlers.files.delete(
    { params: { fileId: early.id }, query: {}, headers: {} },
    contextOf(service.owner),
  );
  await trash(sub.id);
  const trashed = await trash(top);
  expect(await live()).toEqual([]);
  expect(trashed.trashedAt).not.toBeNull();
  expect(await trash(top)).toEqual(trashed);
  expect(await codeOf(update(middle, { name: "x" }))).toBe("trashed");
  expect(await codeOf(create("x", middle))).toBe("trashed");
  await restore(top);
  expect(await live()).toEqual(["d1/1", "d2/2", "d3/3", "kept"]);
  expect(await codeOf(restore(top))).toBe("not_trashed");
  const file = answerOf(
    await service.handlers.files.get({ params: { fileId: kept.id } }, contextOf(service.owner)),
  ).file;
  expect(file).toMatchObject({ folderId: middle, trashedAt: null });
  await restore(sub.id);
  expect(await live()).toContain("sub/2");
});

test("a part of what was deleted comes back alone, at the top of the vault", async () => {
  const [top = "", middle = "", bottom = ""] = await chain(3);
  await storeFile(service, "deep", { folderId: bottom });
  await trash(top);
  expect(await restore(middle)).toMatchObject({ parentId: null });
  expect(await live()).toEqual(["d2/1", "d3/2", "deep"]);
  await restore(top);
  expect(await live()).toEqual(["d1/1", "d2/1", "d3/2", "deep"]);
});

test("a taken name keeps a folder in the trash until another is given", async () => {
  const folder = await create("f");
  await trash(folder.id);
  await create("f");
  expect(await codeOf(restore(folder.id))).toBe("name_exists");
  expect(await restore(folder.id, "f2")).toMatchObject({ name: "f2", trashedAt: null });
});

test("a trashed folder keeps up when the one above it moves, and lands at the top when that is too deep", async () => {
  const ids = await chain(31);
  const [parent = "", child = "", leaf = ""] = await chain(3, "p");
  await trash(child);
  await update(parent, { parentId: ids[1] ?? "" });
  await restore(child);
  expect(await live()).toEqual(expect.arrayContaining(["p1/3", "p2/4", "p3/5"]));
  await trash(child);
  await update(parent, { parentId: ids[30] ?? "" });
  expect(await restore(child)).toMatchObject({ parentId: null });
  expect(await live()).toEqual(expect.arrayContaining(["p1/32", "p2/1", "p3/2"]));
  expect(
    answerOf(await service.handlers.folders.get({ params: { folderId: leaf } }, contextOf(service.owner))).folder
      .parentId,
  ).toBe(child);
});

test("[D5-folders-paths] [D5-isolation-404] [S1-folders-and-vaults] folders are listed by place and found by nobody else", async () => {
  const [top = "", middle = ""] = await chain(2);
  const names = async (query: Record<string, unknown>) =>
    answerOf(await service.handlers.folders.list({ query }, contextOf(service.owner)))
      .folders.map(({ name }) => name)
      .sort();
  expect(await names({})).toEqual(["d1", "d2"]);
  expect(await names({ parentId: "root" })).toEqual(["d1"]);
  expect(await names({ parentId: top })).toEqual(["d2"]);
  expect(await names({ name: "d2" })).toEqual(["d2"]);
  await trash(middle);
  expect(await names({ trashed: true })).toEqual(["d2"]);
  const stranger = await service.addAccount();
  const asked = [
    service.handlers.folders.get({ params: { folderId: top } }, contextOf(stranger)),
    service.handlers.folders.update(
      { params: { folderId: top }, headers: {}, body: { name: "x" } },
      contextOf(stranger),
    ),
    service.handlers.folders.delete({ headers: {}, params: { folderId: top } }, contextOf(stranger)),
    service.handlers.folders.create({ body: { name: "x", parentId: top } }, contextOf(stranger)),
    service.handlers.folders.list({ query: { parentId: top } }, contextOf(stranger)),
  ];
  expect(await outcomes(asked)).toEqual({ not_found: 5 });
});
