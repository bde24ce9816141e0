/** What changes the revision of a file or folder, what does not, and whom it lets win. */
import { expect, test } from "vitest";
import { Reply } from "../../handler.ts";
import { answerOf, bodyOf, contextOf, openTestService, outcomes } from "../service.test-kit.ts";
import { etagOf } from "./rules.ts";
import { revisionTagOf } from "../items/conditions.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestService);

async function setUp() {
  const { files, folders } = service.handlers;
  const context = contextOf(service.owner);
  const { folder } = answerOf(await folders.create({ body: { name: "folder" } }, context));
  const { folder: inner } = answerOf(await folders.create({ body: { name: "inner", parentId: folder.id } }, context));
  const upload = { query: { name: "a", folderId: inner.id }, headers: {}, body: bodyOf("12345") };
  const { file } = answerOf(await files.upload(upload, context));
  const params = { fileId: file.id };
  const readFile = async () => answerOf(await files.get({ params }, context)).file;
  const readFolder = async (folderId: string) => answerOf(await folders.get({ params: { folderId } }, context)).folder;
  return { files, folders, context, folder, inner, file, params, readFile, readFolder };
}

test("every rename, move, trash and restore raises a file's revision, and its content's entity tag stays", async () => {
  const { files, folder, context, file, params, readFile } = await setUp();
  expect(file.revision).toBe(1);
  const acts = [
    () => files.update({ params, headers: {}, body: { name: "b" } }, context),
    () => files.update({ params, headers: {}, body: { folderId: folder.id } }, context),
    () => files.delete({ params, query: {}, headers: {} }, context),
    () => files.restore({ headers: {}, params, body: undefined }, context),
  ];
  for (const [index, act] of acts.entries()) {
    await act();
    expect((await readFile()).revision).toBe(index + 2);
  }
  const head = await files.contentHead({ params, query: {}, headers: {} }, context);
  expect(head instanceof Reply ? head.headers["ETag"] : null).toBe(etagOf(file));
});

test("what changes nothing of a file itself leaves its revision: its own name, a second deletion, new content", async () => {
  const { files, context, params, readFile } = await setUp();
  await files.update({ params, headers: {}, body: { name: "a" } }, context);
  await files.replace({ params, query: {}, headers: {}, body: bodyOf("new content") }, context);
  expect((await readFile()).revision).toBe(1);
  await files.delete({ params, query: {}, headers: {} }, context);
  await files.delete({ params, query: {}, headers: {} }, context);
  expect((await readFile()).revision).toBe(2);
});

test("a folder's revision rises like a file's, and the trash raises those of all that go with it", async () => {
  const { folders, context, folder, inner, readFile, readFolder } = await setUp();
  const params = { folderId: folder.id };
  const revisions = async () => [
    (await readFolder(folder.id)).revision,
    (await readFolder(inner.id)).revision,
    (await readFile()).revision,
  ];
  const { folder: renamed } = answerOf(await folders.update({ params, headers: {}, body: { name: "n" } }, context));
  expect([renamed.revision, ...(await revisions())]).toEqual([2, 2, 1, 1]);
  const { folder: trashed } = answerOf(await folders.delete({ headers: {}, params }, context));
  expect([trashed.revision, ...(await revisions())]).toEqual([3, 3, 2, 2]);
  const { folder: back } = answerOf(await folders.restore({ headers: {}, params, body: undefined }, context));
  expect([back.revision, ...(await revisions())]).toEqual([4, 4, 3, 3]);
  const move = { params: { folderId: inner.id }, headers: { "if-match": revisionTagOf({ revision: 3 }) } };
  const { folder: moved } = answerOf(await folders.update({ ...move, body: { parentId: null } }, context));
  expect(moved.revision).toBe(4);
});

test("of eight renames and moves at once under one revision one wins [D1-precondition-412]", async () => {
  const { files, folders, context, folder, inner, file, params, readFile, readFolder } = await setUp();
  const headers = { "if-match": revisionTagOf(file) };
  const ofFile = Array.from({ length: 8 }, (_, index) =>
    files.update({ params, headers, body: index % 2 === 0 ? { name: `n${index}` } : { folderId: folder.id } }, context),
  );
  expect(await outcomes(ofFile.map((each) => Promise.resolve(each)))).toEqual({ ok: 1, precondition_failed: 7 });
  expect((await readFile()).revision).toBe(2);
  const ofFolder = Array.from({ length: 8 }, (_, index) =>
    folders.update({ params: { folderId: inner.id }, headers, body: { name: `n${index}` } }, context),
  );
  expect(await outcomes(ofFolder.map((each) => Promise.resolve(each)))).toEqual({ ok: 1, precondition_failed: 7 });
  expect((await readFolder(inner.id)).revision).toBe(2);
});
