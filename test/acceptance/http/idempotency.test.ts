import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { blobBytes, runSql } from "../kit/data-directory.ts";
import { openUpload, type Call } from "../kit/http.ts";
import { expectError, expectStatus, fieldsAt, listIn, objectIn, textIn } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const service = useService();
const keyed = (key: string, body: object) => ({ body, headers: { "idempotency-key": key } });
const postFolder = (key: string, body: object) => service().ask("POST", "/api/folders", keyed(key, body));

describe("Idempotency-Key", () => {
  it("makes a repeat answer the first response [D1-idempotency-repeat]", async () => {
    const key = randomUUID();
    const first = await postFolder(key, { name: "once" });
    const second = await postFolder(key, { name: "once" });
    expectStatus(second, 201);
    expect(fieldsAt(second, 201)).toEqual(fieldsAt(first, 201));
    const listed = listIn(fieldsAt(await service().ask("GET", "/api/folders?name=once"), 200), "folders");
    expect(listed).toHaveLength(1);
  });

  it.each([
    ["a vault", "/api/vaults", { body: { name: "twice", type: "public" } }],
    ["a folder", "/api/folders", { body: { name: "twice" } }],
    ["a file", "/api/files?name=twice.bin", { body: new Uint8Array(10) }],
    [
      "a resumable upload",
      "/api/uploads",
      { headers: { "tus-resumable": "1.0.0", "upload-length": "10", "upload-metadata": "filename dC5iaW4=" } },
    ],
  ])("creates %s once [D1-idempotency-repeat]", async (_thing, path, call: Call) => {
    const headers = { ...call.headers, "idempotency-key": randomUUID() };
    const [first, second] = [
      await service().ask("POST", path, { ...call, headers }),
      await service().ask("POST", path, { ...call, headers }),
    ];
    expectStatus(first, 201);
    expectStatus(second, 201);
    expect(second.headers.get("location")).toBe(first.headers.get("location"));
    expect(Buffer.from(second.bytes).equals(first.bytes)).toBe(true);
  });

  it("with another request is 422: another path, query or body [D1-idempotency-fingerprint]", async () => {
    const key = randomUUID();
    expectStatus(await postFolder(key, { name: "print" }), 201);
    expectError(await postFolder(key, { name: "other" }), 422, "idempotency_mismatch");
    const vault = keyed(key, { name: "print", type: "public" });
    expectError(await service().ask("POST", "/api/vaults", vault), 422, "idempotency_mismatch");
  });

  it("counts a byte body by length and type [D1-idempotency-bytes]", async () => {
    const key = randomUUID();
    const path = "/api/files?name=bytes.bin";
    const send = (body: Uint8Array, type = "application/octet-stream") =>
      service().ask("POST", path, { body, headers: { "idempotency-key": key, "content-type": type } });
    const first = objectIn(fieldsAt(await send(randomBytes(10)), 201), "file");
    expect(objectIn(fieldsAt(await send(randomBytes(10)), 201), "file")["id"]).toBe(first["id"]);
    expectError(await send(randomBytes(11)), 422, "idempotency_mismatch");
    expectError(await send(randomBytes(10), "text/plain"), 422, "idempotency_mismatch");
  });

  it("is 409 while the first request still runs [D1-idempotency-running D1-conflict-409]", async () => {
    const { server, owner, dataDirectory } = service();
    const key = randomUUID();
    const path = "/api/files?name=running.bin";
    const piece = new Uint8Array(1024 * 1024);
    const before = await blobBytes(dataDirectory);
    const upload = openUpload(server.baseUrl, path, owner.apiKey, piece, 10, { "idempotency-key": key });
    await upload.sendPieces(4);
    await expect.poll(() => blobBytes(dataDirectory), { timeout: 20_000 }).toBeGreaterThan(before);
    const repeat = { body: new Uint8Array(10 * piece.length), headers: { "idempotency-key": key } };
    expectError(await service().ask("POST", path, repeat), 409, "idempotency_in_progress");
    await upload.sendPieces(6);
    expect(await upload.outcome).toMatchObject({ status: 201 });
    expectStatus(await service().ask("POST", path, repeat), 201);
  });

  it("is ignored on PATCH and DELETE [D1-idempotency-ignored]", async () => {
    const folder = objectIn(fieldsAt(await postFolder(randomUUID(), { name: "patched" }), 201), "folder");
    const path = `/api/folders/${textIn(folder, "id")}`;
    const key = randomUUID();
    expectStatus(await service().ask("PATCH", path, keyed(key, { name: "first" })), 200);
    const second = objectIn(
      fieldsAt(await service().ask("PATCH", path, keyed(key, { name: "second" })), 200),
      "folder",
    );
    expect(second["name"]).toBe("second");
    expectStatus(await service().ask("DELETE", path, { headers: { "idempotency-key": key } }), 200);
  });

  it("is forgotten after 24 hours [D1-idempotency-24h]", async () => {
    const key = randomUUID();
    expectStatus(await postFolder(key, { name: "yesterday" }), 201);
    const day = 24 * 3_600_000;
    const age = "UPDATE idempotency SET created_at = created_at - ?, expires_at = expires_at - ? WHERE key = ?";
    await runSql(service().dataDirectory, age, day - 60_000, day - 60_000, key);
    expectStatus(await postFolder(key, { name: "yesterday" }), 201);
    await runSql(service().dataDirectory, age, 120_000, 120_000, key);
    expectError(await postFolder(key, { name: "yesterday" }), 409, "name_exists");
  });
});
