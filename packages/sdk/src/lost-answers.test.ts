import { describe, expect, it } from "vitest";
import type { Client } from "./client.ts";
import { openService } from "./test-service.ts";
import type { Middleware } from "./transports.ts";

/** `losing`: the first answer to a mutation is lost after the service has done it; `between` runs then. */
async function openLossy() {
  const { client, connect } = await openService();
  const losing = (between: () => Promise<unknown> = () => Promise.resolve()): Client => {
    let lost = false;
    const lose: Middleware = async (request, next) => {
      const answer = await next(request);
      if (lost || request.method === "GET") return answer;
      lost = true;
      await between();
      throw new TypeError("fetch failed");
    };
    return connect({ middleware: [lose], retry: { baseDelayMs: 1, maxDelayMs: 2 } });
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

  it("but not of a version that somebody else has replaced since", async () => {
    const { client, losing } = await openLossy();
    const { file } = await client.files.upload({ name: "a", body: "one" });
    const ifMatch = await tagOf(client, file.id);
    const theirs = losing(() => client.files.replace(file.id, { body: "three" }));
    await expect(theirs.files.replace(file.id, { body: "two", ifMatch })).rejects.toMatchObject({
      code: "precondition_failed",
      perhapsDone: true,
    });
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
    await expect(renamed.files.restore(file.id, { name: "c" })).rejects.toMatchObject({ code: "not_trashed" });
  });

  it("of a restored folder, but not of one that is not what was asked for", async () => {
    const { client, losing } = await openLossy();
    const vault = await client.vaults.create({ name: "v", type: "public" });
    const folder = await client.folders.create({ vaultId: vault.id, name: "f" });
    await client.folders.delete(folder.id);
    expect(await losing().folders.restore(folder.id)).toMatchObject({ id: folder.id, trashedAt: null });
    await client.folders.delete(folder.id);
    const renamed = losing(() => client.folders.update(folder.id, { name: "theirs" }));
    await expect(renamed.folders.restore(folder.id, { name: "mine" })).rejects.toMatchObject({ code: "not_trashed" });
  });

  it("of a rename under a condition, of moves, of new files and of what was ended", async () => {
    const { client, losing } = await openLossy();
    const vault = await client.vaults.create({ name: "v", type: "public" });
    const folder = await client.folders.create({ vaultId: vault.id, name: "f" });
    const inner = await client.folders.create({ vaultId: vault.id, name: "g" });
    const made = await losing().files.upload({ vaultId: vault.id, name: "a", body: "one", ifAbsent: true });
    const { revision } = made.file;
    const renamed = await losing().files.update(made.file.id, { name: "b" }, { ifRevision: revision });
    expect(renamed).toMatchObject({ name: "b", revision: revision + 1 });
    const theirs = losing(() => client.files.update(made.file.id, { name: "theirs" }));
    const late = theirs.files.update(made.file.id, { name: "mine" }, { ifRevision: renamed.revision });
    await expect(late).rejects.toMatchObject({ code: "precondition_failed", perhapsDone: true });
    const options = { ifRevision: inner.revision };
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
