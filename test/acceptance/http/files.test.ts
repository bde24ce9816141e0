import { createHash, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { expectError, expectStatus, fieldsAt, listIn, objectIn, textIn, TIMESTAMP, UUID } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const service = useService();
const digestOf = (bytes: Uint8Array): string => `sha-256=:${createHash("sha256").update(bytes).digest("base64")}:`;
const hexOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const upload = (name: string, body: Uint8Array, query?: string) => service().upload(name, body, query);

async function content(fileId: string): Promise<Uint8Array> {
  return (await service().ask("GET", `/api/files/${fileId}/content`)).bytes;
}

describe("an upload", () => {
  it("takes raw bytes of any media type into a vault and folder [D5-upload-raw D5-file-shape S1-stores-files S1-folders-and-vaults]", async () => {
    const vaultId = await service().makeVault("Raw");
    const folder = await service().makeFolder("in", { vaultId });
    const body = randomBytes(4000);
    const path = `/api/files?vaultId=${vaultId}&folderId=${textIn(folder, "id")}&name=photo.jpg`;
    const answer = await service().ask("POST", path, { body, headers: { "content-type": "image/jpeg" } });
    const file = objectIn(fieldsAt(answer, 201), "file");
    expect(file).toEqual({
      id: expect.stringMatching(UUID),
      versionId: expect.stringMatching(UUID),
      name: "photo.jpg",
      size: 4000,
      contentType: "image/jpeg",
      sha256: hexOf(body),
      vaultId,
      folderId: folder["id"],
      encrypted: false,
      shared: null,
      revision: 1,
      createdAt: expect.stringMatching(TIMESTAMP),
      updatedAt: expect.stringMatching(TIMESTAMP),
      trashedAt: null,
    });
    const read = await service().ask("GET", `/api/files/${textIn(file, "id")}`);
    expect(objectIn(fieldsAt(read, 200), "file")).toEqual(file);
    expect(Buffer.from(await content(textIn(file, "id"))).equals(body)).toBe(true);
  });

  it("takes multipart [D5-upload-multipart]", async () => {
    const form = new FormData();
    form.set("file", new Blob(["from a form"], { type: "text/plain" }), "form.txt");
    const request = new Request("http://form/", { method: "POST", body: form });
    const headers = { "content-type": request.headers.get("content-type") ?? "" };
    const body = new Uint8Array(await request.arrayBuffer());
    const file = objectIn(fieldsAt(await service().ask("POST", "/api/files", { body, headers }), 201), "file");
    expect(file).toMatchObject({ name: "form.txt", size: 11 });
    expect(new TextDecoder().decode(await content(textIn(file, "id")))).toBe("from a form");
  });

  it("verifies Content-Digest and Repr-Digest, and stores nothing on a mismatch [D5-upload-digest]", async () => {
    const body = randomBytes(100);
    for (const header of ["content-digest", "repr-digest"]) {
      const path = `/api/files?name=${header}.bin`;
      const wrong = { body, headers: { [header]: digestOf(randomBytes(3)) } };
      expectError(await service().ask("POST", path, wrong), 400, "digest_mismatch");
      expectStatus(await service().ask("POST", path, { body, headers: { [header]: digestOf(body) } }), 201);
    }
  });

  it("with If-None-Match: * does not touch an existing name [D5-upload-if-none-match]", async () => {
    const path = "/api/files?name=guarded.bin";
    const call = { body: randomBytes(10), headers: { "if-none-match": "*" } };
    expectStatus(await service().ask("POST", path, call), 201);
    expectError(await service().ask("POST", path, call), 412, "precondition_failed");
  });
});

describe("a new version", () => {
  it("replaces the content of the file, guarded by If-Match [D5-replace D5-replace-if-match D1-precondition-412]", async () => {
    const file = await upload("versions.bin", randomBytes(10));
    const path = `/api/files/${textIn(file, "id")}/content`;
    const etag = (await service().ask("HEAD", path)).headers.get("etag") ?? "";
    const body = randomBytes(20);
    const replaced = objectIn(
      fieldsAt(await service().ask("PUT", path, { body, headers: { "if-match": etag } }), 200),
      "file",
    );
    expect(replaced).toMatchObject({ id: file["id"], name: file["name"], size: 20, sha256: hexOf(body) });
    expect(replaced["versionId"]).not.toBe(file["versionId"]);
    const late = { body: randomBytes(30), headers: { "if-match": etag } };
    expectError(await service().ask("PUT", path, late), 412, "precondition_failed");
    expect(Buffer.from(await content(textIn(file, "id"))).equals(body)).toBe(true);
  });
});

describe("the list", () => {
  it("takes vaultId, folderId, trashed and name, with an API key [D5-list S4.3-files]", async () => {
    const folder = objectIn(
      fieldsAt(await service().ask("POST", "/api/folders", { body: { name: "listed" } }), 201),
      "folder",
    );
    const inFolder = await upload("inner.bin", randomBytes(1), `&folderId=${textIn(folder, "id")}`);
    const trashed = await upload("trashed.bin", randomBytes(1));
    await service().ask("DELETE", `/api/files/${textIn(trashed, "id")}`);
    const ids = async (query: string): Promise<unknown[]> => {
      const fields = fieldsAt(await service().ask("GET", `/api/files?limit=1000&${query}`), 200);
      expect(Object.keys(fields).sort()).toEqual(["files", "nextCursor"]);
      return listIn(fields, "files").map((file) => file["id"]);
    };
    expect(await ids(`folderId=${textIn(folder, "id")}`)).toEqual([inFolder["id"]]);
    expect(await ids("name=inner.bin")).toEqual([inFolder["id"]]);
    expect(await ids("folderId=root")).not.toContain(inFolder["id"]);
    expect(await ids("")).not.toContain(trashed["id"]);
    expect(await ids("trashed=true")).toEqual([trashed["id"]]);
    expect(await ids(`vaultId=${textIn(inFolder, "vaultId")}`)).toContain(inFolder["id"]);
  });
});

describe("a change of place", () => {
  it("renames and moves, guarded by If-Match [D5-update]", async () => {
    const file = await upload("before.bin", randomBytes(5));
    const folder = objectIn(
      fieldsAt(await service().ask("POST", "/api/folders", { body: { name: "target" } }), 201),
      "folder",
    );
    const path = `/api/files/${textIn(file, "id")}`;
    const stale = { body: { name: "late.bin" }, headers: { "if-match": '"sha256-AAAA"' } };
    expectError(await service().ask("PATCH", path, stale), 412, "precondition_failed");
    const body = { name: "after.bin", folderId: folder["id"] };
    const moved = objectIn(fieldsAt(await service().ask("PATCH", path, { body }), 200), "file");
    expect(moved).toMatchObject({ name: "after.bin", folderId: folder["id"], versionId: file["versionId"] });
  });

  it("stays inside the vault [D5-one-vault]", async () => {
    const vaultId = await service().makeVault("Elsewhere");
    const there = await service().makeFolder("there", { vaultId });
    const here = objectIn(
      fieldsAt(await service().ask("POST", "/api/folders", { body: { name: "here" } }), 201),
      "folder",
    );
    const file = await upload("stays.bin", randomBytes(5));
    const move = { body: { folderId: there["id"] } };
    expectError(await service().ask("PATCH", `/api/files/${textIn(file, "id")}`, move), 400, "different_vault");
    const parent = { body: { parentId: there["id"] } };
    expectError(await service().ask("PATCH", `/api/folders/${textIn(here, "id")}`, parent), 400, "different_vault");
  });
});

describe("the trash", () => {
  it("takes a deleted file and gives it back [D5-delete-soft D5-restore D5-trash]", async () => {
    const file = await upload("bin.bin", randomBytes(5));
    const path = `/api/files/${textIn(file, "id")}`;
    const trashed = objectIn(fieldsAt(await service().ask("DELETE", path), 200), "file");
    expect(trashed["trashedAt"]).toEqual(expect.stringMatching(TIMESTAMP));
    const inTrash = async (): Promise<unknown[]> =>
      listIn(fieldsAt(await service().ask("GET", "/api/trash?limit=1000"), 200), "files").map((item) => item["id"]);
    expect(await inTrash()).toContain(file["id"]);
    const restored = objectIn(fieldsAt(await service().ask("POST", `${path}/restore`), 200), "file");
    expect(restored).toMatchObject({ id: file["id"], name: "bin.bin", trashedAt: null });
    expect(await inTrash()).not.toContain(file["id"]);
  });

  it("is emptied by the owner, and one file is deleted for good with permanent=true [D5-trash D5-delete-permanent]", async () => {
    const [first, second] = [await upload("one.bin", randomBytes(5)), await upload("two.bin", randomBytes(5))];
    expectStatus(await service().ask("DELETE", `/api/files/${textIn(first, "id")}?permanent=true`), 204);
    await service().ask("DELETE", `/api/files/${textIn(second, "id")}`);
    expect(fieldsAt(await service().ask("DELETE", "/api/trash"), 200)).toEqual({ leftVaults: [] });
    expect(listIn(fieldsAt(await service().ask("GET", "/api/trash"), 200), "files")).toEqual([]);
    for (const { id } of [first, second])
      expectError(await service().ask("GET", `/api/files/${String(id)}`), 404, "not_found");
  });
});
