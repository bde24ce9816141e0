import { randomUUID } from "node:crypto";
import type { SharedEntry } from "@coffer/contract";
import { describe, expect, test } from "vitest";
import { expireUploads, expireVersions } from "../../jobs/expiry.ts";
import { sweepOrphans } from "../../jobs/sweep.ts";
import { deleteADayLater, jobsOf } from "../../jobs/jobs.test-kit.ts";
import { purgeTrash } from "../../jobs/trash-purge.ts";
import { agentOf, publishKey, type TestPerson } from "../shared-vaults/vaults.test-kit.ts";
import { deleteFileForGood, emptyTrash, prove } from "../deletion/proofs.test-kit.ts";
import { answerOf, codeOf, contextOf, openTestService, outcomes } from "../service.test-kit.ts";
import { KEPT_OF_AUTHOR } from "../items/keeping.ts";
import {
  contentOf,
  countBlobs,
  encryptedFile,
  entryOf,
  nextEntry,
  nextVersion,
  openWriting,
  put,
  replace,
  tied,
  usageOf,
  versionOf,
} from "./shared-files.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestService);
const writing = ofEachTest(() => openWriting(service));

const DAY = 24 * 60 * 60_000;
const going = new AbortController().signal;

describe("a new version", () => {
  test("[D5-versions-shared] follows the one before; that one stays for 30 days, is counted, and then goes with its bytes [E4]", async () => {
    const first = await put(service, writing, "name");
    const old = await contentOf(service, writing.member, first.id);
    const next = nextVersion({ ...writing, by: writing.member }, first);
    const second = await replace(service, { ...writing, by: writing.member }, next);
    expect(second).toMatchObject({ versionId: next.file.versionId, size: next.file.bytes.length });
    expect(second.shared).toMatchObject({ version: next.version, entry: first.shared?.entry });
    expect((await contentOf(service, writing.member, first.id)).bytes.equals(next.file.bytes)).toBe(true);
    const kept = await contentOf(service, writing.member, first.id, first.versionId);
    expect(kept.bytes.equals(old.bytes)).toBe(true);
    expect(kept.headers["ETag"]).toBe(old.headers["ETag"]);
    const owner = writing.shared.owner.principal;
    const counted = () => usageOf(service, owner.accountId);
    expect(await counted()).toEqual({ bytes: first.size + second.size, files: 1 });
    const { build } = service.database;
    const versions = build
      .selectFrom("accounts")
      .select("usage_version_bytes as bytes")
      .where("id", "=", owner.accountId);
    expect(await service.database.first(versions)).toEqual({ bytes: first.size });
    expect(await sweepOrphans(jobsOf(service))).toMatchObject({ orphans: 0, dangling: 0 });
    service.clock.advance(30 * DAY - 1);
    expect(await expireVersions(service, going)).toEqual({ expired: 0 });
    service.clock.advance(1);
    expect(await codeOf(contentOf(service, writing.by, first.id, first.versionId))).toBe("not_found");
    expect(await expireVersions(service, going)).toEqual({ expired: 1 });
    expect(await counted()).toEqual({ bytes: second.size, files: 1 });
    service.clock.advance(60_000);
    expect(await deleteADayLater(jobsOf(service))).toEqual({ deleted: 1, failed: 0 });
    expect(await countBlobs(service)).toBe(1);
    expect((await contentOf(service, writing.by, first.id, second.versionId)).bytes.equals(next.file.bytes)).toBe(true);
  });

  test("is refused when it is a replay, skips one, is of another file, or reuses a version's id", async () => {
    const first = await put(service, writing, "name");
    const other = await put(service, writing, "other");
    const second = nextVersion(writing, first);
    await replace(service, writing, second);
    const again = await replace(service, writing, second);
    expect(again.versionId).toBe(second.file.versionId);
    const stale = nextVersion(writing, first);
    expect(await codeOf(replace(service, writing, stale))).toBe("statement_invalid");
    const skipping = nextVersion(writing, again, 4);
    expect(await codeOf(replace(service, writing, skipping))).toBe("statement_invalid");
    const foreign = nextVersion(writing, other);
    const misplaced = { ...foreign, file: { ...foreign.file, fileId: first.id } };
    expect(await codeOf(replace(service, writing, misplaced))).toBe("statement_invalid");
    for (const versionId of [first.versionId, again.versionId]) {
      const reused = encryptedFile({ fileId: first.id, versionId });
      const version = versionOf(writing, reused, { sequence: 3, previous: second.version });
      expect(await codeOf(replace(service, writing, { file: reused, version }))).toBe("statement_invalid");
    }
    expect(await countBlobs(service)).toBe(3);
  });

  test("holds to If-Match, and of two that follow the same one only one wins", async () => {
    const first = await put(service, writing, "name");
    const wrong = replace(service, writing, nextVersion(writing, first), { ifMatch: '"sha256-x"' });
    expect(await codeOf(wrong)).toBe("precondition_failed");
    const both = [writing, { ...writing, by: writing.member }].map((as) =>
      replace(service, as, nextVersion(as, first)),
    );
    expect(await outcomes(both)).toEqual({ ok: 1, statement_invalid: 1 });
    expect(await countBlobs(service)).toBe(2);
  });

  test("may bring the name's next entry along, in the trash too for the owner, who reads there by the version's id", async () => {
    const first = await put(service, writing, "name");
    const second = tied(writing, { ...nextVersion(writing, first), entry: nextEntry(writing, "renamed", first) });
    const renamed = await replace(service, writing, second, second);
    expect(renamed.shared?.nameIndex).not.toBe(first.shared?.nameIndex);
    await service.handlers.files.delete(
      { params: { fileId: first.id }, query: {}, headers: {} },
      contextOf(writing.member.principal),
    );
    service.chain.remove(writing.shared.objectId, writing.member.chainAddress);
    service.clock.advance(10_001);
    const keyId = await publishKey(service, writing.shared, writing.by, 2);
    const rotating = { ...writing, keyId, generation: 2 };
    expect(await codeOf(contentOf(service, writing.by, first.id))).toBe("trashed");
    await contentOf(service, writing.by, first.id, renamed.versionId);
    const third = tied(rotating, {
      ...nextVersion(rotating, renamed, 3),
      entry: nextEntry(rotating, "renamed", renamed, { revision: 3 }),
    });
    const rotated = await replace(service, rotating, third, third);
    expect(rotated).toMatchObject({
      trashedAt: expect.any(String),
      shared: { version: third.version, ...third.entry },
    });
    expect((await contentOf(service, writing.by, first.id, renamed.versionId)).bytes).toHaveLength(renamed.size);
  });

  test("[D5-versions-kept] beyond a hundred drops only versions of its own signer [M3]", async () => {
    const first = await put(service, writing, "name");
    const theirs = { ...writing, by: writing.member };
    let current = await replace(service, theirs, nextVersion(theirs, first, 2));
    const early = current.versionId;
    const mine: string[] = [first.versionId];
    for (let sequence = 3; sequence <= KEPT_OF_AUTHOR + 3; sequence += 1) {
      current = await replace(service, writing, nextVersion(writing, current, sequence));
      mine.push(current.versionId);
    }
    const at = (versionId = "") => codeOf(contentOf(service, writing.by, first.id, versionId));
    expect([await at(mine[0]), await at(mine[1]), await at(mine[2]), await at(early)]).toEqual([
      ...["not_found", "not_found", "ok", "ok"],
    ]);
  });

  test("[D5-owner-proof] ends sooner only with the owner's proof; later needs none", async () => {
    const first = await put(service, writing, "name");
    await replace(service, writing, nextVersion(writing, first));
    const { shared } = writing;
    const keep = async (keepVersionsDays: number | null, proof?: string) => {
      const input = {
        params: { vaultId: shared.vaultId },
        headers: { "coffer-proof": proof },
        body: { keepVersionsDays },
      };
      return answerOf(await service.handlers.vaults.update(input, contextOf(shared.owner.principal))).vault;
    };
    expect(await keep(365)).toMatchObject({ keepVersionsDays: 365 });
    service.clock.advance(31 * DAY);
    expect(await codeOf(contentOf(service, writing.by, first.id, first.versionId))).toBe("ok");
    expect(await codeOf(keep(null))).toBe("owner_proof_required");
    expect(await codeOf(contentOf(service, writing.by, first.id, first.versionId))).toBe("ok");
    expect(await keep(null, await prove(service, shared, "shorten-retention"))).toMatchObject({
      keepVersionsDays: null,
    });
    expect(await codeOf(contentOf(service, writing.by, first.id, first.versionId))).toBe("not_found");
  });

  test("shows what was signed to members, and takes the word of a version that is restored", async () => {
    const first = await put(service, writing, "name");
    const next = nextVersion(writing, first);
    await replace(service, writing, next, { restores: first.versionId });
    const list = (as: TestPerson) =>
      service.handlers.files.versions({ params: { fileId: first.id }, query: {} }, contextOf(as.principal));
    const { versions } = answerOf(await list(writing.member));
    expect(versions.map(({ how, shared: said }) => [how, said?.version])).toEqual([
      ["restore", next.version],
      ["upload", first.shared?.version],
    ]);
    const params = { fileId: first.id, sourceId: first.versionId };
    const plain = service.handlers.files.restoreVersion(
      { headers: {}, params, body: undefined },
      contextOf(writing.by.principal),
    );
    expect(await codeOf(Promise.resolve(plain))).toBe("validation_failed");
  });

  test("of a deleted file goes with it: no version of it is readable or stays on the disk", async () => {
    const first = await put(service, writing, "name");
    await replace(service, writing, nextVersion(writing, first));
    const proof = await prove(service, writing.shared, "delete-file", { fileId: first.id });
    await deleteFileForGood(service, first.id, { proof, as: writing.by.principal });
    service.clock.advance(60_000);
    expect(await deleteADayLater(jobsOf(service))).toEqual({ deleted: 2, failed: 0 });
    expect(await countBlobs(service)).toBe(0);
    await expireUploads(service, going);
  });
});

async function update(
  by: TestPerson,
  fileId: string,
  body: { name?: string; folderId?: string | null; shared?: SharedEntry },
) {
  const input = { params: { fileId }, headers: {}, body };
  return answerOf(await service.handlers.files.update(input, contextOf(by.principal))).file;
}

async function folder(name: string, parentId: string | null = null) {
  const entry = entryOf(writing, name, { kind: "folder", id: randomUUID(), folderId: parentId });
  const body = { vaultId: writing.shared.vaultId, parentId, shared: entry };
  return answerOf(await service.handlers.folders.create({ body }, contextOf(writing.by.principal))).folder;
}

describe("a name or a place", () => {
  test("changes with an entry that says so, and with nothing less", async () => {
    const file = await put(service, writing, "name");
    const taken = await put(service, writing, "taken");
    const inside = await folder("folder");
    const by = writing.member;
    const as = { ...writing, by };
    expect(await codeOf(update(by, file.id, { name: "clear" }))).toBe("validation_failed");
    expect(await codeOf(update(by, file.id, { folderId: inside.id }))).toBe("validation_failed");
    const clash = nextEntry(as, "taken", file);
    expect(await codeOf(update(by, file.id, { shared: clash }))).toBe("name_exists");
    const wrongFolder = nextEntry(as, "new", file, { folderId: inside.id });
    expect(await codeOf(update(by, file.id, { shared: wrongFolder }))).toBe("statement_invalid");
    const replayed = nextEntry(as, "new", taken);
    expect(await codeOf(update(by, file.id, { shared: { ...replayed } }))).toBe("statement_invalid");
    const renamed = await update(by, file.id, { shared: nextEntry(as, "new", file) });
    expect(renamed).toMatchObject({ name: "", folderId: null });
    const moving = nextEntry(as, "new", renamed, { revision: 3, folderId: inside.id });
    const moved = await update(by, file.id, { folderId: inside.id, shared: moving });
    expect(moved).toMatchObject({ folderId: inside.id, shared: moving });
    expect(await update(by, file.id, { folderId: inside.id, shared: moving })).toEqual(moved);
  });

  test("comes back from the trash as it was while it fits, and under a new entry when it does not", async () => {
    const inside = await folder("folder");
    const file = await put(service, writing, "name", { folderId: inside.id });
    const context = contextOf(writing.member.principal);
    const trash = () => service.handlers.files.delete({ params: { fileId: file.id }, query: {}, headers: {} }, context);
    const restore = (shared?: SharedEntry) =>
      service.handlers.files.restore({ headers: {}, params: { fileId: file.id }, body: shared && { shared } }, context);
    await trash();
    expect(answerOf(await restore()).file).toMatchObject({ folderId: inside.id, shared: file.shared });
    await trash();
    await service.handlers.folders.delete({ headers: {}, params: { folderId: inside.id } }, context);
    expect(await codeOf(restore())).toBe("names_outdated");
    const entry = nextEntry({ ...writing, by: writing.member }, "name", file);
    expect(answerOf(await restore(entry)).file).toMatchObject({ folderId: null, shared: entry });
  });

  test("of a folder: made again it is the same, renamed and moved with an entry, restored with what lay in it", async () => {
    const context = contextOf(writing.by.principal);
    const outer = await folder("outer");
    const entry = entryOf(writing, "inner", { kind: "folder", id: randomUUID(), folderId: outer.id });
    const body = { vaultId: writing.shared.vaultId, parentId: outer.id, shared: entry };
    const inner = answerOf(await service.handlers.folders.create({ body }, context)).folder;
    expect(inner).toMatchObject({ name: "", parentId: outer.id, shared: entry });
    expect(answerOf(await service.handlers.folders.create({ body }, context)).folder).toEqual(inner);
    expect(await codeOf(folder("inner", outer.id))).toBe("name_exists");
    const change = (shared: SharedEntry | undefined, parentId?: string | null) =>
      service.handlers.folders.update(
        {
          params: { folderId: inner.id },
          headers: {},
          body: { ...(parentId === undefined ? {} : { parentId }), ...(shared && { shared }) },
        },
        context,
      );
    expect(await codeOf(change(undefined, null))).toBe("validation_failed");
    const moving = nextEntry(writing, "inner", inner, { kind: "folder", folderId: null });
    expect(answerOf(await change(moving, null)).folder).toMatchObject({ parentId: null, shared: moving });
    await put(service, writing, "file", { folderId: inner.id });
    await service.handlers.folders.delete({ headers: {}, params: { folderId: inner.id } }, context);
    const restored = await service.handlers.folders.restore(
      { headers: {}, params: { folderId: inner.id }, body: undefined },
      context,
    );
    expect(answerOf(restored).folder).toMatchObject({ trashedAt: null, shared: moving });
    const listed = await service.handlers.files.list({ query: { folderId: inner.id } }, context);
    expect(answerOf(listed).files).toHaveLength(1);
  });

  test("[D5-shared-names] is not looked for by a name in the clear, which would be told by that", async () => {
    const { vaultId } = writing.shared;
    const { id: folderId } = await folder("folder");
    const context = contextOf(writing.by.principal);
    const { files, folders } = service.handlers;
    for (const query of [{ vaultId }, { vaultId, folderId: "root" as const }, { folderId }])
      expect(await codeOf(files.list({ query: { ...query, name: "plan.pdf" } }, context))).toBe("validation_failed");
    for (const query of [{ vaultId }, { parentId: folderId }])
      expect(await codeOf(folders.list({ query: { ...query, name: "plans" } }, context))).toBe("validation_failed");
    const plain = await openWriting(service, { plainNames: true });
    const query = { vaultId: plain.shared.vaultId, name: "plan.pdf" };
    expect(await codeOf(files.list({ query }, contextOf(plain.by.principal)))).toBe("ok");
  });

  test("is found by its index, in its vault, by who sees it", async () => {
    const file = await put(service, writing, "name");
    const { vaultId } = writing.shared;
    const find = async (query: object) =>
      answerOf(await service.handlers.files.list({ query: { vaultId, ...query } }, contextOf(writing.member.principal)))
        .files;
    const nameIndex = file.shared?.nameIndex ?? "";
    expect(await find({ nameIndex, folderId: "root" })).toMatchObject([{ id: file.id }]);
    expect(await find({ nameIndex: "0".repeat(32) })).toEqual([]);
    expect(await codeOf(find({ nameIndex, name: "x" }))).toBe("validation_failed");
  });
});

describe("what is in the trash of a shared vault", () => {
  test("is rotated by its owner alone, entry by entry, and comes back when its folder's entries agree", async () => {
    const context = contextOf(writing.by.principal);
    const outer = await folder("outer");
    const files = [
      await put(service, writing, "a", { folderId: outer.id }),
      await put(service, writing, "b", { folderId: outer.id }),
    ];
    await service.handlers.folders.delete({ headers: {}, params: { folderId: outer.id } }, context);
    service.chain.remove(writing.shared.objectId, writing.member.chainAddress);
    service.clock.advance(10_001);
    const now = { ...writing, keyId: await publishKey(service, writing.shared, writing.by, 2), generation: 2 };
    const agent = agentOf(writing.by);
    service.chain.add(writing.shared.objectId, { address: agent.chainAddress, signingKey: agent.publicKey });
    const entries = files.map((file, index) => nextEntry(now, "ab"[index] ?? "", file, { folderId: outer.id }));
    const [a, b] = files.map(({ id }) => id);
    const named = nextEntry(now, "outer", outer, { kind: "folder" });
    const rename = { params: { folderId: outer.id }, headers: {}, body: { shared: named } };
    expect(await codeOf(service.handlers.folders.update(rename, contextOf(agent.principal)))).toBe("trashed");
    expect(answerOf(await service.handlers.folders.update(rename, context)).folder).toMatchObject({ shared: named });
    expect(await codeOf(update(agent, a ?? "", { shared: entries[0]! }))).toBe("trashed");
    expect(await codeOf(update(writing.by, a ?? "", { folderId: null, shared: entries[0]! }))).toBe("trashed");
    await update(writing.by, a ?? "", { shared: entries[0]! });
    const restore = () =>
      service.handlers.folders.restore({ headers: {}, params: { folderId: outer.id }, body: undefined }, context);
    expect(await codeOf(restore())).toBe("names_outdated");
    await update(writing.by, b ?? "", { shared: entries[1]! });
    await restore();
    const key = { params: { vaultId: writing.shared.vaultId }, query: { folderId: outer.id } };
    expect(await service.handlers.folderNames.get(key, context)).toMatchObject({ keyId: now.keyId });
    await put(service, now, "c", { folderId: outer.id });
    expect(await codeOf(put(service, now, "a", { folderId: outer.id }))).toBe("name_exists");
  });

  test("goes for good with its names' keys and kept versions, emptied by the owner or by age", async () => {
    const context = contextOf(writing.by.principal);
    const fill = async (name: string) => {
      const place = await folder(name);
      const file = await put(service, writing, "file", { folderId: place.id });
      await replace(service, writing, nextVersion(writing, file));
      await service.handlers.folders.delete({ headers: {}, params: { folderId: place.id } }, context);
    };
    const left = async () => {
      const { build } = service.database;
      const keys = await service.database.all(build.selectFrom("folder_keys").selectAll().where("folder_id", "!=", ""));
      return [keys.length, (await service.database.all(build.selectFrom("file_versions").selectAll())).length];
    };
    await fill("emptied");
    expect(await left()).toEqual([1, 1]);
    await emptyTrash(service, writing.shared, { proof: await prove(service, writing.shared, "empty-trash") });
    expect(await left()).toEqual([0, 0]);
    await fill("aged");
    service.clock.advance(31 * DAY);
    expect(await purgeTrash(service, going)).toEqual({ files: 1, folders: 1, vaults: 0 });
    expect(await left()).toEqual([0, 0]);
    service.clock.advance(60_000);
    await deleteADayLater(jobsOf(service));
    expect(await countBlobs(service)).toBe(0);
  });
});
