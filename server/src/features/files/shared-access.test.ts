import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { addPerson, agentOf, openSharedVault, publishKey, type TestPerson } from "../shared-vaults/vaults.test-kit.ts";
import { answerOf, codeOf, contextOf, openTestService } from "../service.test-kit.ts";
import {
  contentOf,
  countBlobs,
  entryOf,
  headersOf,
  newUpload,
  openWriting,
  put,
  replace,
  send,
} from "./shared-files.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestService);
const writing = ofEachTest(() => openWriting(service));

async function listOf(person: TestPerson, vaultId: string) {
  return answerOf(await service.handlers.files.list({ query: { vaultId } }, contextOf(person.principal))).files;
}

describe("who may write", () => {
  test("[D5-isolation-members] an agent of the account before it is a member: sees the vault and its list, is refused its content and changes [W2 R11]", async () => {
    const file = await put(service, writing, "name");
    const agent = agentOf(writing.by);
    expect(await listOf(agent, writing.shared.vaultId)).toMatchObject([{ id: file.id, name: "", size: file.size }]);
    expect(await codeOf(contentOf(service, agent, file.id))).toBe("not_a_member");
    expect(await codeOf(put(service, { ...writing, by: agent }, "new"))).toBe("not_a_member");
    const trash = service.handlers.files.delete(
      { params: { fileId: file.id }, query: {}, headers: {} },
      contextOf(agent.principal),
    );
    expect(await codeOf(trash)).toBe("not_a_member");
    service.chain.add(writing.shared.objectId, { address: agent.chainAddress, signingKey: agent.publicKey });
    service.clock.advance(10_001);
    await put(service, { ...writing, by: agent }, "new");
  });

  test("[D5-isolation-404] a stranger finds nothing; a member of one vault reaches no other of the account", async () => {
    const other = await openSharedVault(service, { owner: writing.shared.owner });
    const keyId = await publishKey(service, other, other.owner);
    const hidden = await put(service, { shared: other, by: other.owner, keyId }, "hidden");
    const stranger = await addPerson(service);
    const seen = await put(service, writing, "seen");
    for (const [person, fileId] of [
      [writing.member, hidden.id],
      [stranger, seen.id],
      [stranger, hidden.id],
    ] as const) {
      const context = contextOf(person.principal);
      expect(await codeOf(contentOf(service, person, fileId))).toBe("not_found");
      expect(await codeOf(service.handlers.files.get({ params: { fileId } }, context))).toBe("not_found");
      expect(await codeOf(service.handlers.files.delete({ params: { fileId }, query: {}, headers: {} }, context))).toBe(
        "not_found",
      );
      expect(
        await codeOf(service.handlers.files.restore({ headers: {}, params: { fileId }, body: undefined }, context)),
      ).toBe("not_found");
      const change = service.handlers.files.update({ params: { fileId }, headers: {}, body: { name: "x" } }, context);
      expect(await codeOf(change)).toBe("not_found");
    }
    expect(await codeOf(put(service, { shared: other, by: writing.member, keyId }, "x"))).toBe("not_found");
    expect(await codeOf(put(service, { ...writing, by: stranger }, "x"))).toBe("not_found");
  });

  test("[D5-shared-authorised] a removed member is refused content within ten seconds, and its upload when its vault's generation moves [R1 E2 E13]", async () => {
    const file = await put(service, { ...writing, by: writing.member }, "before");
    service.chain.remove(writing.shared.objectId, writing.member.chainAddress);
    service.clock.advance(10_001);
    expect(await codeOf(contentOf(service, writing.member, file.id))).toBe("not_a_member");
    expect(await codeOf(put(service, { ...writing, by: writing.member }, "after"))).toBe("not_a_member");
    // The owner's own statements are of the old generation now.
    expect(await codeOf(put(service, writing, "after"))).toBe("generation_moved");
    const keyId = await publishKey(service, writing.shared, writing.by, 2);
    expect(await codeOf(put(service, { ...writing, keyId, generation: 2 }, "after"))).toBe("names_outdated");
  });

  test.each([false, true])(
    "[D5-isolation-members] a removed member of another account is shown nothing that lies in the vault within ten seconds, recorded or not (plain names: %s) [W3 R1]",
    async (plainNames) => {
      const { member, ...writing } = await openWriting(service, { plainNames });
      const { vaultId, objectId } = writing.shared;
      const keyId = plainNames ? "0".repeat(64) : writing.keyId;
      const context = contextOf(member.principal);
      const { files, folders, trash } = service.handlers;
      const body = {
        vaultId,
        ...(plainNames ? { name: "plans" } : {}),
        shared: entryOf({ ...writing, keyId }, "plans", { kind: "folder", id: randomUUID() }),
      };
      const folder = answerOf(await folders.create({ body }, contextOf(writing.by.principal))).folder;
      const params = { folderId: folder.id };
      const ways: Record<string, () => Promise<unknown>> = {
        "the list": () => listOf(member, vaultId),
        "a folder's list": () => Promise.resolve(files.list({ query: { folderId: folder.id } }, context)),
        "the folders": () => Promise.resolve(folders.list({ query: { vaultId } }, context)),
        "a folder's folders": () => Promise.resolve(folders.list({ query: { parentId: folder.id } }, context)),
        "the folder": () => Promise.resolve(folders.get({ params }, context)),
        "a change of the folder to what it is": () =>
          Promise.resolve(folders.update({ params, headers: {}, body: {} }, context)),
        "the folder made again": () => Promise.resolve(folders.create({ body }, context)),
        "the trash": () => Promise.resolve(trash.list({ query: { vaultId } }, context)),
      };
      if (plainNames) {
        ways["a search"] = () => Promise.resolve(files.search({ query: { vaultId } }, context));
        ways["a search below a folder"] = () =>
          Promise.resolve(files.search({ query: { folderId: folder.id } }, context));
      } else {
        const upload = newUpload(writing, "name");
        const file = await send(service, writing, upload);
        const params = { fileId: file.id };
        ways["the file"] = () => Promise.resolve(files.get({ params }, context));
        ways["a change of the file to what it is"] = () =>
          Promise.resolve(files.update({ params, headers: {}, body: {} }, context));
        ways["its upload again"] = () => send(service, { ...writing, by: member }, upload);
        ways["its version again"] = () => replace(service, { ...writing, by: member }, upload, { entry: upload.entry });
      }
      const outcomesOf = async () => {
        const told: [way: string, code: string][] = [];
        for (const [way, see] of Object.entries(ways)) told.push([way, await codeOf(see())]);
        return told;
      };
      const all = (code: string) => Object.keys(ways).map((way) => [way, code]);
      expect(await outcomesOf()).toEqual(all("ok"));
      service.chain.remove(objectId, member.chainAddress);
      service.clock.advance(10_001);
      expect(await outcomesOf()).toEqual(all("not_a_member"));
      // An agent of the account itself goes on seeing that there is something.
      expect(await listOf(agentOf(writing.by), vaultId)).toHaveLength(plainNames ? 0 : 1);
    },
  );

  test("a generation that moves while the bytes come stops the commit, and nothing stays [E8]", async () => {
    const upload = newUpload(writing, "slow");
    const removing = async function* () {
      yield upload.file.bytes.subarray(0, 100);
      service.chain.remove(writing.shared.objectId, writing.member.chainAddress);
      service.clock.advance(1001);
      yield upload.file.bytes.subarray(100);
    };
    const body = { stream: removing(), length: upload.file.bytes.length, contentType: null };
    const query = { vaultId: writing.shared.vaultId };
    const sent = service.handlers.files.upload(
      { query, headers: headersOf(upload.version, upload.entry), body },
      contextOf(writing.by.principal),
    );
    expect(await codeOf(sent)).toBe("generation_moved");
    expect(await countBlobs(service)).toBe(0);
  });

  test("[D5-shared-authorised] a chain that does not answer refuses everyone but the owner's reading [N11]", async () => {
    const file = await put(service, writing, "name");
    service.clock.advance(60_000);
    for (const [fault, code] of [
      [{ skew: 31_000 }, "clock_skew"],
      [{ skew: -31_000 }, "clock_skew"],
      [{ skew: 0, down: true }, "chain_unavailable"],
    ] as const) {
      Object.assign(service.chain, fault);
      await contentOf(service, writing.by, file.id);
      expect(await codeOf(contentOf(service, writing.member, file.id))).toBe(code);
      expect(await codeOf(put(service, writing, "new"))).toBe(code);
      expect(await codeOf(listOf(writing.member, writing.shared.vaultId))).toBe(code);
      expect(await listOf(writing.by, writing.shared.vaultId)).toHaveLength(1);
    }
  });

  test("a member deletes nothing for good, also with the owner's level in its own account, and empties no trash [M6]", async () => {
    const file = await put(service, writing, "name");
    const context = contextOf(writing.member.principal);
    const permanent = { params: { fileId: file.id }, query: { permanent: true }, headers: {} };
    expect(await codeOf(service.handlers.files.delete(permanent, context))).toBe("owner_only");
    const { vaultId } = writing.shared;
    expect(await codeOf(service.handlers.trash.empty({ query: { vaultId }, headers: {} }, context))).toBe("owner_only");
    await service.handlers.files.delete({ params: { fileId: file.id }, query: {}, headers: {} }, context);
    const trash = answerOf(await service.handlers.trash.list({ query: { vaultId } }, context));
    expect(trash.files).toMatchObject([{ id: file.id }]);
    // Who has restored it reads it; until then its owner alone does, who rotates there.
    expect(await codeOf(contentOf(service, writing.member, file.id, file.versionId))).toBe("trashed");
  });

  test("who is no member changes nothing that goes unsigned either: the trash, and the way back from it", async () => {
    const { files, folders } = service.handlers;
    const owner = contextOf(writing.by.principal);
    const file = await put(service, writing, "name");
    const makeFolder = async (name: string) => {
      const shared = entryOf(writing, name, { kind: "folder", id: randomUUID() });
      const body = { vaultId: writing.shared.vaultId, shared };
      return answerOf(await folders.create({ body }, owner)).folder.id;
    };
    const [folderId, gone] = [await makeFolder("folder"), await makeFolder("gone")];
    await files.delete({ params: { fileId: file.id }, query: {}, headers: {} }, owner);
    await folders.delete({ headers: {}, params: { folderId: gone } }, owner);
    service.chain.remove(writing.shared.objectId, writing.member.chainAddress);
    service.clock.advance(10_001);
    for (const { principal } of [writing.member, agentOf(writing.by)]) {
      const context = contextOf(principal);
      const acts = [
        files.restore({ headers: {}, params: { fileId: file.id }, body: undefined }, context),
        folders.delete({ headers: {}, params: { folderId } }, context),
        folders.restore({ headers: {}, params: { folderId: gone }, body: undefined }, context),
      ];
      expect(await Promise.all(acts.map(codeOf))).toEqual(["not_a_member", "not_a_member", "not_a_member"]);
    }
    const trash = await service.handlers.trash.list({ query: { vaultId: writing.shared.vaultId } }, owner);
    expect(answerOf(trash).files).toMatchObject([{ id: file.id }]);
  });
});
