/** A change that is sent twice, because its answer was lost: the second time does nothing to what others made of it since. */
import { beforeEach, expect, it } from "vitest";
import { openTestApp, type TestAnswer } from "../../app.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestApp);
let key = "";
beforeEach(async () => {
  key = (await service.signUp()).key;
});

interface Sent {
  readonly json?: object;
  readonly payload?: string;
}
type Ask = readonly [method: "DELETE" | "PATCH" | "POST" | "PUT", path: string, sent?: Sent];

const ask = ([method, path, sent = {}]: Ask, headers: Record<string, string> = {}): Promise<TestAnswer> =>
  service.ask(method, path, { key, headers, ...sent });
const fileOf = ({ body }: TestAnswer) =>
  body["file"] as { id: string; versionId: string; name: string; trashedAt: string | null; folderId: string | null };
const newFile = async (name: string) => fileOf(await ask(["POST", `/api/files?name=${name}`, { payload: "one" }]));

let keys = 0;
/** Twice under one key, with another change between the two. Answers what is there then. */
async function repeated(id: string, change: Ask, between: Ask) {
  const headers = { "idempotency-key": `change-${(keys += 1)}` };
  const first = await ask(change, headers);
  expect((await ask(between)).status).toBe(200);
  const again = await ask(change, headers);
  expect([again.status, again.body, again.headers["idempotent-replayed"]]).toEqual([first.status, first.body, "true"]);
  return fileOf(await service.ask("GET", `/api/files/${id}`, { key }));
}

it("[S36] [D1-idempotency-changes] renames, moves, trash, restoring, contents and acts on many are done once under one key", async () => {
  const { id, versionId } = await newFile("a");
  const at = `/api/files/${id}`;
  const rename = (name: string): Ask => ["PATCH", at, { json: { name } }];
  const [trash, restore]: readonly [Ask, Ask] = [
    ["DELETE", at],
    ["POST", `${at}/restore`],
  ];
  const many = (act: string, more = {}): Ask => ["POST", `/api/files/${act}`, { json: { ids: [id], ...more } }];
  const { body } = await ask(["POST", "/api/folders", { json: { name: "f" } }]);
  const folderId = (body["folder"] as { id: string }).id;
  expect(await repeated(id, rename("mine"), rename("theirs"))).toMatchObject({ name: "theirs" });
  expect(await repeated(id, trash, restore)).toMatchObject({ trashedAt: null });
  expect(await repeated(id, many("trash"), many("restore"))).toMatchObject({ trashedAt: null });
  await ask(trash);
  expect((await repeated(id, restore, trash)).trashedAt).not.toBeNull();
  expect((await repeated(id, many("restore"), many("trash"))).trashedAt).not.toBeNull();
  await ask(restore);
  const back: Ask = ["PATCH", at, { json: { folderId: null } }];
  expect(await repeated(id, many("move", { folderId }), back)).toMatchObject({ folderId: null });
  const put = (payload: string): Ask => ["PUT", `${at}/content`, { payload }];
  const third = await repeated(id, put("two"), put("three"));
  const restoreFirst: Ask = ["POST", `${at}/versions/${versionId}/restore`];
  const newest = await repeated(id, restoreFirst, put("four"));
  const { body: past } = await service.ask("GET", `${at}/versions`, { key });
  const versions = past["versions"] as { versionId: string; size: number }[];
  expect(versions.map(({ size }) => size)).toEqual([4, 3, 5, 3, 3]);
  expect([versions[0]?.versionId, versions[2]?.versionId]).toEqual([newest.versionId, third.versionId]);
});

it("[S36] [D1-idempotency-changes] what was deleted for good answers a repeat, and so do folders", async () => {
  const { id } = await newFile("a");
  const headers = { "idempotency-key": "for good" };
  const erase: Ask = ["DELETE", `/api/files/${id}?permanent=true`];
  for (const status of [204, 204]) expect((await ask(erase, { "idempotency-key": "for-good" })).status).toBe(status);
  expect((await ask(erase)).status).toBe(404);
  expect((await ask(erase, headers)).status).toBe(400);
  const folder = async (change: Ask, keyed?: string) => {
    const { body } = await ask(change, keyed === undefined ? {} : { "idempotency-key": keyed });
    return body["folder"] as { id: string; name: string; trashedAt: string | null };
  };
  const { id: folderId } = await folder(["POST", "/api/folders", { json: { name: "f" } }]);
  const at = `/api/folders/${folderId}`;
  const [trash, restore]: readonly [Ask, Ask] = [
    ["DELETE", at],
    ["POST", `${at}/restore`],
  ];
  const rename = (name: string): Ask => ["PATCH", at, { json: { name } }];
  const now = async () => (await service.ask("GET", at, { key })).body["folder"];
  await folder(rename("mine"), "rename");
  await folder(rename("theirs"));
  expect(await folder(rename("mine"), "rename")).toMatchObject({ name: "mine" });
  expect(await now()).toMatchObject({ name: "theirs" });
  await folder(trash, "trash");
  await folder(restore, "restore");
  await folder(trash, "trash");
  expect(await now()).toMatchObject({ trashedAt: null });
  await folder(trash);
  await folder(restore, "restore");
  expect((await now()) as object).not.toMatchObject({ trashedAt: null });
});

it("[S36] conditions of trash, restoring, earlier contents and acts on many name the item by its revision or its tag", async () => {
  const { id, versionId } = await newFile("a");
  const at = `/api/files/${id}`;
  const tag = (revision: number, version = versionId) => `"${revision}.${version}"`;
  const status = async (change: Ask, ifMatch: string) => (await ask(change, { "if-match": ifMatch })).status;
  const [trash, restore]: readonly [Ask, Ask] = [
    ["DELETE", at],
    ["POST", `${at}/restore`],
  ];
  for (const wrong of ['"2"', tag(2), tag(1, id), '"sha256-x"']) expect(await status(trash, wrong)).toBe(412);
  expect([await status(trash, tag(1)), await status(restore, tag(1)), await status(restore, tag(2))]).toEqual([
    ...[200, 412, 200],
  ]);
  const put: Ask = ["PUT", `${at}/content`, { payload: "two" }];
  expect([await status(put, tag(2)), await status(put, tag(3)), await status(put, tag(3))]).toEqual([412, 200, 412]);
  const restoreFirst: Ask = ["POST", `${at}/versions/${versionId}/restore`];
  expect([await status(restoreFirst, tag(3)), await status(restoreFirst, "*")]).toEqual([412, 200]);
  const erase: Ask = ["DELETE", `${at}?permanent=true`];
  const other = await newFile("b");
  const conditions = [
    { id, ifMatch: '"7"' },
    { id: other.id, ifMatch: `"1.${other.versionId}"` },
  ];
  const { body } = await ask(["POST", "/api/files/trash", { json: { ids: [id, other.id], conditions } }]);
  const results = body["results"] as { error: { code: string } | null }[];
  expect(results.map(({ error }) => error?.code ?? "done")).toEqual(["precondition_failed", "done"]);
  expect([await status(erase, '"2"'), await status(erase, '"3"')]).toEqual([412, 204]);
});
