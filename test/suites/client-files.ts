import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { sampleBytes, type Accounts } from "./client-subject.ts";

const BYTES = sampleBytes(200_001);
const SHA256 = createHash("sha256").update(BYTES).digest("hex");
const ETAG = `"sha256-${createHash("sha256").update(BYTES).digest("base64url")}"`;

/** Files as rows and as bytes that fit into one request. */
export function filesSuite(accounts: () => Accounts): void {
  it("stores bytes and gives them back with their digest [D5-content-get] [D5-content-digest] [D5-content-disposition] [D5-default-vault]", async () => {
    const { client } = await accounts().signup();
    const name = "Ré sumé – 漢字 (1).txt";
    const { file, bytes, sha256 } = await client.files.upload({ name, contentType: "text/plain", body: BYTES });
    expect({ bytes, sha256 }).toEqual({ bytes: BYTES.length, sha256: SHA256 });
    expect(file).toMatchObject({ name, contentType: "text/plain", size: BYTES.length, sha256: SHA256, folderId: null });
    const download = await client.files.download(file.id);
    expect(download).toMatchObject({
      size: BYTES.length,
      sha256: SHA256,
      name,
      range: { offset: 0, length: BYTES.length },
      etag: ETAG,
    });
    expect(Buffer.compare(await download.bytes(), BYTES)).toBe(0);
  });

  it("stores many files in few requests, each with its own outcome [D5-batch]", async () => {
    const { client } = await accounts().signup();
    const folder = await client.folders.create({ name: "many" });
    const large = Buffer.alloc(300 * 1024, 7);
    const names = Array.from({ length: 230 }, (_, at) => `résumé ${String(at)}`);
    const first = names.map((name) => ({ name, folderId: folder.id, body: name, contentType: "text/plain" }));
    const stored = (await client.files.uploadMany(first))[99]?.result;
    // Batches are on their way side by side, so what is in the way of others was stored before.
    const inputs = [
      ...names.map((name) => ({ name: `${name} more`, folderId: folder.id, body: name })),
      { name: "résumé 7", folderId: folder.id, body: "again" },
      { name: "résumé 7", folderId: folder.id, body: "again", ifAbsent: true },
      { name: "a/b", folderId: folder.id, body: "" },
      { name: "large", folderId: folder.id, body: large },
    ];
    const seen: number[] = [];
    const outcomes = await client.files.uploadMany(inputs, { onProgress: ({ files }) => void seen.push(files) });
    expect(outcomes.map(({ result, error }) => result?.file.name ?? error?.code)).toEqual([
      ...names.map((name) => `${name} more`),
      ...["name_exists", "precondition_failed", "invalid_request", "large"],
    ]);
    expect(outcomes.at(-1)?.result?.bytes).toBe(large.length);
    expect(seen).toHaveLength(inputs.length);
    expect(stored?.file).toMatchObject({ folderId: folder.id, contentType: "text/plain", size: stored?.bytes });
    expect(Buffer.from(await (await client.files.download(stored?.file.id ?? "")).bytes()).toString()).toBe(
      "résumé 99",
    );
    expect(await client.files.uploadMany([])).toEqual([]);
    const aborted = client.files.uploadMany(inputs, { signal: AbortSignal.abort(new Error("enough")) });
    await expect(aborted).rejects.toThrow();
  });

  it("commits several changes at once, or none of them [D5-commit]", async () => {
    const { client } = await accounts().signup();
    const folder = await client.folders.create({ name: "committed" });
    const files = [];
    for (const name of ["a", "b", "c", "d"]) files.push((await client.files.upload({ name, body: name })).file);
    const [a, b, c, d] = files;
    if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error("no file");
    const named = ({ id, tag }: typeof a) => ({ id, ifMatch: tag ?? "" });
    const stale = { ...named(d), ifMatch: named(a).ifMatch };
    const swap = [
      { ...named(a), name: "b", body: "new content" },
      { ...named(b), name: "a", folderId: null },
      { ...named(c), folderId: folder.id },
    ];
    const refused = client.files.commit(a.vaultId, [...swap, { ...stale, trash: true as const }]);
    await expect(refused).rejects.toMatchObject({
      code: "precondition_failed",
      itemId: d.id,
      currentTag: d.tag,
    });
    for (const file of files) expect(await client.files.get(file.id)).toEqual(file);
    const taken = client.files.commit(a.vaultId, [{ ...named(a), name: "c" }]);
    await expect(taken).rejects.toMatchObject({ code: "name_exists", itemId: a.id });
    const committed = await client.files.commit(a.vaultId, [...swap, { ...named(d), trash: true }]);
    expect(committed.map(({ file, bytes }) => [file.name, file.folderId, file.trashedAt !== null, bytes])).toEqual([
      ["b", null, false, 11],
      ["a", null, false, null],
      ["c", folder.id, false, null],
      ["d", null, true, null],
    ]);
    for (const { file } of committed) expect(await client.files.get(file.id)).toEqual(file);
    const download = await client.files.download(a.id);
    expect(new TextDecoder().decode(await download.bytes())).toBe("new content");
  });

  it("stores an empty file", async () => {
    const { client } = await accounts().signup();
    const { file } = await client.files.upload({ name: "empty", body: new Uint8Array(0) });
    expect(file.size).toBe(0);
    expect(await (await client.files.download(file.id)).bytes()).toHaveLength(0);
  });

  it("reads ranges [D5-content-range]", async () => {
    const { client } = await accounts().signup();
    const { file } = await client.files.upload({ name: "ranged", body: BYTES });
    const read = async (offset: number, length?: number) =>
      (await client.files.download(file.id, { range: { offset, length } })).bytes();
    expect(Buffer.compare(await read(0, 1), BYTES.subarray(0, 1))).toBe(0);
    expect(Buffer.compare(await read(70_000, 1000), BYTES.subarray(70_000, 71_000))).toBe(0);
    expect(Buffer.compare(await read(200_000), BYTES.subarray(200_000))).toBe(0);
    expect(Buffer.compare(await read(199_000, 9_999_999), BYTES.subarray(199_000))).toBe(0);
    await expect(read(BYTES.length)).rejects.toMatchObject({ code: "range_not_satisfiable" });
  });

  it("takes every form of body", async () => {
    const { client } = await accounts().signup();
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (let offset = 0; offset < BYTES.length; offset += 30_000) yield BYTES.subarray(offset, offset + 30_000);
    }
    const blob = new Blob([BYTES as Uint8Array<ArrayBuffer>]);
    const bodies = { bytes: BYTES, blob, stream: blob.stream(), iterable: chunks() };
    for (const [name, body] of Object.entries(bodies))
      expect((await client.files.upload({ name, body })).sha256).toBe(SHA256);
    const long = await client.files.upload({ name: "unknown size", body: chunks() }, { partBytes: 50_000 });
    expect(long).toMatchObject({ bytes: BYTES.length, sha256: SHA256 });
    const { buffer, byteOffset, byteLength } = Uint8Array.from(BYTES);
    const views = {
      buffer,
      view: new DataView(buffer, byteOffset, byteLength),
      response: new Response(blob.stream()),
      "answered json": Response.json({ a: 1 }),
      "a file": new File(["a,b"], "table.csv", { type: "text/csv" }),
    };
    const stored: Record<string, string> = {};
    for (const [name, body] of Object.entries(views)) {
      const { sha256, file } = await client.files.upload({ name, body });
      stored[name] = sha256 === SHA256 ? "the bytes" : file.contentType;
    }
    expect(stored).toEqual({
      buffer: "the bytes",
      view: "the bytes",
      response: "the bytes",
      "answered json": "application/json",
      "a file": "text/csv",
    });
    const named = { name: "named", contentType: "text/plain", body: new Blob(["x"], { type: "text/csv" }) };
    expect((await client.files.upload(named)).file.contentType).toBe("text/plain");
    const used = new Response("x");
    await used.text();
    await expect(client.files.upload({ name: "used", body: used })).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("gives a download in every form [issue 53]", async () => {
    const { client } = await accounts().signup();
    const { file } = await client.files.upload({ name: "a.json", contentType: "application/json", body: '{"ä":1}' });
    const open = () => client.files.download(file.id);
    expect(await (await open()).text()).toBe('{"ä":1}');
    expect(await (await open()).json()).toEqual({ ä: 1 });
    expect(new Uint8Array(await (await open()).arrayBuffer())).toEqual(new TextEncoder().encode('{"ä":1}'));
    const blob = await (await open()).blob();
    expect([blob.type, await blob.text()]).toEqual(["application/json", '{"ä":1}']);
    const { file: other } = await client.files.upload({ name: "b", body: "secret words" });
    const failure: unknown = await (await client.files.download(other.id)).json().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "invalid_request" });
    expect(String(failure)).not.toContain("secret");
  });

  it("refuses a taken name, and writes versions guarded by the entity tag [D5-upload-if-none-match] [D5-replace] [D5-replace-if-match] [D1-precondition-412]", async () => {
    const { client } = await accounts().signup();
    const { file } = await client.files.upload({ name: "taken", body: BYTES });
    const body = new Uint8Array([1, 2, 3]);
    await expect(client.files.upload({ name: "taken", body })).rejects.toMatchObject({ code: "name_exists" });
    await expect(client.files.upload({ name: "taken", body, ifAbsent: true })).rejects.toMatchObject({
      code: "precondition_failed",
    });
    const { file: next } = await client.files.replace(file.id, { body, ifMatch: ETAG });
    expect(next.id).toBe(file.id);
    expect(next.versionId).not.toBe(file.versionId);
    await expect(client.files.replace(file.id, { body, ifMatch: ETAG })).rejects.toMatchObject({
      code: "precondition_failed",
    });
    expect((await client.files.list({ name: "taken" })).files).toHaveLength(1);
  });

  it("trashes, restores and moves many at once, each with its own outcome [D5-batch-acts]", async () => {
    const { client } = await accounts().signup();
    const folder = await client.folders.create({ name: "home" });
    const { file } = await client.files.upload({ name: "one of many", body: BYTES });
    const missing = crypto.randomUUID();
    const ids = [file.id, missing, folder.id];
    const codes = (outcomes: readonly { readonly id: string; readonly error: { readonly code: string } | null }[]) => {
      expect(outcomes.map(({ id }) => id)).toEqual(ids);
      return outcomes.map(({ error }) => error?.code ?? null);
    };
    expect(codes(await client.files.moveMany(ids, folder.id))).toEqual([null, "not_found", "folder_cycle"]);
    expect((await client.files.get(file.id)).folderId).toBe(folder.id);
    expect(codes(await client.files.trashMany(ids))).toEqual([null, "not_found", null]);
    expect((await client.trash.list()).files.map(({ id }) => id)).toEqual([file.id]);
    expect(codes(await client.files.restoreMany(ids))).toEqual([null, "not_found", null]);
    expect(await client.files.get(file.id)).toMatchObject({ trashedAt: null });
    await expect(client.files.moveMany(ids, missing)).rejects.toMatchObject({ code: "not_found" });
    expect(await client.files.trashMany([])).toEqual([]);
  });

  it("finds files, folders and vaults by the first digits of their ids [D5-id-prefix]", async () => {
    const { client } = await accounts().signup();
    const folder = await client.folders.create({ name: "home" });
    const { file } = await client.files.upload({ name: "short", body: BYTES });
    await client.files.upload({ name: "other", body: BYTES });
    const short = (id: string) => ({ idPrefix: id.replaceAll("-", "").slice(0, 14) });
    const ids = ({ items }: { readonly items: readonly { readonly id: string }[] }) => items.map(({ id }) => id);
    expect(ids(await client.files.list(short(file.id)))).toEqual([file.id]);
    expect(ids(await client.files.list({ idPrefix: file.id.slice(0, 11), folderId: "root" }))).toEqual([file.id]);
    expect(ids(await client.files.list({ ...short(file.id), trashed: true }))).toEqual([]);
    expect(ids(await client.folders.list(short(folder.id)))).toEqual([folder.id]);
    expect(ids(await client.vaults.list(short(file.vaultId)))).toEqual([file.vaultId]);
    expect(ids(await client.vaults.list({ idPrefix: "00000000" }))).toEqual([]);
    const { client: stranger } = await accounts().signup();
    expect(ids(await stranger.files.list(short(file.id)))).toEqual([]);
    await expect(client.files.list({ idPrefix: "abc" })).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("renames, moves, trashes, restores and deletes for good [D5-update] [D5-delete-soft] [D5-restore] [D5-delete-permanent] [D5-trash] [D5-author]", async () => {
    const { client } = await accounts().signup();
    const folder = await client.folders.create({ name: "home" });
    const { file } = await client.files.upload({ name: "wanders", body: BYTES });
    expect(file.updatedBy).toEqual(file.createdBy);
    expect(folder.createdBy).toEqual({ ...file.createdBy, kind: "api-key", chainAddress: null });
    expect(await client.files.update(file.id, { name: "moved", folderId: folder.id })).toMatchObject({
      name: "moved",
      folderId: folder.id,
    });
    expect((await client.files.list({ folderId: folder.id })).files).toHaveLength(1);
    expect((await client.files.delete(file.id))?.trashedAt).not.toBeNull();
    expect((await client.trash.list()).files.map(({ id }) => id)).toEqual([file.id]);
    expect((await client.files.restore(file.id)).trashedAt).toBeNull();
    expect(await client.files.delete(file.id, { permanent: true })).toBeNull();
    await client.files.upload({ name: "binned", body: BYTES }).then((result) => client.files.delete(result.file.id));
    await client.trash.empty();
    expect((await client.trash.list()).files).toEqual([]);
  });
}
