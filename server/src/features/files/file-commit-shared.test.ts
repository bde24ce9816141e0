import type { File, SharedEntry } from "@coffer/contract";
import { expect, test } from "vitest";
import { ofEachTest } from "../../each.test-kit.ts";
import { answerOf, bodyOf as bytesOf, codeOf, contextOf, openTestService } from "../service.test-kit.ts";
import { addPerson, publishKey } from "../shared-vaults/vaults.test-kit.ts";
import { type Change, commit, headOf, hold, refusalOf, signedTagOf } from "./file-commit.test-kit.ts";
import {
  contentOf,
  encryptedFile,
  entryOf,
  headersOf,
  nextEntry,
  nextVersion,
  openWriting,
  put,
  tied,
  type Upload,
  versionOf,
  type Writing,
} from "./shared-files.test-kit.ts";

const service = ofEachTest(openTestService);
const writing = ofEachTest(() => openWriting(service));

const change = (file: File, what: Omit<Change, "id" | "ifMatch">): Change => ({
  id: file.id,
  ifMatch: signedTagOf(file),
  ...what,
});
const get = async (id: string): Promise<File> =>
  answerOf(await service.handlers.files.get({ params: { fileId: id } }, contextOf(writing.by.principal))).file;
const bodyOf = (...changes: Change[]) => ({ vaultId: writing.shared.vaultId, changes });

/** The file's next version under that name, signed as one act with its entry. */
function nextUpload(by: Writing, file: File, name: string, folderId: string | null = file.folderId): Upload {
  return tied(by, { ...nextVersion(by, file), entry: nextEntry(by, name, file, { folderId }) });
}

function holdNext(
  { by }: Writing,
  { file, version, entry }: Pick<Upload, "file" | "version"> & { entry?: SharedEntry },
) {
  const metadata = { version, ...entry };
  return hold(service, file.fileId, file.bytes, { as: by.principal, metadata });
}

test("[D5-commit-shared] signed versions, names and places go through together, and names may be swapped", async () => {
  const byMember = { ...writing, by: writing.member };
  const [a, b, c] = [
    await put(service, writing, "a"),
    await put(service, writing, "b"),
    await put(service, writing, "c"),
  ];
  const upload = nextUpload(byMember, a, "b");
  const entry = nextEntry(byMember, "a", b);
  const [first, second, third] = await commit(
    service,
    bodyOf(
      change(a, { uploadId: await holdNext(byMember, upload) }),
      change(b, { shared: entry }),
      change(c, { trash: true }),
    ),
    writing.member.principal,
  );
  expect(first?.shared).toEqual({ version: upload.version, ...upload.entry });
  expect(second?.shared).toMatchObject(entry);
  expect(third?.trashedAt).not.toBeNull();
  const stored = [await get(a.id), await get(b.id), await get(c.id)];
  expect([first, second, third].map((file) => file?.shared)).toEqual(stored.map(({ shared }) => shared));
  expect((await contentOf(service, writing.by, a.id)).bytes.equals(upload.file.bytes)).toBe(true);
});

test("[D5-commit-shared] a version may bring a place along, if its entry names it and the commit says so", async () => {
  const id = encryptedFile().fileId;
  const { member: _member, ...own } = writing;
  const a = await put(service, own, "a");
  const folderEntry = entryOf(own, "f", { kind: "folder", id });
  const made = await service.handlers.folders.create(
    { body: { vaultId: own.shared.vaultId, parentId: null, shared: folderEntry } },
    contextOf(own.by.principal),
  );
  const { folder } = made.reply.body;
  const moved = nextUpload(own, a, "a", folder.id);
  const uploadId = await holdNext(own, moved);
  expect(await refusalOf(commit(service, bodyOf(change(a, { uploadId })), own.by.principal))).toMatchObject({
    code: "statement_invalid",
    id: a.id,
  });
  const [file] = await commit(service, bodyOf(change(a, { uploadId, folderId: folder.id })), own.by.principal);
  expect(file).toMatchObject({ folderId: folder.id, shared: { version: moved.version } });
  // without an entry it stays where it is
  const lone = nextVersion(own, file ?? a, 3);
  const held = await holdNext(own, lone);
  expect(
    await codeOf(commit(service, bodyOf(change(file ?? a, { uploadId: held, folderId: null })), own.by.principal)),
  ).toBe("validation_failed");
});

test("[D5-commit-shared] the loser's statements follow what is gone: nothing of it is stored, and it learns the present tag", async () => {
  const byMember = { ...writing, by: writing.member };
  const [a, b] = [await put(service, writing, "a"), await put(service, writing, "b")];
  const attempt = async (who: Writing, name: string) =>
    commit(
      service,
      bodyOf(
        change(b, { shared: nextEntry(who, `b of ${name}`, b) }),
        change(a, { uploadId: await holdNext(who, nextUpload(who, a, `a of ${name}`)) }),
      ),
      who.by.principal,
    );
  const settled = await Promise.all([refusalOf(attempt(writing, "owner")), refusalOf(attempt(byMember, "member"))]);
  const now = await get(b.id);
  expect(settled.map(({ code }) => code).sort()).toEqual(["ok", "precondition_failed"]);
  expect(settled.find(({ code }) => code !== "ok")).toMatchObject({ id: b.id, tag: signedTagOf(now) });
  // Whatever is newest is no way round what was signed.
  const stale = { id: b.id, ifMatch: "*", shared: nextEntry(writing, "again", b) };
  expect(await refusalOf(commit(service, bodyOf(stale), writing.by.principal))).toMatchObject({
    code: "statement_invalid",
    id: b.id,
  });
});

test("[D5-commit-shared] who was removed, a place that is over, statements of two places, and a folder's old key store nothing", async () => {
  const byMember = { ...writing, by: writing.member };
  const [a, b] = [await put(service, writing, "a"), await put(service, writing, "b")];
  const uploadId = await holdNext(byMember, nextUpload(byMember, a, "a2"));
  const all = [change(a, { uploadId }), change(b, { shared: nextEntry(byMember, "b2", b) })];
  const { objectId } = writing.shared;
  service.chain.remove(objectId, writing.member.chainAddress);
  service.clock.advance(60_000);
  expect(await codeOf(commit(service, bodyOf(...all), writing.member.principal))).toBe("not_a_member");
  // The removal is a generation of its own: what was signed before it is of an earlier place.
  const own = [change(a, { shared: nextEntry(writing, "a2", a) })];
  expect(await codeOf(commit(service, bodyOf(...own), writing.by.principal))).toBe("generation_moved");
  const keyId = await publishKey(service, writing.shared, writing.by, 2);
  const later = { ...writing, keyId, generation: 2 };
  const mixed = [change(a, { shared: nextEntry(writing, "a2", a) }), change(b, { shared: nextEntry(later, "b2", b) })];
  expect(await refusalOf(commit(service, bodyOf(...mixed), writing.by.principal))).toMatchObject({
    code: "statement_invalid",
    id: b.id,
  });
  // The names beside it are under the key of before.
  const newer = [change(a, { shared: nextEntry(later, "a2", a) })];
  expect(await refusalOf(commit(service, bodyOf(...newer), writing.by.principal))).toMatchObject({
    code: "names_outdated",
    id: a.id,
  });
  expect([await get(a.id), await get(b.id)]).toEqual([a, b]);
});

test("[D5-held-upload] a shared vault holds encrypted bytes with their statements alone, and gives them to who signed", async () => {
  const byMember = { ...writing, by: writing.member };
  const [a, b] = [await put(service, writing, "a"), await put(service, writing, "b")];
  const upload = nextUpload(writing, a, "a2");
  const { version, entry, file } = upload;
  const as = writing.by.principal;
  expect(await codeOf(hold(service, a.id, file.bytes, { as }))).toBe("not_encrypted");
  expect(
    await codeOf(hold(service, a.id, Buffer.alloc(file.bytes.length), { as, metadata: { version, ...entry } })),
  ).toBe("not_encrypted");
  const other = Buffer.from(file.bytes);
  other[60] = (other[60] ?? 0) ^ 1;
  expect(await codeOf(hold(service, a.id, other, { as, metadata: { version, ...entry } }))).toBe("statement_invalid");
  const uploadId = await holdNext(writing, upload);
  expect(await headOf(service, uploadId, as)).toMatchObject({ "Upload-Offset": String(file.bytes.length) });
  // another member's, and a statement that is about another file than the upload
  expect(await codeOf(commit(service, bodyOf(change(a, { uploadId })), writing.member.principal))).toBe("not_found");
  const ofB = nextUpload(byMember, b, "b2");
  const wrong = await hold(service, a.id, ofB.file.bytes, {
    as: byMember.by.principal,
    metadata: { version: ofB.version, ...ofB.entry },
  });
  expect(await refusalOf(commit(service, bodyOf(change(a, { uploadId: wrong })), byMember.by.principal))).toMatchObject(
    { code: "statement_invalid", id: a.id },
  );
  const stranger = await addPerson(service);
  expect(await codeOf(commit(service, bodyOf(change(a, { uploadId })), stranger.principal))).toBe("not_found");
  expect(await codeOf(commit(service, bodyOf(change(a, { uploadId, shared: entry })), as))).toBe("validation_failed");
  expect(await codeOf(commit(service, bodyOf(change(a, { uploadId, name: "clear" })), as))).toBe("validation_failed");
  expect((await commit(service, bodyOf(change(a, { uploadId })), as))[0]?.shared?.version).toBe(version);
});

test("[D5-commit-shared] with plain names the name comes in the clear, beside the entry that says it", async () => {
  const plain = await openWriting(service, { plainNames: true });
  const unnamed = { ...plain, keyId: "0".repeat(64) };
  const entryFor = (file: Pick<File, "id" | "shared">, name: string, more: object = {}) =>
    nextEntry(unnamed, name, file, more);
  const first = encryptedFile();
  const entry = entryOf(unnamed, "a", { kind: "file", id: first.fileId });
  const upload = tied(plain, { file: first, version: versionOf(plain, first), entry });
  const input = {
    query: { vaultId: plain.shared.vaultId, name: "a" },
    headers: headersOf(upload.version, upload.entry),
    body: bytesOf(first.bytes),
  };
  const { file } = answerOf(await service.handlers.files.upload(input, contextOf(plain.by.principal)));
  const next = tied(plain, { ...nextVersion(plain, file), entry: entryFor(file, "b") });
  const uploadId = await holdNext(plain, next);
  const body = { vaultId: plain.shared.vaultId, changes: [change(file, { uploadId, name: "b" })] };
  expect(await commit(service, body, plain.by.principal)).toMatchObject([{ name: "b", revision: 2 }]);
});
