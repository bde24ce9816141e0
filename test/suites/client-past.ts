import { expect, it } from "vitest";
import { sampleBytes, type Accounts } from "./client-subject.ts";

const BYTES = sampleBytes(2001);

/** What files were before, and how they are found. */
export function pastSuite(accounts: () => Accounts): void {
  it("searches by words, type, author and folder, best first [D5-search] [D5-search-words] [D5-search-filters]", async () => {
    const { client } = await accounts().signup();
    const { id: folderId } = await client.folders.create({ name: "papers" });
    const { id: below } = await client.folders.create({ name: "old", parentId: folderId });
    for (const [name, place, contentType] of [
      ["Résumé.pdf", { folderId: below }, "application/pdf"],
      ["summary 1.txt", { folderId }, "text/plain"],
      ["sum.txt", {}, "text/plain"],
    ] as const)
      await client.files.upload({ name, ...place, contentType, body: BYTES });
    const namesOf = async (query: Parameters<typeof client.files.search>[0]) => {
      const { files, nextCursor, complete } = await client.files.search(query);
      expect([nextCursor, complete]).toEqual([null, true]);
      return files.map(({ name }) => name);
    };
    expect(await namesOf({ q: "SÜM" })).toEqual(["sum.txt", "summary 1.txt", "Résumé.pdf"]);
    expect(await namesOf({ q: "txt", type: "text/", minSize: BYTES.length })).toEqual(["sum.txt", "summary 1.txt"]);
    expect(await namesOf({ folderId })).toEqual(["summary 1.txt", "Résumé.pdf"]);
    const [author] = (await client.files.search({ q: "resume", folderId: below })).files;
    expect(await namesOf({ by: author?.createdBy?.id ?? "", q: "resum" })).toEqual(["Résumé.pdf"]);
    const found: string[] = [];
    for await (const { name } of client.files.search({ q: "sum", limit: 1 })) found.push(name);
    expect(found).toEqual(["sum.txt", "summary 1.txt", "Résumé.pdf"]);
    const everywhere = await client.search({ q: "SÜM", by: author?.createdBy?.id ?? "" });
    expect([everywhere.files.map(({ name }) => name), everywhere.complete, everywhere.unsearched]).toEqual([
      ["sum.txt", "summary 1.txt", "Résumé.pdf"],
      true,
      [],
    ]);
    await expect(client.files.search({ q: "?!" })).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("lists, opens, restores and deletes versions, which count until they are gone [D5-versions-list] [D5-versions-content] [D5-versions-restore] [D5-versions-delete] [D5-versions-not-kept]", async () => {
    const { client } = await accounts().signup();
    const { file } = await client.files.upload({ name: "changes", body: "one", contentType: "text/plain" });
    const { file: next } = await client.files.replace(file.id, { body: "three" });
    const { versions } = await client.files.versions(file.id);
    expect(versions.map(({ number, size, how }) => ({ number, size, how }))).toEqual([
      { number: 2, size: 5, how: "replace" },
      { number: 1, size: 3, how: "upload" },
    ]);
    expect(versions.map(({ versionId }) => versionId)).toEqual([next.versionId, file.versionId]);
    expect(versions[1]?.author).toMatchObject({ kind: "api-key", chainAddress: null });
    const days = Date.parse(versions[1]?.expiresAt ?? "") - Date.parse(versions[0]?.createdAt ?? "");
    expect(Math.round(days / 86_400_000)).toBe(30);
    const read = async (versionId: string, range?: { offset: number }) =>
      Buffer.from(await (await client.files.download(file.id, { versionId, range })).bytes()).toString();
    expect(await read(file.versionId)).toBe("one");
    expect(await read(file.versionId, { offset: 1 })).toBe("ne");
    const usage = async () => (await client.account.get()).account.usage;
    expect(await usage()).toEqual({ bytes: 8, files: 1, versionBytes: 3 });
    const restored = await client.files.restoreVersion(file.id, file.versionId);
    expect(restored).toMatchObject({ id: file.id, size: 3, contentType: "text/plain" });
    expect(await client.files.restoreVersion(file.id, file.versionId)).toEqual(restored);
    expect(await usage()).toEqual({ bytes: 8, files: 1, versionBytes: 5 });
    await expect(client.files.deleteVersion(file.id, restored.versionId)).rejects.toMatchObject({
      code: "current_version",
    });
    await client.files.deleteVersion(file.id, next.versionId);
    await expect(read(next.versionId)).rejects.toMatchObject({ code: "not_found" });
    expect(await usage()).toEqual({ bytes: 3, files: 1, versionBytes: 0 });
    await client.files.replace(file.id, { body: "four", keep: false });
    expect(await usage()).toEqual({ bytes: 7, files: 1, versionBytes: 3 });
    const parts = { partBytes: 2 };
    await client.files.replace(file.id, { body: "seven", keep: false }, parts);
    expect(await usage()).toEqual({ bytes: 8, files: 1, versionBytes: 3 });
    expect((await client.files.versions(file.id)).versions.map(({ number }) => number)).toEqual([5, 1]);
  });

  it("keeps the names and places that an item had [D5-entries]", async () => {
    const { client } = await accounts().signup();
    const folder = await client.folders.create({ name: "home" });
    const { file } = await client.files.upload({ name: "wanders", body: BYTES });
    await client.files.update(file.id, { name: "moved", folderId: folder.id });
    const { entries, nextCursor } = await client.files.entries(file.id, { limit: 1 });
    const { entries: older } = await client.files.entries(file.id, { cursor: nextCursor ?? "" });
    expect([...entries, ...older]).toMatchObject([
      { number: 2, name: "moved", folderId: folder.id, how: "move", author: file.createdBy, expiresAt: null },
      { number: 1, name: "wanders", folderId: null, how: "create", author: file.createdBy },
    ]);
    await client.folders.update(folder.id, { name: "away" });
    expect((await client.folders.entries(folder.id)).entries.map(({ name, how }) => [name, how])).toEqual([
      ["away", "rename"],
      ["home", "create"],
    ]);
  });
}
