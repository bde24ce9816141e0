import { randomUUID } from "node:crypto";
import { TUS_PART_TYPE, TUS_VERSION } from "@coffer/contract";
import { describe, expect, test } from "vitest";
import {
  contentOf,
  newUpload,
  nextEntry,
  nextVersion,
  openWriting,
  put,
  tied,
  type Upload,
  type Writing,
} from "../../shared-files.test-kit.ts";
import { newTestVault } from "../../../../drivers/chain/chain.test-kit.ts";
import { between } from "../../../../between.test-kit.ts";
import { addMember, agentOf, addPerson, publishKey, type TestPerson } from "../../../shared-vaults/vaults.test-kit.ts";
import { answerOf, bodyOf, codeOf, contextOf, openTestService, type TestService } from "../../../service.test-kit.ts";
import { membersHandlers } from "../../../members/handlers.ts";
import { uploadsHandlers } from "./handlers.ts";
import { sumHeldBytes } from "../../../holds/store.ts";

const SPOKEN = { "tus-resumable": TUS_VERSION } as const;

function metadataOf(values: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(values)
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key} ${Buffer.from(value).toString("base64")}`]))
    .join(",");
}

/** What goes with a new file of a shared vault. */
function newMetadata({ shared }: Writing, { version, entry }: Upload): Record<string, string> {
  return { vaultId: shared.vaultId, version, ...entry };
}

async function create(
  service: TestService,
  by: TestPerson,
  metadata: Readonly<Record<string, string | undefined>>,
  length: number,
): Promise<string> {
  const headers = { ...SPOKEN, "upload-length": length, "upload-metadata": metadataOf(metadata) };
  const body = bodyOf("", { length: 0 });
  const recorded = await service.handlers.uploads.create({ headers, body }, contextOf(by.principal));
  return (recorded.reply.headers["Location"] ?? "").replace("/api/uploads/", "");
}

async function append(service: TestService, by: TestPerson, uploadId: string, offset: number, bytes: Buffer) {
  const body = bodyOf(bytes, { contentType: TUS_PART_TYPE, chunk: 33 });
  const input = { params: { uploadId }, headers: { ...SPOKEN, "upload-offset": offset }, body };
  const answer = (await service.handlers.uploads.append(input, contextOf(by.principal))) as {
    headers: Record<string, string>;
  };
  return answer.headers;
}

async function head(service: TestService, by: TestPerson, uploadId: string) {
  const input = { params: { uploadId }, headers: SPOKEN };
  const answer = (await service.handlers.uploads.head(input, contextOf(by.principal))) as {
    headers: Record<string, string>;
  };
  return answer.headers;
}

describe("a resumable upload to a shared vault", () => {
  test("[D5-shared-upload] in parts becomes the file that its statements say, for a member of another account too", async () => {
    await using service = await openTestService();
    const { member, ...rest } = await openWriting(service);
    const writing = { ...rest, by: member };
    const upload = newUpload(writing, "name");
    const { bytes, fileId } = upload.file;
    const id = await create(service, member, newMetadata(writing, upload), bytes.length);
    await append(service, member, id, 0, bytes.subarray(0, 20));
    const status = await head(service, member, id);
    expect(status["Upload-Offset"]).toBe("20");
    expect(status["Upload-Metadata"]).not.toContain("filename");
    await append(service, member, id, 20, bytes.subarray(20, 400));
    const done = await append(service, member, id, 400, bytes.subarray(400));
    expect(done["File-Id"]).toBe(fileId);
    expect((await contentOf(service, rest.by, fileId)).bytes.equals(bytes)).toBe(true);
    expect((await head(service, member, id))["File-Id"]).toBe(fileId);
  });

  test("is looked at again while a part of it comes: who is removed meanwhile is cut off", async () => {
    await using service = await openTestService();
    const { member, ...rest } = await openWriting(service);
    const upload = newUpload({ ...rest, by: member }, "name");
    const { bytes } = upload.file;
    const uploadId = await create(service, member, newMetadata(rest, upload), bytes.length);
    const context = contextOf(member.principal);
    const body = bodyOf(bytes.subarray(0, 20), { contentType: TUS_PART_TYPE });
    const headers = { ...SPOKEN, "upload-offset": 0 };
    await service.handlers.uploads.append({ params: { uploadId }, headers, body }, context);
    expect(await codeOf(context.recheck())).toBe("ok");
    service.chain.remove(rest.shared.objectId, member.chainAddress);
    service.clock.advance(5_001);
    expect(await codeOf(context.recheck())).toBe("not_a_member");
  });

  test("makes a new version, with the name's next entry", async () => {
    await using service = await openTestService();
    const { member: _member, ...writing } = await openWriting(service);
    const file = await put(service, writing, "name");
    const next = tied(writing, { ...nextVersion(writing, file), entry: nextEntry(writing, "renamed", file) });
    const { entry } = next;
    const metadata = { fileId: file.id, version: next.version, ...entry };
    const { length } = next.file.bytes;
    expect(await codeOf(create(service, writing.by, { ...metadata, keep: "false" }, length))).toBe("validation_failed");
    const id = await create(service, writing.by, metadata, next.file.bytes.length);
    await append(service, writing.by, id, 0, next.file.bytes);
    const read = await service.handlers.files.get({ params: { fileId: file.id } }, contextOf(writing.by.principal));
    expect(read).toMatchObject({
      file: { versionId: next.file.versionId, shared: { version: next.version, ...entry } },
    });
    const past = { params: { fileId: file.id }, query: {} };
    const { entries } = answerOf(await service.handlers.files.entries(past, contextOf(writing.by.principal)));
    const { version: _version, ...before } = file.shared ?? { version: "" };
    expect(entries.map(({ how, shared }) => [how, shared])).toEqual([
      ["rename", entry],
      ["create", before],
    ]);
  });

  test("[D5-shared-names] takes no name, no type, no plaintext, no other header, no other length", async () => {
    await using service = await openTestService();
    const { member: _member, ...writing } = await openWriting(service);
    const upload = newUpload(writing, "name");
    const { bytes } = upload.file;
    const metadata = newMetadata(writing, upload);
    const begin = (more: Record<string, string | undefined>, length = bytes.length) =>
      codeOf(create(service, writing.by, { ...metadata, ...more }, length));
    expect(await begin({ filename: "plan.pdf" })).toBe("validation_failed");
    expect(await begin({ filetype: "text/plain" })).toBe("validation_failed");
    expect(await begin({ nameIndex: undefined })).toBe("validation_failed");
    expect(await begin({ vaultId: undefined })).toBe("validation_failed");
    expect(await begin({}, 40)).toBe("statement_invalid");
    const { vaultId } = writing.shared;
    expect(await codeOf(create(service, writing.by, { vaultId, filename: "plan.pdf" }, 5))).toBe("not_encrypted");
    const id = await create(service, writing.by, metadata, bytes.length);
    expect(await codeOf(append(service, writing.by, id, 0, Buffer.from("plain text")))).toBe("not_encrypted");
    expect((await head(service, writing.by, id))["Upload-Offset"]).toBe("0");
    await append(service, writing.by, id, 0, bytes.subarray(0, 10));
    expect(await codeOf(append(service, writing.by, id, 10, Buffer.alloc(bytes.length - 10)))).toBe(
      "statement_invalid",
    );
    const offset = Number((await head(service, writing.by, id))["Upload-Offset"]);
    await append(service, writing.by, id, offset, bytes.subarray(offset, 60));
    const broken = Buffer.from(bytes.subarray(60));
    broken[0] = (broken[0] ?? 0) ^ 1;
    expect(await codeOf(append(service, writing.by, id, 60, broken))).toBe("statement_invalid");
    expect(await codeOf(head(service, writing.by, id))).toBe("statement_invalid");
    const { files } = (await service.handlers.files.list({ query: { vaultId } }, contextOf(writing.by.principal))) as {
      files: unknown[];
    };
    expect(files).toEqual([]);
  });

  test("whose generation moves before it is done makes no file: no byte more is taken, and it does not finish", async () => {
    await using service = await openTestService();
    const { member, ...writing } = await openWriting(service);
    const upload = newUpload(writing, "name");
    const { bytes } = upload.file;
    const [begun, whole] = [
      await create(service, writing.by, newMetadata(writing, upload), bytes.length),
      await create(service, writing.by, newMetadata(writing, upload), bytes.length),
    ];
    await append(service, writing.by, begun, 0, bytes.subarray(0, 100));
    service.chain.remove(writing.shared.objectId, member.chainAddress);
    service.clock.advance(1001);
    // The permit of the read that is remembered lets the bytes in; the commit asks anew.
    expect(await codeOf(append(service, writing.by, whole, 0, bytes))).toBe("generation_moved");
    expect(await codeOf(head(service, writing.by, whole))).toBe("generation_moved");
    expect(await codeOf(append(service, writing.by, begun, 100, bytes.subarray(100)))).toBe("generation_moved");
    expect((await head(service, writing.by, begun))["Upload-Offset"]).toBe("100");
    const input = { params: { uploadId: begun }, headers: SPOKEN };
    await service.handlers.uploads.terminate(input, contextOf(writing.by.principal));
  });

  test("is for its signer to go on with, and for the vault's owner to see; a removed member adds nothing", async () => {
    await using service = await openTestService();
    const { member, ...rest } = await openWriting(service);
    const writing = { ...rest, by: member };
    const upload = newUpload(writing, "name");
    const { bytes } = upload.file;
    const id = await create(service, member, newMetadata(writing, upload), bytes.length);
    const others = [await addPerson(service), agentOf(rest.by)];
    for (const other of others) expect(await codeOf(head(service, other, id))).toBe("not_found");
    await head(service, rest.by, id);
    expect(await codeOf(append(service, rest.by, id, 0, bytes))).toBe("statement_invalid");
    expect((await head(service, member, id))["Upload-Offset"]).toBe("0");
    service.chain.remove(rest.shared.objectId, member.chainAddress);
    service.clock.advance(10_001);
    expect(await codeOf(append(service, member, id, 0, bytes))).toBe("not_a_member");
    expect((await head(service, rest.by, id))["Upload-Offset"]).toBe("0");
  });

  test("ends with its signer's record: its bytes are the account's again [M11]", async () => {
    await using service = await openTestService();
    const { member, ...rest } = await openWriting(service);
    const removed = { ...rest, by: member };
    const [begun, done, others] = [newUpload(removed, "begun"), newUpload(removed, "done"), newUpload(rest, "others")];
    const half = await create(service, member, newMetadata(removed, begun), begun.file.bytes.length);
    await append(service, member, half, 0, begun.file.bytes.subarray(0, 100));
    const whole = await create(service, member, newMetadata(removed, done), done.file.bytes.length);
    await append(service, member, whole, 0, done.file.bytes);
    const own = await create(service, rest.by, newMetadata(rest, others), others.file.bytes.length);
    const { accountId } = rest.by.principal;
    const held = () => sumHeldBytes(service.database, { accountId, rowsAfter: service.clock.now() });
    expect(await held()).toBe(begun.file.bytes.length + others.file.bytes.length);
    const { vaultId, objectId } = rest.shared;
    service.chain.remove(objectId, member.chainAddress);
    const input = { params: { vaultId, chainAddress: member.chainAddress } };
    await service.handlers.members.remove(input, contextOf(rest.by.principal));
    expect(await held()).toBe(others.file.bytes.length);
    expect(await codeOf(head(service, rest.by, half))).toBe("not_found");
    const queued = await service.database.all(service.database.build.selectFrom("blob_deletions").select("blob_key"));
    expect(queued).toHaveLength(1);
    expect((await head(service, rest.by, whole))["File-Id"]).toBe(done.file.fileId);
    expect((await head(service, rest.by, own))["Upload-Offset"]).toBe("0");
  });

  test("holds nothing when its signer's record ends while it is begun, nor in an account that the vault has left", async () => {
    await using service = await openTestService();
    const { member, ...rest } = await openWriting(service);
    const { vaultId, objectId } = rest.shared;
    const [heir, removed] = [await addPerson(service), { ...rest, by: member }];
    await addMember(service, rest.shared, heir);
    const begin = (
      by: TestPerson,
      metadata: Record<string, string>,
      length: number,
      happens: () => Promise<unknown>,
    ) => {
      const handlers = uploadsHandlers({ ...service, database: between(service.database, happens) });
      const headers = { ...SPOKEN, "upload-length": length, "upload-metadata": metadataOf(metadata) };
      return codeOf(handlers.create({ headers, body: bodyOf("", { length: 0 }) }, contextOf(by.principal)));
    };
    const end = async () => {
      service.chain.remove(objectId, member.chainAddress);
      const input = { params: { vaultId, chainAddress: member.chainAddress } };
      await service.handlers.members.remove(input, contextOf(rest.by.principal));
    };
    const late = newUpload(removed, "late");
    expect(await begin(member, newMetadata(removed, late), late.file.bytes.length, end)).toBe("not_found");
    const keyId = await publishKey(service, rest.shared, rest.by, 2);
    const staying = { ...rest, by: heir, keyId, generation: 2 };
    const move = async () => {
      const owner = { address: heir.chainAddress, signingKey: heir.publicKey };
      service.chain.set(objectId, { ...newTestVault(owner), generation: 3 });
      await service.handlers.ownership.claim({ params: { vaultId }, body: {} }, contextOf(heir.principal));
    };
    const moved = newUpload(staying, "moved");
    service.clock.advance(1001);
    expect(await begin(heir, newMetadata(staying, moved), moved.file.bytes.length, move)).toBe("generation_moved");
    const uploads = await service.database.all(service.database.build.selectFrom("uploads").select("id"));
    expect(uploads).toEqual([]);
  });

  test("of a member that began very many ends in small steps, and no other's with it", async () => {
    await using service = await openTestService();
    const { member, ...rest } = await openWriting(service);
    const { vaultId, objectId } = rest.shared;
    const writings = [{ ...rest, by: member }, rest];
    for (const writing of writings) {
      const upload = newUpload(writing, "name");
      await create(service, writing.by, newMetadata(writing, upload), upload.file.bytes.length);
    }
    const { database } = service;
    const { build } = database;
    const rows = await database.all(build.selectFrom("uploads").selectAll());
    for (let index = 0; index < 260; index += 1) {
      const copies = rows.map((row) => ({ ...row, id: randomUUID(), blob_key: randomUUID() }));
      await database.run(build.insertInto("uploads").values(copies));
    }
    service.chain.remove(objectId, member.chainAddress);
    let steps = 0;
    const handlers = membersHandlers({ ...service, database: between(database, () => void (steps += 1)) });
    const input = { params: { vaultId, chainAddress: member.chainAddress } };
    await handlers.remove(input, contextOf(rest.by.principal));
    const left = await database.all(build.selectFrom("uploads").select("shared_json"));
    const own = rows.find(({ shared_json }) => shared_json === left[0]?.shared_json);
    expect(left.map(({ shared_json }) => shared_json === own?.shared_json)).toEqual(Array<boolean>(261).fill(true));
    expect(JSON.parse(own?.shared_json ?? "{}")).toMatchObject({ version: expect.any(String) as string });
    expect(await database.all(build.selectFrom("blob_deletions").select("blob_key"))).toHaveLength(261);
    expect(steps).toBeGreaterThan(3);
  });
});
