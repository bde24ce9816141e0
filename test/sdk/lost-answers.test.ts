import type { Client, Middleware } from "@coffer/sdk";
import { describe, expect, it } from "vitest";
import { serviceOfFile } from "../kit/service-here.ts";

const newAccount = serviceOfFile();

/** `losing`: the first answer to a mutation is lost after the service has done it; `between` runs then. */
async function openLossy() {
  const { client, connectWith } = await newAccount();
  const losing = (between: () => Promise<unknown> = () => Promise.resolve()): Client => {
    let lost = false;
    const lose: Middleware = async (request, next) => {
      const answer = await next(request);
      if (lost || request.method === "GET") return answer;
      lost = true;
      await between();
      throw new TypeError("fetch failed");
    };
    return connectWith({ middleware: [lose], retry: { baseDelayMs: 1, maxDelayMs: 2 } });
  };
  return { client, losing };
}

/** `"sha256-<base64url>"` as the service says it. */
async function tagOf(client: Client, fileId: string): Promise<string> {
  const { etag, stream } = await client.files.download(fileId);
  await stream.cancel();
  return etag ?? "";
}

describe("work that was done although its answer was lost is a success", () => {
  it("of a version under a condition, which its own first attempt has ended", async () => {
    const { client, losing } = await openLossy();
    const { file } = await client.files.upload({ name: "a", body: "one" });
    const ifMatch = await tagOf(client, file.id);
    const stored = await losing().files.replace(file.id, { body: "two", ifMatch });
    expect(stored.file).toMatchObject({ id: file.id, size: 3, sha256: stored.sha256 });
    expect(await client.files.get(file.id)).toEqual(stored.file);
  });

  it("also of a version that somebody else has replaced since, which stays", async () => {
    const { client, losing } = await openLossy();
    const { file } = await client.files.upload({ name: "a", body: "one" });
    const ifMatch = await tagOf(client, file.id);
    const theirs = losing(() => client.files.replace(file.id, { body: "three" }));
    const mine = await theirs.files.replace(file.id, { body: "two", ifMatch });
    const now = await client.files.download(file.id);
    expect(new TextDecoder().decode(await now.bytes())).toBe("three");
    const { versions } = await client.files.versions(file.id);
    expect(versions.map(({ versionId }) => versionId)).toEqual([
      (await client.files.get(file.id)).versionId,
      mine.file.versionId,
      file.versionId,
    ]);
  });

  it("of a restored file, with its new name and without", async () => {
    const { client, losing } = await openLossy();
    const { file } = await client.files.upload({ name: "a", body: "one" });
    await client.files.delete(file.id);
    expect(await losing().files.restore(file.id)).toMatchObject({ id: file.id, name: "a", trashedAt: null });
    await client.files.delete(file.id);
    expect(await losing().files.restore(file.id, { name: "b" })).toMatchObject({ name: "b", trashedAt: null });
    await client.files.delete(file.id);
    const renamed = losing(() => client.files.update(file.id, { name: "theirs" }));
    expect(await renamed.files.restore(file.id, { name: "c" })).toMatchObject({ name: "c", trashedAt: null });
    expect(await client.files.get(file.id)).toMatchObject({ name: "theirs" });
  });

  it("of a restored folder, and nothing is done again to what somebody else has made of it", async () => {
    const { client, losing } = await openLossy();
    const vault = await client.vaults.create({ name: "v", type: "public" });
    const folder = await client.folders.create({ vaultId: vault.id, name: "f" });
    await client.folders.delete(folder.id);
    expect(await losing().folders.restore(folder.id)).toMatchObject({ id: folder.id, trashedAt: null });
    await client.folders.delete(folder.id);
    const renamed = losing(() => client.folders.update(folder.id, { name: "theirs" }));
    expect(await renamed.folders.restore(folder.id, { name: "mine" })).toMatchObject({ name: "mine" });
    expect(await client.folders.get(folder.id)).toMatchObject({ name: "theirs" });
  });

  it("of a rename under a condition, of moves, of new files and of what was ended", async () => {
    const { client, losing } = await openLossy();
    const vault = await client.vaults.create({ name: "v", type: "public" });
    const folder = await client.folders.create({ vaultId: vault.id, name: "f" });
    const inner = await client.folders.create({ vaultId: vault.id, name: "g" });
    const made = await losing().files.upload({ vaultId: vault.id, name: "a", body: "one", ifAbsent: true });
    const { revision, tag } = made.file;
    const renamed = await losing().files.update(made.file.id, { name: "b" }, { ifMatch: tag });
    expect(renamed).toMatchObject({ name: "b", revision: revision + 1 });
    const theirs = losing(() => client.files.update(made.file.id, { name: "theirs" }));
    const late = await theirs.files.update(made.file.id, { name: "mine" }, { ifMatch: renamed.tag });
    expect(late).toMatchObject({ name: "mine", revision: revision + 2 });
    expect(await client.files.get(made.file.id)).toMatchObject({ name: "theirs", revision: revision + 3 });
    const options = { ifMatch: inner.tag };
    const moved = await losing().folders.update(inner.id, { parentId: folder.id }, options);
    expect(moved).toMatchObject({ parentId: folder.id, revision: inner.revision + 1 });
    const again = client.folders.update(inner.id, { name: "h" }, options);
    await expect(again).rejects.toMatchObject({ code: "precondition_failed", perhapsDone: false });
    const key = await client.apiKeys.create({ name: "k", scopes: ["files:read"] });
    await losing().apiKeys.revoke(key.id);
    expect(await losing().files.delete(made.file.id, { permanent: true })).toBeNull();
    expect(await losing().vaults.delete(vault.id, { force: true })).toMatchObject({ id: vault.id });
    expect(await losing().vaults.restore(vault.id)).toMatchObject({ id: vault.id, trashedAt: null });
    expect(await losing().vaults.delete(vault.id, { force: true, permanent: true })).toBeNull();
    await expect(client.vaults.get(vault.id)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("a repeat of work that was done does nothing to what others made of it since [S36]", () => {
  it("neither to trash what was brought back, nor to bring back what was trashed, of one and of many", async () => {
    const { client, losing } = await openLossy();
    const { file } = await client.files.upload({ name: "a", body: "one" });
    await losing(() => client.files.restore(file.id)).files.delete(file.id);
    expect((await client.files.get(file.id)).trashedAt).toBeNull();
    await losing(() => client.files.restoreMany([file.id])).files.trashMany([file.id], { idempotencyKey: "trash" });
    expect((await client.files.get(file.id)).trashedAt).toBeNull();
    await client.files.delete(file.id);
    await losing(() => client.files.delete(file.id)).files.restore(file.id);
    expect((await client.files.get(file.id)).trashedAt).not.toBeNull();
    await losing(() => client.files.trashMany([file.id])).files.restoreMany([file.id]);
    expect((await client.files.get(file.id)).trashedAt).not.toBeNull();
  });

  it("nor to a name, a place and an earlier content", async () => {
    const { client, losing } = await openLossy();
    const { file } = await client.files.upload({ name: "a", body: "one" });
    await losing(() => client.files.update(file.id, { name: "theirs" })).files.update(file.id, { name: "mine" });
    expect(await client.files.get(file.id)).toMatchObject({ name: "theirs" });
    const second = await client.files.replace(file.id, { body: "two" });
    const theirs = losing(() => client.files.restoreVersion(file.id, second.file.versionId));
    await theirs.files.restoreVersion(file.id, file.versionId);
    expect(await client.files.get(file.id)).toMatchObject({ sha256: second.sha256 });
    const vault = await client.vaults.create({ name: "v", type: "public" });
    const folder = await client.folders.create({ vaultId: vault.id, name: "f" });
    const there = await client.files.upload({ vaultId: vault.id, name: "b", body: "one" });
    const back = losing(() => client.files.moveMany([there.file.id], null));
    await back.files.moveMany([there.file.id], folder.id);
    expect(await client.files.get(there.file.id)).toMatchObject({ folderId: null });
  });
});

describe("a refusal without an earlier attempt", () => {
  it("stays one, and says that nothing was done", async () => {
    const { client } = await openLossy();
    const { file } = await client.files.upload({ name: "a", body: "one" });
    const condition = { body: "one", ifMatch: '"sha256-other"' };
    await expect(client.files.replace(file.id, condition)).rejects.toMatchObject({
      code: "precondition_failed",
      perhapsDone: false,
    });
    await expect(client.files.restore(file.id)).rejects.toMatchObject({ code: "not_trashed", perhapsDone: false });
  });
});
