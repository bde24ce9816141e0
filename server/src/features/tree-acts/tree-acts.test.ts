/** Acts on folders and vaults with many rows: whoever looks sees all of an act or nothing of it, whenever its writer is killed. */
import { expect, test } from "vitest";
import { expireVersions } from "../../jobs/expiry.ts";
import { purgeTrash } from "../../jobs/trash-purge.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { ON_POSTGRES } from "../../storage.test-kit.ts";
import {
  answerOf,
  bodyOf,
  codeOf,
  contextOf,
  openTestService,
  storeFile,
  type TestService,
} from "../service.test-kit.ts";
import { finishPurges } from "../vaults/purging.ts";
import { watchWriter } from "./large-account.test-kit.ts";
import { oneStep } from "./steps.test-kit.ts";
import { finishTreeActs } from "./writing.ts";

const ROWS = 6;
const service = ofEachTest(() => openTestService({ actRows: ROWS }));
const context = () => contextOf(service.owner);
const running = new AbortController().signal;

async function newFolder(name: string, parentId: string | null = null): Promise<string> {
  return answerOf(await service.handlers.folders.create({ body: { name, parentId } }, context())).folder.id;
}

interface Tree {
  readonly root: string;
  readonly folders: readonly string[];
  readonly files: readonly string[];
  readonly outside: string;
}

/** A folder with folders in it and below, 20 files in them, and others beside it. */
async function makeTree(): Promise<Tree> {
  const root = await newFolder("root");
  const folders = [root];
  for (const [name, above] of [
    ["a", 0],
    ["b", 1],
    ["c", 0],
    ["d", 3],
  ] as const)
    folders.push(await newFolder(name, folders[above]));
  const files: string[] = [];
  for (let at = 0; at < 20; at += 1) {
    const folderId = folders[at % folders.length] ?? root;
    files.push((await storeFile(service, `report ${at}`, { folderId })).id);
    service.clock.advance(1);
  }
  const outside = (await storeFile(service, "report outside")).id;
  return { root, folders, files, outside };
}

const FOLDER = (tree: Tree) => ({ params: { folderId: tree.root }, headers: {} });
const trash = (tree: Tree) => service.handlers.folders.delete(FOLDER(tree), context());
const restore = (tree: Tree) => service.handlers.folders.restore({ ...FOLDER(tree), body: undefined }, context());

/** All that the owner can learn of the tree. */
async function seen({ handlers, owner, database }: TestService, tree: Tree) {
  const caller = contextOf(owner);
  const lists: Record<string, unknown> = {};
  for (const trashed of [false, true])
    for (const place of [
      {},
      { vaultId: (await vaultOf()).id },
      { folderId: tree.folders[1] },
      { folderId: "root" as const },
    ])
      for (const limit of [3, 100]) {
        const query = { ...place, trashed, limit };
        const { folderId: parentId, ...rest } = query;
        lists[JSON.stringify(["files", query])] = await pages((cursor) =>
          handlers.files.list({ query: { ...query, ...cursor } }, caller).then((answer) => {
            const { files, nextCursor } = answerOf(answer);
            return [files, nextCursor];
          }),
        );
        const ofFolders = { ...rest, ...(parentId === undefined ? {} : { parentId }) };
        lists[JSON.stringify(["folders", query])] = await pages((cursor) =>
          handlers.folders.list({ query: { ...ofFolders, ...cursor } }, caller).then((answer) => {
            const { folders, nextCursor } = answerOf(answer);
            return [folders, nextCursor];
          }),
        );
      }
  for (const trashed of [false, true]) {
    const { files } = answerOf(await handlers.files.search({ query: { q: "report", trashed } }, caller));
    lists[`search ${trashed}`] = files.map(({ id, trashedAt, revision }) => ({ id, trashedAt, revision }));
    for (const name of ["report 7", "report outside"])
      lists[`named ${name} ${trashed}`] = answerOf(
        await handlers.files.list({ query: { name, trashed } }, caller),
      ).files;
  }
  for (const fileId of tree.files) lists[fileId] = await handlers.files.get({ params: { fileId } }, caller);
  for (const folderId of tree.folders) lists[folderId] = await handlers.folders.get({ params: { folderId } }, caller);
  lists["account"] = await database.first(
    database.build.selectFrom("accounts").select(["usage_bytes", "usage_files", "sequence"]),
  );
  return lists;
}

async function pages<Row>(
  read: (cursor: { cursor?: string }) => Promise<readonly [readonly Row[], string | null]>,
): Promise<Row[]> {
  const all: Row[] = [];
  for (let next: string | null | undefined; next !== null;) {
    const [rows, cursor]: readonly [readonly Row[], string | null] = await read(
      next === undefined ? {} : { cursor: next },
    );
    all.push(...rows);
    next = cursor;
  }
  return all;
}

async function vaultOf() {
  const { vaults } = answerOf(await service.handlers.vaults.list({ query: {} }, context()));
  const [vault] = vaults;
  if (vault === undefined) throw new Error("the account has no vault");
  return vault;
}

const treeActs = () => service.database.all(service.database.build.selectFrom("tree_acts").selectAll());
const rowsOf = (table: "files" | "folders") =>
  service.database.all(
    service.database.build.selectFrom(table).select(["id", "trashed_at", "trashed_with", "revision"]),
  );

/** Makes the steps of an act one by one: what is seen is the same after each. */
async function expectNothingBetween(tree: Tree): Promise<void> {
  const after = await seen(service, tree);
  let steps = 0;
  for (; (await treeActs()).length > 0; steps += 1) {
    await finishTreeActs(service, oneStep());
    expect(await seen(service, tree)).toEqual(after);
  }
  expect(steps).toBeGreaterThan(3);
}

test("a folder with many files goes to the trash, and comes back, in the view of everybody at once", async () => {
  const tree = await makeTree();
  const before = await seen(service, tree);
  await trash(tree);
  const [act] = await treeActs();
  expect(act).toMatchObject({ root_id: tree.root, kind: "trash" });
  expect((await rowsOf("files")).filter((row) => row.trashed_at !== null)).toEqual([]);
  await expectNothingBetween(tree);
  const trashed = new Set((await rowsOf("files")).map((row) => row.trashed_with));
  expect(trashed).toEqual(new Set([tree.root, null]));

  await restore(tree);
  expect(await treeActs()).toMatchObject([{ root_id: tree.root, kind: "restore", trashed_with: tree.root }]);
  await expectNothingBetween(tree);
  expect((await rowsOf("files")).every((row) => row.trashed_at === null)).toBe(true);
  // Only revisions and the number of changes have risen.
  const names = (view: Record<string, unknown>) =>
    JSON.stringify(view)
      .replaceAll(/"(revision|sequence)":\d+/g, "")
      .replaceAll(/"updatedAt":"[^"]*"/g, "");
  expect(names(await seen(service, tree))).toBe(names(before));
  const { build } = service.database;
  const changes = await service.database.all(build.selectFrom("changes").select("action").orderBy("sequence"));
  expect(changes.slice(-2).map(({ action }) => action)).toEqual(["folder.trashed", "folder.restored"]);
});

test("nothing moves into or out of the folder until the act is through", async () => {
  const tree = await makeTree();
  const { handlers } = service;
  const [file = "", other = ""] = tree.files;
  const refused = async () => ({
    restore: await codeOf(restore(tree)),
    deleteForGood: await codeOf(
      handlers.files.delete({ params: { fileId: file }, query: { permanent: true }, headers: {} }, context()),
    ),
    restoreOne: await codeOf(
      handlers.files.restore({ params: { fileId: other }, headers: {}, body: undefined }, context()),
    ),
    emptyTrash: await codeOf(handlers.trash.empty({ query: {}, headers: {} }, context())),
  });
  await trash(tree);
  expect(await refused()).toEqual({
    restore: "tree_busy",
    deleteForGood: "tree_busy",
    restoreOne: "tree_busy",
    emptyTrash: "tree_busy",
  });
  expect(await codeOf(storeFile(service, "new", { folderId: tree.folders[1] ?? "" }))).toBe("trashed");
  expect(await codeOf(storeFile(service, "beside"))).toBe("ok");
  await finishTreeActs(service, running);

  await restore(tree);
  const place = { folderId: tree.folders[1] ?? "" };
  expect(await codeOf(storeFile(service, "new", place))).toBe("tree_busy");
  const rename = { params: { fileId: file }, headers: {}, body: { name: "renamed" } };
  expect(await codeOf(handlers.files.update(rename, context()))).toBe("tree_busy");
  const moveIn = { params: { fileId: tree.outside }, headers: {}, body: { folderId: tree.folders[1] ?? "" } };
  expect(await codeOf(handlers.files.update(moveIn, context()))).toBe("tree_busy");
  const moveOut = { params: { fileId: file }, headers: {}, body: { folderId: null } };
  expect(await codeOf(handlers.files.update(moveOut, context()))).toBe("tree_busy");
  expect(await codeOf(trash(tree))).toBe("tree_busy");
  const vaultId = (await vaultOf()).id;
  expect(await codeOf(handlers.trash.empty({ query: { vaultId }, headers: {} }, context()))).toBe("tree_busy");
  await finishTreeActs(service, running);
  expect(await codeOf(handlers.files.update(rename, context()))).toBe("ok");
  expect(await codeOf(storeFile(service, "new", place))).toBe("ok");
});

test("what is coming back is not purged, however long it lay in the trash", async () => {
  const tree = await makeTree();
  await trash(tree);
  await finishTreeActs(service, running);
  service.clock.advance(40 * 24 * 60 * 60_000);
  await restore(tree);
  expect(await purgeTrash(service, running)).toEqual({ files: 0, folders: 0, vaults: 0 });
  await finishTreeActs(service, running);
  expect(await rowsOf("files")).toHaveLength(21);
});

test("a folder with many folders moves in one act, and how deep they lie follows", async () => {
  const tree = await makeTree();
  const target = await newFolder("target");
  const move = { params: { folderId: tree.root }, headers: {}, body: { parentId: target } };
  await service.handlers.folders.update(move, context());
  expect(await treeActs()).toMatchObject([{ kind: "move", root_id: tree.root }]);
  expect(await codeOf(newFolder("new", tree.folders[2]))).toBe("tree_busy");
  while ((await treeActs()).length > 0) await finishTreeActs(service, oneStep());
  const rows = await service.database.all(service.database.build.selectFrom("folders").select(["name", "depth"]));
  expect(Object.fromEntries(rows.map(({ name, depth }) => [name, depth]))).toEqual({
    target: 1,
    root: 2,
    a: 3,
    b: 4,
    c: 3,
    d: 4,
  });
});

test("a vault that is deleted for good is gone at once, with all that it counted for, and its rows go by and by", async () => {
  const { handlers, database } = service;
  const { vault } = answerOf(await handlers.vaults.create({ body: { name: "v", type: "public" } }, context()));
  const ids: string[] = [];
  for (let at = 0; at < 20; at += 1) ids.push((await storeFile(service, `f${at}`, { vaultId: vault.id })).id);
  // Some have been in the trash for so long that another job would delete them, and some have versions that end.
  const replaced = { params: { fileId: ids[18] ?? "" }, query: {}, headers: {}, body: bodyOf("67890") };
  await handlers.files.replace(replaced, context());
  await handlers.files.delete({ params: { fileId: ids[19] ?? "" }, query: {}, headers: {} }, context());
  service.clock.advance(400 * 24 * 60 * 60_000);
  const params = { vaultId: vault.id };
  await handlers.vaults.delete({ params, query: { force: true, permanent: true }, headers: {} }, context());
  const look = async () => ({
    account: await database.first(database.build.selectFrom("accounts").select(["usage_bytes", "usage_files"])),
    get: await codeOf(handlers.vaults.get({ params }, context())),
    restore: await codeOf(handlers.vaults.restore({ params, body: undefined }, context())),
    file: await codeOf(handlers.files.get({ params: { fileId: ids[19] ?? "" } }, context())),
    lists: [
      answerOf(await handlers.files.list({ query: {} }, context())).files,
      answerOf(await handlers.trash.list({ query: {} }, context())).files,
      answerOf(await handlers.trash.list({ query: { kind: "vaults" } }, context())).vaults,
      answerOf(await handlers.files.search({ query: { q: "f1" } }, context())).files,
    ],
  });
  const after = { usage_bytes: 0, usage_files: 0 };
  const gone = { account: after, get: "not_found", restore: "not_found", file: "not_found", lists: [[], [], [], []] };
  expect(await look()).toEqual(gone);
  const left = async () => (await rowsOf("files")).length;
  let steps = 0;
  for (; (await left()) > 0; steps += 1) {
    expect(await purgeTrash(service, running)).toEqual({ files: 0, folders: 0, vaults: 0 });
    expect(await expireVersions(service, running)).toEqual({ expired: 0 });
    await finishPurges(service, oneStep());
    expect(await look()).toEqual(gone);
  }
  expect(steps).toBeGreaterThan(3);
  await finishPurges(service, running);
  expect(await database.all(database.build.selectFrom("vaults").select("name"))).toEqual([{ name: "Files" }]);
  expect(await database.all(database.build.selectFrom("blob_deletions").select("blob_key"))).toHaveLength(21);
  expect(await codeOf(handlers.vaults.create({ body: { name: "v", type: "public" } }, context()))).toBe("ok");
});

test("no transaction of an act changes more rows than it may", async (context) => {
  if (ON_POSTGRES) context.skip("the rows are counted by SQLite");
  const tree = await makeTree();
  const vaultId = (await vaultOf()).id;
  using held = watchWriter();
  await trash(tree);
  await finishTreeActs(service, running);
  await restore(tree);
  await finishTreeActs(service, running);
  await trash(tree);
  await finishTreeActs(service, running);
  await service.handlers.trash.empty({ query: { vaultId }, headers: {} }, contextOf(service.owner));
  // Beside its rows an act writes its change, the account, and the answer to a repeated request; a file's end is of several rows.
  expect(held.rows).toBeLessThanOrEqual(ROWS + 10);
  expect(await rowsOf("files")).toHaveLength(1);
});
