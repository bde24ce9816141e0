import { randomUUID } from "node:crypto";
import { TUS_PART_TYPE, TUS_VERSION } from "@coffer/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Principal } from "../../handler.ts";
import {
  entryOf,
  headersOf,
  newUpload,
  nextEntry,
  nextVersion,
  openWriting,
  put,
} from "../files/shared-files.test-kit.ts";
import { answerOf, bodyOf, codeOf, contextOf, openTestService, type TestService } from "../service.test-kit.ts";
import { addMember, addPerson, agentOf, openSharedVault, publishKey, type TestPerson } from "./vaults.test-kit.ts";
import { signRecord } from "./statements.test-kit.ts";

const SPOKEN = { "tus-resumable": TUS_VERSION } as const;
const rendered = (values: object): string =>
  Object.entries(values)
    .map(([key, value]) => `${key} ${Buffer.from(String(value)).toString("base64")}`)
    .join(",");

/** A vault that its owner keeps apart: a file in a folder, and an upload that has begun. */
async function openApart(service: TestService, owner: TestPerson) {
  const shared = await openSharedVault(service, { owner });
  const writing = { shared, by: owner, keyId: await publishKey(service, shared, owner) };
  const context = contextOf(owner.principal);
  const entry = entryOf(writing, "folder", { kind: "folder", id: randomUUID() });
  const created = await service.handlers.folders.create({ body: { vaultId: shared.vaultId, shared: entry } }, context);
  const { folder } = answerOf(created);
  const file = await put(service, writing, "file", { folderId: folder.id });
  const upload = newUpload(writing, "upload");
  const headers = {
    ...SPOKEN,
    "upload-length": upload.file.bytes.length,
    "upload-metadata": rendered({ vaultId: shared.vaultId, version: upload.version, ...upload.entry }),
  };
  const begun = await service.handlers.uploads.create({ headers, body: bodyOf("", { length: 0 }) }, context);
  const uploadId = (begun.reply.headers["Location"] ?? "").replace("/api/uploads/", "");
  return { ...writing, folder, file, upload, uploadId };
}

type Apart = Awaited<ReturnType<typeof openApart>>;

/** Every way to a vault, by those who have no part in it, with statements of their own where some are needed. */
const WAYS: Readonly<Record<string, (service: TestService, apart: Apart, by: TestPerson) => Promise<unknown>>> = {
  vault: ({ handlers }, { shared }, by) =>
    handlers.vaults.get({ params: { vaultId: shared.vaultId } }, contextOf(by.principal)),
  members: ({ handlers }, { shared }, by) =>
    handlers.members.list({ params: { vaultId: shared.vaultId } }, contextOf(by.principal)),
  keys: ({ handlers }, { shared }, by) =>
    handlers.vaultKeys.list({ params: { vaultId: shared.vaultId }, query: {} }, contextOf(by.principal)),
  "publishing a key": ({ handlers }, { shared, keyId }, by) => {
    const record = signRecord(by, { vault: shared.objectId, generation: 1 });
    const input = { params: { vaultId: shared.vaultId }, body: { record, replaces: keyId } };
    return handlers.vaultKeys.publish(input, contextOf(by.principal));
  },
  names: ({ handlers }, { shared, folder }, by) =>
    handlers.folderNames.get(
      { params: { vaultId: shared.vaultId }, query: { folderId: folder.id } },
      contextOf(by.principal),
    ),
  staging: ({ handlers }, { file, folder, ...writing }, by) => {
    const entry = nextEntry({ ...writing, by }, "x", file, { folderId: folder.id });
    const body = { folderId: folder.id, keyId: writing.keyId, entries: [entry] };
    return handlers.folderNames.stage({ params: { vaultId: writing.shared.vaultId }, body }, contextOf(by.principal));
  },
  "its files": ({ handlers }, { shared }, by) =>
    handlers.files.list({ query: { vaultId: shared.vaultId } }, contextOf(by.principal)),
  "a folder's files": ({ handlers }, { folder }, by) =>
    handlers.files.list({ query: { folderId: folder.id } }, contextOf(by.principal)),
  "its folders": ({ handlers }, { shared }, by) =>
    handlers.folders.list({ query: { vaultId: shared.vaultId, parentId: "root" } }, contextOf(by.principal)),
  "its trash": ({ handlers }, { shared }, by) =>
    handlers.trash.list({ query: { vaultId: shared.vaultId } }, contextOf(by.principal)),
  "a folder": ({ handlers }, { folder }, by) =>
    handlers.folders.get({ params: { folderId: folder.id } }, contextOf(by.principal)),
  "a folder's change": ({ handlers }, { folder, ...writing }, by) => {
    const shared = nextEntry({ ...writing, by }, "x", folder, { kind: "folder" });
    return handlers.folders.update(
      { params: { folderId: folder.id }, headers: {}, body: { shared } },
      contextOf(by.principal),
    );
  },
  "a folder's end": ({ handlers }, { folder }, by) =>
    handlers.folders.delete({ headers: {}, params: { folderId: folder.id } }, contextOf(by.principal)),
  "a folder in it": ({ handlers }, { folder, ...writing }, by) => {
    const shared = entryOf({ ...writing, by }, "x", { kind: "folder", id: randomUUID(), folderId: folder.id });
    return handlers.folders.create({ body: { parentId: folder.id, shared } }, contextOf(by.principal));
  },
  "a file's new version": ({ handlers }, { file, ...writing }, by) => {
    const next = nextVersion({ ...writing, by }, file);
    const input = {
      params: { fileId: file.id },
      query: {},
      headers: headersOf(next.version),
      body: bodyOf(next.file.bytes),
    };
    return handlers.files.replace(input, contextOf(by.principal));
  },
  "a file's resumable version": ({ handlers }, { file, ...writing }, by) => {
    const next = nextVersion({ ...writing, by }, file);
    const metadata = rendered({ fileId: file.id, version: next.version });
    const headers = { ...SPOKEN, "upload-length": next.file.bytes.length, "upload-metadata": metadata };
    return handlers.uploads.create({ headers, body: bodyOf("", { length: 0 }) }, contextOf(by.principal));
  },
  "a file's description": ({ handlers }, { file }, by) =>
    handlers.files.contentHead(
      { params: { fileId: file.id }, query: { versionId: file.versionId }, headers: {} },
      contextOf(by.principal),
    ),
  "an upload": ({ handlers }, { uploadId }, by) =>
    handlers.uploads.head({ params: { uploadId }, headers: SPOKEN }, contextOf(by.principal)),
  "an upload's bytes": ({ handlers }, { uploadId, upload }, by) => {
    const body = bodyOf(upload.file.bytes, { contentType: TUS_PART_TYPE });
    const headers = { ...SPOKEN, "upload-offset": 0 };
    return handlers.uploads.append({ params: { uploadId }, headers, body }, contextOf(by.principal));
  },
  "an upload's end": ({ handlers }, { uploadId }, by) =>
    handlers.uploads.terminate({ params: { uploadId }, headers: SPOKEN }, contextOf(by.principal)),
};

describe("a vault is not there for those who have no part in it:", () => {
  let service: TestService;
  let apart: Apart;
  const others: Record<string, TestPerson> = {};
  beforeAll(async () => {
    service = await openTestService();
    const { member, ...writing } = await openWriting(service);
    const { owner } = writing.shared;
    apart = await openApart(service, owner);
    const agent = agentOf(owner);
    await addMember(service, writing.shared, agent);
    await addMember(service, apart.shared, agent);
    const former = await addPerson(service);
    await addMember(service, apart.shared, former);
    const { build } = service.database;
    const end = build.updateTable("vault_members").set({ removed_at: 1 });
    await service.database.run(end.where("chain_address", "=", former.chainAddress));
    const limited: Principal = { ...agent.principal, vaultIds: new Set([writing.shared.vaultId]) };
    Object.assign(others, {
      "a member of another vault of the account": member,
      "a stranger": await addPerson(service),
      "a member whose record has ended": former,
      "a member whose key is limited to another vault": { ...agent, principal: limited },
    });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test.each(Object.entries(WAYS))("%s", async (_name, way) => {
    for (const [who, by] of Object.entries(others))
      expect([who, await codeOf(way(service, apart, by))]).toEqual([who, "not_found"]);
    const { file, folder, uploadId } = apart;
    const context = contextOf(apart.by.principal);
    const { files } = answerOf(await service.handlers.files.list({ query: { folderId: folder.id } }, context));
    expect(files).toEqual([file]);
    await service.handlers.uploads.head({ params: { uploadId }, headers: SPOKEN }, context);
  });
});
