import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Call } from "../kit/http.ts";
import { expectError, expectStatus, fieldsAt, objectIn, textIn } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const service = useService();
const keyed = (key: string, body: object) => ({ body, headers: { "idempotency-key": key } });
const postFolder = (key: string, body: object) => service().ask("POST", "/api/folders", keyed(key, body));

describe("Idempotency-Key", () => {
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

  it("counts a byte body by length and type, and the query [D1-idempotency-bytes D1-idempotency-fingerprint]", async () => {
    const key = randomUUID();
    const send = (body: Uint8Array, type = "application/octet-stream", name = "bytes.bin") =>
      service().ask("POST", `/api/files?name=${name}`, {
        body,
        headers: { "idempotency-key": key, "content-type": type },
      });
    const first = objectIn(fieldsAt(await send(randomBytes(10)), 201), "file");
    expect(objectIn(fieldsAt(await send(randomBytes(10)), 201), "file")["id"]).toBe(first["id"]);
    expectError(await send(randomBytes(11)), 422, "idempotency_mismatch");
    expectError(await send(randomBytes(10), "text/plain"), 422, "idempotency_mismatch");
    expectError(await send(randomBytes(10), undefined, "other.bin"), 422, "idempotency_mismatch");
  });

  it("holds for PATCH and DELETE of a folder: a repeat does nothing, another request is refused [D1-idempotency-changes]", async () => {
    const folder = objectIn(fieldsAt(await postFolder(randomUUID(), { name: "patched" }), 201), "folder");
    const path = `/api/folders/${textIn(folder, "id")}`;
    const key = randomUUID();
    const rename = (by: string, name: string) => service().ask("PATCH", path, keyed(by, { name }));
    expectStatus(await rename(key, "first"), 200);
    expectStatus(await rename(randomUUID(), "second"), 200);
    expectStatus(await rename(key, "first"), 200);
    expect(objectIn(fieldsAt(await service().ask("GET", path), 200), "folder")["name"]).toBe("second");
    expectError(await rename(key, "third"), 422, "idempotency_mismatch");
    expectError(
      await service().ask("DELETE", path, { headers: { "idempotency-key": key } }),
      422,
      "idempotency_mismatch",
    );
  });
});
