import { createHash, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { blobBytes, runSql } from "../kit/data-directory.ts";
import { openUpload, type Answer } from "../kit/http.ts";
import { expectError, expectStatus, fieldsAt, objectIn, textIn, UUID } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const service = useService();
const TUS = { "tus-resumable": "1.0.0" };

function metadata(fields: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(fields).map(([name, value]) => `${name} ${Buffer.from(value).toString("base64")}`);
  return pairs.join(",");
}

async function begin(length: number, fields: Readonly<Record<string, string>>): Promise<string> {
  const headers = { ...TUS, "upload-length": String(length), "upload-metadata": metadata(fields) };
  const answer = await service().ask("POST", "/api/uploads", { headers });
  expectStatus(answer, 201);
  return new URL(answer.headers.get("location") ?? "", service().server.baseUrl).pathname;
}

function append(
  path: string,
  offset: number,
  body: Uint8Array,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const type = { "content-type": "application/offset+octet-stream" };
  return service().ask("PATCH", path, { body, headers: { ...TUS, ...type, "upload-offset": String(offset), ...more } });
}

const offsetOf = async (path: string): Promise<string | null> =>
  (await service().ask("HEAD", path, { headers: TUS })).headers.get("upload-offset");

describe("a tus 1.0.0 upload", () => {
  it("is created, filled in parts, asked where it stands, and becomes a file [D5-tus D5-tus-metadata D5-tus-file-id-header]", async () => {
    const vault = objectIn(
      fieldsAt(await service().ask("POST", "/api/vaults", { body: { name: "Resumed", type: "public" } }), 201),
      "vault",
    );
    const vaultId = textIn(vault, "id");
    const folder = objectIn(
      fieldsAt(await service().ask("POST", "/api/folders", { body: { name: "parts", vaultId } }), 201),
      "folder",
    );
    const folderId = textIn(folder, "id");
    const bytes = randomBytes(3000);
    const path = await begin(3000, { filename: "movie.mp4", filetype: "video/mp4", vaultId, folderId });
    const first = await append(path, 0, bytes.subarray(0, 1000));
    expectStatus(first, 204);
    expect(first.headers.get("upload-offset")).toBe("1000");
    expect(first.headers.get("tus-resumable")).toBe("1.0.0");
    expect(await offsetOf(path)).toBe("1000");
    const last = await append(path, 1000, bytes.subarray(1000));
    expectStatus(last, 204);
    const fileId = last.headers.get("file-id");
    expect(fileId).toMatch(UUID);
    const file = objectIn(fieldsAt(await service().ask("GET", `/api/files/${String(fileId)}`), 200), "file");
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    expect(file).toMatchObject({ name: "movie.mp4", contentType: "video/mp4", vaultId, folderId, size: 3000, sha256 });
  });

  it("can be given up [D5-tus]", async () => {
    const path = await begin(10, { filename: "given-up.bin" });
    expectStatus(await service().ask("DELETE", path, { headers: TUS }), 204);
    expect([404, 410]).toContain((await service().ask("HEAD", path, { headers: TUS })).status);
  });

  it("makes a new version of the file it names [D5-tus-file-id]", async () => {
    const uploaded = await service().ask("POST", "/api/files?name=versioned.bin", { body: randomBytes(5) });
    const file = objectIn(fieldsAt(uploaded, 201), "file");
    const path = await begin(7, { fileId: textIn(file, "id") });
    const last = await append(path, 0, randomBytes(7));
    expect(last.headers.get("file-id")).toBe(file["id"]);
    const after = objectIn(fieldsAt(await service().ask("GET", `/api/files/${textIn(file, "id")}`), 200), "file");
    expect(after).toMatchObject({ name: "versioned.bin", size: 7 });
    expect(after["versionId"]).not.toBe(file["versionId"]);
  });

  it("refuses another offset with 409 [D5-tus-offset-conflict D1-conflict-409]", async () => {
    const path = await begin(10, { filename: "offset.bin" });
    expectError(await append(path, 5, randomBytes(5)), 409, "offset_mismatch");
    expect(await offsetOf(path)).toBe("0");
  });

  it("refuses a wrong checksum with 460 and keeps its offset [D5-tus-checksum]", async () => {
    const path = await begin(10, { filename: "checksum.bin" });
    const bytes = randomBytes(10);
    const checksum = (of: Uint8Array) => ({
      "upload-checksum": `sha256 ${createHash("sha256").update(of).digest("base64")}`,
    });
    expectError(await append(path, 0, bytes, checksum(randomBytes(2))), 460, "checksum_mismatch");
    expect(await offsetOf(path)).toBe("0");
    expectStatus(await append(path, 0, bytes, checksum(bytes)), 204);
  });

  it("expires after 24 hours: 410 [D5-tus-expired D1-gone-410-upload]", async () => {
    const headers = { ...TUS, "upload-length": "10", "upload-metadata": metadata({ filename: "expired.bin" }) };
    const created = await service().ask("POST", "/api/uploads", { headers });
    const lifetime = Date.parse(created.headers.get("upload-expires") ?? "") - Date.now();
    expect(lifetime).toBeGreaterThan(23.9 * 3_600_000);
    expect(lifetime).toBeLessThanOrEqual(24 * 3_600_000);
    const path = new URL(created.headers.get("location") ?? "", service().server.baseUrl).pathname;
    const id = path.split("/").at(-1) ?? "";
    await runSql(service().dataDirectory, "UPDATE uploads SET expires_at = ? WHERE id = ?", Date.now() - 1, id);
    expectStatus(await service().ask("HEAD", path, { headers: TUS }), 410);
    expectError(await append(path, 0, randomBytes(10)), 410, "upload_expired");
  });

  it("is 423 while another request writes to it [D5-tus-locked]", async () => {
    const { server, owner, dataDirectory } = service();
    const piece = new Uint8Array(1024 * 1024);
    const path = await begin(10 * piece.length, { filename: "locked.bin" });
    const before = await blobBytes(dataDirectory);
    const headers = { ...TUS, "content-type": "application/offset+octet-stream", "upload-offset": "0" };
    const slow = openUpload(server.baseUrl, path, owner.apiKey, piece, 10, headers, "PATCH");
    await slow.sendPieces(4);
    await expect.poll(() => blobBytes(dataDirectory), { timeout: 20_000 }).toBeGreaterThan(before);
    expectError(await append(path, 0, piece), 423, "upload_locked");
    await slow.sendPieces(6);
    expect(await slow.outcome).toMatchObject({ status: 204 });
  });
});
