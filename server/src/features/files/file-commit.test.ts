import { randomUUID } from "node:crypto";
import { MAX_COMMIT_BYTES, type File } from "@coffer/contract";
import { expect, test } from "vitest";
import { collect } from "../../../../test/kit/bytes.ts";
import type { Principal } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { expireUploads } from "../../jobs/expiry.ts";
import { answerOf, bodyOf, codeOf, contextOf, insertTestKey, openTestService, storeFile } from "../service.test-kit.ts";
import { type Change, commit, headOf, hold, refusalOf, tagOf, terminate } from "./file-commit.test-kit.ts";
import { usageOf } from "./shared-files.test-kit.ts";

const service = ofEachTest(openTestService);
const HOUR = 3_600_000;

const caller = () => contextOf(service.owner);
const get = async (id: string): Promise<File> =>
  answerOf(await service.handlers.files.get({ params: { fileId: id } }, caller())).file;
const contentOf = async (id: string): Promise<string> => {
  const input = { params: { fileId: id }, query: {}, headers: {} };
  return (
    await collect(answerOf<AsyncIterable<Uint8Array>>(await service.handlers.files.content(input, caller())))
  ).toString();
};
const change = (file: File, what: Omit<Change, "id" | "ifMatch">): Change => ({
  id: file.id,
  ifMatch: tagOf(file),
  ...what,
});
const folderNamed = async (name: string) =>
  (await service.handlers.folders.create({ body: { name } }, caller())).reply.body.folder;
const vaultNamed = async (name: string) =>
  (await service.handlers.vaults.create({ body: { name, type: "public" } }, caller())).reply.body.vault;
const changes = async () => {
  const { database } = service;
  return database.all(database.build.selectFrom("changes").select(["action"]).orderBy("sequence"));
};
/** All that a commit may have changed. */
async function state(files: readonly File[]) {
  const rows = await Promise.all(files.map(({ id }) => get(id)));
  return { rows, usage: await usageOf(service, service.owner.accountId), changes: (await changes()).length };
}

test("[D5-commit] versions, renames, moves and trashings are one act, each with its change; the answer is in their order", async () => {
  const folder = await folderNamed("f");
  const [a, b, c, d] = [
    await storeFile(service, "a"),
    await storeFile(service, "b"),
    await storeFile(service, "c"),
    await storeFile(service, "d"),
  ];
  const before = (await changes()).length;
  const files = await commit(service, {
    vaultId: a.vaultId,
    changes: [
      change(a, { uploadId: await hold(service, a.id, "new content") }),
      change(b, { name: "b2" }),
      change(c, { folderId: folder.id, uploadId: await hold(service, c.id, "moved"), name: "c2" }),
      change(d, { trash: true }),
    ],
  });
  expect(files.map(({ id }) => id)).toEqual([a.id, b.id, c.id, d.id]);
  expect(files).toEqual([await get(a.id), await get(b.id), await get(c.id), await get(d.id)]);
  expect(files).toMatchObject([
    { name: "a", size: 11, folderId: null },
    { name: "b2", versionId: b.versionId },
    { name: "c2", folderId: folder.id, size: 5, revision: 2 },
    { name: "d", trashedAt: expect.any(String) as string },
  ]);
  expect(await contentOf(a.id)).toBe("new content");
  const noted = (await changes()).slice(before);
  expect(noted.map(({ action }) => action).sort()).toEqual([
    "file.trashed",
    "file.updated",
    "file.updated",
    "file.updated",
  ]);
  expect(await usageOf(service, service.owner.accountId)).toEqual({ bytes: 4 * 5 + 11 + 5, files: 4 });
  const { versions } = answerOf(
    await service.handlers.files.versions({ params: { fileId: c.id }, query: {} }, caller()),
  );
  expect(versions.map(({ size }) => size)).toEqual([5, 5]);
  const { entries } = answerOf(await service.handlers.files.entries({ params: { fileId: c.id }, query: {} }, caller()));
  expect(entries.map(({ name, how }) => [name, how])).toEqual([
    ["c2", "move"],
    ["c", "create"],
  ]);
});

test("[D5-commit-names] names are compared at the end: swaps, chains, circles over folders, and a name that a trashing frees", async () => {
  const folder = await folderNamed("f");
  const [a, b, c] = [await storeFile(service, "a"), await storeFile(service, "b"), await storeFile(service, "c")];
  const inside = await storeFile(service, "a", { folderId: folder.id });
  const rename = async (all: readonly [File, Omit<Change, "id" | "ifMatch">][]) =>
    commit(service, {
      vaultId: a.vaultId,
      changes: await Promise.all(all.map(async ([file, what]) => change(await get(file.id), what))),
    });
  expect(
    (
      await rename([
        [a, { name: "b" }],
        [b, { name: "a" }],
      ])
    ).map(({ name }) => name),
  ).toEqual(["b", "a"]);
  // a chain: what was b becomes c, what was c becomes d
  expect(
    (
      await rename([
        [a, { name: "c" }],
        [c, { name: "d" }],
      ])
    ).map(({ name }) => name),
  ).toEqual(["c", "d"]);
  // through a folder and back, with a version in the circle
  const uploadId = await hold(service, inside.id, "in the circle");
  const moved = await rename([
    [b, { folderId: folder.id }],
    [inside, { folderId: null, uploadId }],
  ]);
  expect(moved.map(({ name, folderId }) => [name, folderId])).toEqual([
    ["a", folder.id],
    ["a", null],
  ]);
  expect(await contentOf(inside.id)).toBe("in the circle");
  // the name of what goes to the trash, named after it
  expect(
    (
      await rename([
        [a, { name: "d" }],
        [c, { trash: true }],
      ])
    ).map(({ name }) => name),
  ).toEqual(["d", "d"]);
  const searched = answerOf(await service.handlers.files.search({ query: { q: "d" } }, caller()));
  expect(searched.files.map(({ id }) => id)).toEqual([a.id]);
  for (const gone of ["b", "c"])
    expect(answerOf(await service.handlers.files.search({ query: { q: gone } }, caller())).files).toEqual([]);
});

test("[D5-commit-names] two that want one name, and a name that stays taken, are refused, and nothing is stored", async () => {
  const [a, b, taken] = [
    await storeFile(service, "a"),
    await storeFile(service, "b"),
    await storeFile(service, "taken"),
  ];
  const before = await state([a, b, taken]);
  const twice = [change(a, { name: "x" }), change(b, { name: "x" })];
  expect(await refusalOf(commit(service, { vaultId: a.vaultId, changes: twice }))).toMatchObject({
    code: "name_exists",
    id: b.id,
  });
  const onto = [change(a, { name: "b2" }), change(b, { name: "taken" })];
  expect(await refusalOf(commit(service, { vaultId: a.vaultId, changes: onto }))).toMatchObject({
    code: "name_exists",
    id: b.id,
  });
  expect(await state([a, b, taken])).toEqual(before);
});

test("[D5-commit-condition] a stale tag on the 57th of 100 files leaves nothing; the refusal names it and its present tag", async () => {
  const files: File[] = [];
  for (let at = 0; at < 100; at += 1) files.push(await storeFile(service, `file ${at}`));
  const stale = files[56];
  if (stale === undefined) throw new Error("no file");
  const uploadId = await hold(service, files[0]?.id ?? "", "held");
  const all = files.map((file, at) => change(file, at === 0 ? { uploadId } : { name: `renamed ${at}` }));
  const now = (
    await service.handlers.files.update(
      { params: { fileId: stale.id }, headers: {}, body: { name: "by another" } },
      caller(),
    )
  ).reply.body.file;
  const before = await state(files);
  const refusal = await refusalOf(commit(service, { vaultId: stale.vaultId, changes: all }));
  expect(refusal).toEqual({ code: "precondition_failed", id: stale.id, tag: tagOf(now) });
  expect(await state(files)).toEqual(before);
  // what was held is held still
  expect((await headOf(service, uploadId))["File-Id"]).toBeUndefined();
  const again = all.map((one) => (one.id === stale.id ? { ...one, ifMatch: refusal.tag ?? "" } : one));
  expect(await commit(service, { vaultId: stale.vaultId, changes: again })).toHaveLength(100);
  expect((await headOf(service, uploadId))["File-Id"]).toBe(files[0]?.id);
});

test("[D5-commit-condition] only the tag of the whole file counts: neither its revision, nor its content alone", async () => {
  const file = await storeFile(service, "a");
  const etag = `"sha256-${Buffer.from(file.sha256, "hex").toString("base64url")}"`;
  for (const ifMatch of [`"${file.revision}"`, etag, `W/${tagOf(file)}`])
    expect(
      await codeOf(commit(service, { vaultId: file.vaultId, changes: [{ id: file.id, ifMatch, name: "b" }] })),
    ).toBe("precondition_failed");
  expect(
    await codeOf(commit(service, { vaultId: file.vaultId, changes: [{ id: file.id, ifMatch: "none", name: "b" }] })),
  ).toBe("validation_failed");
  const newest = { id: file.id, ifMatch: "*", name: "b" };
  expect(await codeOf(commit(service, { vaultId: file.vaultId, changes: [newest] }))).toBe("ok");
});

test("[D5-commit-once] a file stands in one change, and a change makes sense by itself", async () => {
  const [a, b] = [await storeFile(service, "a"), await storeFile(service, "b")];
  const before = await state([a, b]);
  const uploadId = await hold(service, a.id, "held");
  const wrong: readonly (readonly Omit<Change, "id" | "ifMatch">[])[] = [
    [{ name: "x" }, { trash: true }],
    [{ name: "x", trash: true }],
    [{ folderId: null, trash: true }],
    [{ uploadId, trash: true }],
    [{}],
  ];
  for (const of of wrong) {
    const refusal = await refusalOf(
      commit(service, {
        vaultId: a.vaultId,
        changes: [change(b, { name: "b2" }), ...of.map((what) => change(a, what))],
      }),
    );
    expect(refusal, JSON.stringify(of)).toMatchObject({ code: "validation_failed", id: a.id });
  }
  expect(await state([a, b])).toEqual(before);
});

test("[D5-commit-reach] an item of another vault, of another account, in the trash, unknown, and a folder end the commit", async () => {
  const other = await vaultNamed("Other");
  const stranger = await service.addAccount();
  const a = await storeFile(service, "a");
  const elsewhere = await storeFile(service, "e", { vaultId: other.id });
  const foreign = (
    await service.handlers.files.upload(
      { query: { name: "s" }, headers: {}, body: bodyOf("12345") },
      contextOf(stranger),
    )
  ).reply.body.file;
  const trashed = await storeFile(service, "t");
  await service.handlers.files.delete({ params: { fileId: trashed.id }, query: {}, headers: {} }, caller());
  const folder = await folderNamed("f");
  const there = (await service.handlers.folders.create({ body: { name: "there", vaultId: other.id } }, caller())).reply
    .body.folder;
  const before = await state([a, elsewhere]);
  const cases = [
    [elsewhere.id, "different_vault"],
    [foreign.id, "not_found"],
    [trashed.id, "trashed"],
    [randomUUID(), "not_found"],
    [folder.id, "not_found"],
  ] as const;
  for (const [id, code] of cases) {
    for (const what of [{ name: "x" }, { trash: true as const }]) {
      const all = [change(a, { name: "a2" }), { id, ifMatch: "*", ...what }];
      expect(await refusalOf(commit(service, { vaultId: a.vaultId, changes: all }))).toMatchObject({ code, id });
    }
  }
  // named by the wrong vault, or by one that is not theirs
  expect(await codeOf(commit(service, { vaultId: other.id, changes: [change(a, { name: "a2" })] }))).toBe(
    "different_vault",
  );
  expect(await codeOf(commit(service, { vaultId: a.vaultId, changes: [change(a, { name: "a2" })] }, stranger))).toBe(
    "not_found",
  );
  // into a folder of another vault
  expect(await codeOf(commit(service, { vaultId: a.vaultId, changes: [change(a, { folderId: there.id })] }))).toBe(
    "different_vault",
  );
  expect(await state([a, elsewhere])).toEqual(before);
});

async function keyOf(more: Partial<Principal> = {}): Promise<Principal> {
  const keyId = await insertTestKey(service.database, service.owner.accountId, service.clock.now());
  return { ...service.owner, keyId, ...more };
}

test("[D5-commit-reach] a key that is limited to vaults commits in those alone", async () => {
  const other = await vaultNamed("Other");
  const a = await storeFile(service, "a");
  const limited = await keyOf({ vaultIds: new Set([other.id]) });
  const body = { vaultId: a.vaultId, changes: [change(a, { name: "b" })] };
  expect(await codeOf(commit(service, body, limited))).toBe("not_found");
  expect(await codeOf(commit(service, { ...body, vaultId: other.id }, limited))).toBe("not_found");
  expect((await get(a.id)).name).toBe("a");
});

test("[D5-held-upload] bytes that are held make nothing by themselves, answer repeats, and count until they are freed", async () => {
  await using small = await openTestService({ environment: { SERVICE_PRO_STORAGE_BYTES: "30" } });
  const file = await storeFile(small, "a");
  const id = await hold(small, file.id, "0123456789", { sent: 4 });
  const rest = { params: { uploadId: id }, headers: { "tus-resumable": "1.0.0", "upload-offset": 4 } };
  for (const _ of ["first", "again"]) {
    const body = bodyOf("456789", { contentType: "application/offset+octet-stream" });
    const answer = (await small.handlers.uploads.append({ ...rest, body }, contextOf(small.owner))) as {
      headers: Record<string, string>;
    };
    expect(answer.headers).toMatchObject({ "Upload-Offset": "10" });
    expect(answer.headers["File-Id"]).toBeUndefined();
  }
  const other = bodyOf("45678X", { contentType: "application/offset+octet-stream" });
  expect(await codeOf(small.handlers.uploads.append({ ...rest, body: other }, contextOf(small.owner)))).toBe(
    "offset_mismatch",
  );
  expect(await headOf(small, id)).toMatchObject({ "Upload-Offset": "10", "Upload-Length": "10" });
  expect(await usageOf(small, small.owner.accountId)).toEqual({ bytes: 5, files: 1 });
  // 5 used and 10 held of 30: 16 more do not fit
  expect(await codeOf(hold(small, file.id, "x".repeat(16)))).toBe("storage_quota");
  await terminate(small, id);
  expect(await codeOf(headOf(small, id))).toBe("not_found");
  expect(await codeOf(hold(small, file.id, "x".repeat(16)))).toBe("ok");
  const queued = await small.database.all(
    small.database.build.selectFrom("blob_deletions").select(["bytes", "reason"]),
  );
  expect(queued).toEqual([{ bytes: 10, reason: "upload" }]);
});

test("[D5-held-upload] cut off between the blob and the row that says that it is whole, it goes on at the next look", async () => {
  const file = await storeFile(service, "a");
  const uploadId = await hold(service, file.id, "0123456789", { sent: 4 });
  const headers = { "tus-resumable": "1.0.0", "upload-offset": 4 };
  const body = bodyOf("456789", { contentType: "application/offset+octet-stream" });
  const recheck = () => Promise.reject(new ServiceError("invalid_credential"));
  const cut = service.handlers.uploads.append(
    { params: { uploadId }, headers, body },
    contextOf(service.owner, { recheck }),
  );
  expect(await codeOf(cut)).toBe("invalid_credential");
  const body2 = { vaultId: file.vaultId, changes: [change(file, { uploadId })] };
  expect(await codeOf(commit(service, body2))).toBe("validation_failed");
  expect(await headOf(service, uploadId)).toMatchObject({ "Upload-Offset": "10" });
  expect(await commit(service, body2)).toMatchObject([{ size: 10 }]);
  expect(await contentOf(file.id)).toBe("0123456789");
});

test("[D5-held-upload] it names a file that its sender may write to, keeps what is replaced, and is no larger than a commit", async () => {
  const file = await storeFile(service, "a");
  const stranger = await service.addAccount();
  expect(await codeOf(hold(service, file.id, "x", { as: stranger }))).toBe("not_found");
  expect(await codeOf(hold(service, randomUUID(), "x"))).toBe("not_found");
  expect(await codeOf(hold(service, file.id, "x", { metadata: { keep: "false" } }))).toBe("validation_failed");
  expect(await codeOf(hold(service, file.id, "x", { metadata: { held: "yes" } }))).toBe("validation_failed");
  const create = (length: number, metadata: string) =>
    service.handlers.uploads.create(
      {
        headers: { "tus-resumable": "1.0.0", "upload-length": length, "upload-metadata": metadata },
        body: bodyOf("", { length: 0 }),
      },
      caller(),
    );
  const held = `held ${btoa("true")}`;
  expect(await codeOf(create(1, `filename ${btoa("b")},${held}`))).toBe("validation_failed");
  expect(await codeOf(create(MAX_COMMIT_BYTES + 1, `fileId ${btoa(file.id)},${held}`))).toBe("file_too_large");
  expect(await codeOf(create(MAX_COMMIT_BYTES, `fileId ${btoa(file.id)},${held}`))).toBe("ok");
});

test("[D5-commit-held] a commit takes no upload of another file or key, none that is no held one, not whole, used, freed or expired", async () => {
  const [a, b] = [await storeFile(service, "a"), await storeFile(service, "b")];
  const key = await keyOf();
  const plain = await service.handlers.uploads.create(
    {
      headers: { "tus-resumable": "1.0.0", "upload-length": 4, "upload-metadata": `fileId ${btoa(a.id)}` },
      body: bodyOf("", { length: 0 }),
    },
    caller(),
  );
  const used = await hold(service, b.id, "used");
  const [committed] = await commit(service, { vaultId: b.vaultId, changes: [change(b, { uploadId: used })] });
  if (committed === undefined) throw new Error("no file");
  const freed = await hold(service, a.id, "freed");
  await terminate(service, freed);
  const ofB = await hold(service, b.id, "of b");
  const before = await state([a, b]);
  const cases = [
    [ofB, "validation_failed"],
    [await hold(service, a.id, "by a key", { as: key }), "not_found"],
    [(plain.reply.headers["Location"] ?? "").replace("/api/uploads/", ""), "validation_failed"],
    [await hold(service, a.id, "not whole", { sent: 3 }), "validation_failed"],
    [freed, "not_found"],
    [randomUUID(), "not_found"],
  ] as const;
  for (const [uploadId, code] of cases) {
    const all = [change(committed, { name: "b2" }), change(a, { uploadId })];
    expect(await refusalOf(commit(service, { vaultId: a.vaultId, changes: all }))).toMatchObject({ code, id: a.id });
  }
  // used twice: one after the other, and in one commit
  expect(
    await refusalOf(commit(service, { vaultId: b.vaultId, changes: [change(committed, { uploadId: used })] })),
  ).toMatchObject({ code: "not_found", id: b.id });
  const both = [change(committed, { uploadId: ofB }), change(a, { uploadId: ofB })];
  expect(await refusalOf(commit(service, { vaultId: b.vaultId, changes: both }))).toMatchObject({
    code: "validation_failed",
    id: a.id,
  });
  expect(await state([a, b])).toEqual(before);
  const late = await hold(service, a.id, "late");
  service.clock.advance(24 * HOUR);
  expect(await codeOf(commit(service, { vaultId: a.vaultId, changes: [change(a, { uploadId: late })] }))).toBe(
    "upload_expired",
  );
  service.clock.advance(2 * HOUR);
  await expireUploads(service, new AbortController().signal);
  expect(await codeOf(commit(service, { vaultId: a.vaultId, changes: [change(a, { uploadId: late })] }))).toBe(
    "not_found",
  );
  const { rows } = await state([a, b]);
  expect(rows).toEqual(before.rows);
});

test("[D5-commit-held] more than 256 MiB of contents in one commit are refused, and said so", async () => {
  const [a, b] = [await storeFile(service, "a"), await storeFile(service, "b")];
  const ids = [await hold(service, a.id, "aa"), await hold(service, b.id, "bb")];
  const { database } = service;
  // As if so much had come: the rows say it.
  await database.run(
    database.build
      .updateTable("uploads")
      .set({ length: MAX_COMMIT_BYTES / 2 })
      .where("id", "=", ids[0] ?? ""),
  );
  await database.run(
    database.build
      .updateTable("uploads")
      .set({ length: MAX_COMMIT_BYTES / 2 + 1 })
      .where("id", "=", ids[1] ?? ""),
  );
  const all = [change(a, { uploadId: ids[0] }), change(b, { uploadId: ids[1] })];
  await expect(commit(service, { vaultId: a.vaultId, changes: all })).rejects.toMatchObject({
    code: "validation_failed",
    message: expect.stringContaining(String(MAX_COMMIT_BYTES)) as string,
  });
});

test("[D5-commit-counts] a budget that the sum exceeds ends the commit; held bytes count as those of any upload until then", async () => {
  const [a, b] = [await storeFile(service, "a"), await storeFile(service, "b")];
  const budget = { id: randomUUID(), limits: { filesPerDay: 3, storedBytes: 20 } };
  const { database } = service;
  const row = { id: budget.id, parent_id: null, stored_bytes: 0 };
  await database.run(database.build.insertInto("budgets").values(row));
  const key = await keyOf({ accessLevel: "agent", budgets: [budget] });
  const first = await hold(service, a.id, "0123456789", { as: key });
  expect(await codeOf(hold(service, b.id, "0123456789x", { as: key }))).toBe("budget_storage");
  const second = await hold(service, b.id, "0123456789", { as: key });
  // The budget is made smaller while they wait: as if another program of the key had used it.
  await database.run(database.build.updateTable("budgets").set({ stored_bytes: 5 }).where("id", "=", budget.id));
  const before = await state([a, b]);
  const all = [change(a, { uploadId: first }), change(b, { uploadId: second })];
  expect(await refusalOf(commit(service, { vaultId: a.vaultId, changes: all }, key))).toMatchObject({
    code: "budget_storage",
    id: b.id,
  });
  expect(await state([a, b])).toEqual(before);
  await database.run(database.build.updateTable("budgets").set({ stored_bytes: 0 }).where("id", "=", budget.id));
  expect(await codeOf(commit(service, { vaultId: a.vaultId, changes: all }, key))).toBe("ok");
  const held = await database.all(database.build.selectFrom("budget_holds").selectAll());
  expect(held).toEqual([]);
  const [stored] = await database.all(database.build.selectFrom("budgets").select("stored_bytes"));
  expect(Number(stored?.stored_bytes)).toBe(20);
});

test("[D5-commit-race] two committers over the same 20 files, again and again: one wins each round as a whole, and the other changes nothing", async () => {
  let files: readonly File[] = [];
  for (let at = 0; at < 20; at += 1) files = [...files, await storeFile(service, `file ${at}`)];
  for (let round = 0; round < 5; round += 1) {
    const attempt = async (who: string) => {
      const all = await Promise.all(
        files.map(async (file, at) =>
          change(
            file,
            at % 2 === 0
              ? { name: `${who} ${round} ${at}` }
              : { uploadId: await hold(service, file.id, `${who} ${round}`) },
          ),
        ),
      );
      return commit(service, { vaultId: files[0]?.vaultId ?? "", changes: who === "one" ? all : all.toReversed() });
    };
    const settled = await Promise.allSettled([attempt("one"), attempt("two")]);
    const won = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const lost = settled.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    expect(won).toHaveLength(1);
    expect(lost).toMatchObject([{ code: "precondition_failed" }]);
    const winner = settled[0].status === "fulfilled" ? "one" : "two";
    files = await Promise.all(files.map(({ id }) => get(id)));
    for (const [at, file] of files.entries())
      if (at % 2 === 0) expect(file.name).toBe(`${winner} ${round} ${at}`);
      else expect(await contentOf(file.id)).toBe(`${winner} ${round}`);
  }
});
