import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { expectError, expectStatus, fieldsAt, listIn, objectIn, textIn, TIMESTAMP } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const service = useService({ SERVICE_MAX_JSON_BYTES: String(1024 * 1024) });

async function makeFolder(name: string): Promise<Readonly<Record<string, unknown>>> {
  return objectIn(fieldsAt(await service().ask("POST", "/api/folders", { body: { name } }), 201), "folder");
}

async function upload(name: string): Promise<Readonly<Record<string, unknown>>> {
  const answer = await service().ask("POST", `/api/files?name=${name}`, { body: new Uint8Array(3) });
  return objectIn(fieldsAt(answer, 201), "file");
}

describe("shapes", () => {
  it("are JSON, with RFC 3339 dates and null for what has not happened [S0-json-bodies D1-dates]", async () => {
    const answer = await service().ask("POST", "/api/folders", { body: { name: "dates" } });
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    expect(objectIn(fieldsAt(answer, 201), "folder")).toMatchObject({
      createdAt: expect.stringMatching(TIMESTAMP),
      updatedAt: expect.stringMatching(TIMESTAMP),
      trashedAt: null,
    });
  });

  it("of a create are 201, of a delete 204 [D1-create-201 D1-delete-204]", async () => {
    const created = await service().ask("POST", "/api/vaults", { body: { name: "Short-lived", type: "public" } });
    const path = `/api/vaults/${textIn(objectIn(fieldsAt(created, 201), "vault"), "id")}?permanent=true`;
    const deleted = await service().ask("DELETE", path);
    expectStatus(deleted, 204);
    expect(deleted.bytes).toHaveLength(0);
    expectError(await service().ask("DELETE", path), 404, "not_found");
  });

  it("of a second delete of a vanished row are 404 [D1-second-delete-gone]", async () => {
    const path = `/api/files/${textIn(await upload("gone.bin"), "id")}?permanent=true`;
    expectStatus(await service().ask("DELETE", path), 204);
    expectError(await service().ask("DELETE", path), 404, "not_found");
  });
});

describe("lists", () => {
  it("take limit 1 to 1000, default 100 [D1-list-limit]", async () => {
    for (let count = 0; count < 101; count += 1) await makeFolder(`many ${count}`);
    const length = async (query: string): Promise<number> =>
      listIn(fieldsAt(await service().ask("GET", `/api/folders${query}`), 200), "folders").length;
    expect(await length("")).toBe(100);
    expect(await length("?limit=1")).toBe(1);
    expect(await length("?limit=1000")).toBeGreaterThan(100);
    for (const limit of ["0", "1001", "x"]) {
      expectError(await service().ask("GET", `/api/folders?limit=${limit}`), 400, "validation_failed");
    }
  });

  it("answer nextCursor, null at the end, each item once, newest first [D1-list-cursor]", async () => {
    for (const name of ["p1", "p2", "p3", "p4", "p5"]) await makeFolder(name);
    const seen: string[] = [];
    let cursor: string | null = "";
    for (let page = 0; cursor !== null && page < 200; page += 1) {
      const query: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const fields = fieldsAt(await service().ask("GET", `/api/folders?limit=2${query}`), 200);
      seen.push(...listIn(fields, "folders").map((folder) => textIn(folder, "name")));
      cursor = fields["nextCursor"] === null ? null : textIn(fields, "nextCursor");
    }
    expect(seen.slice(0, 5)).toEqual(["p5", "p4", "p3", "p2", "p1"]);
    expect(new Set(seen).size).toBe(seen.length);
  });
});

describe("refusals", () => {
  it("of what does not validate are 400 and name the field [D1-validation-400 S7-error-shape D1-error-shape D1-error-code-header]", async () => {
    const answer = await service().ask("POST", "/api/folders", { body: { name: 7 } });
    expect(expectError(answer, 400, "validation_failed")).toMatch(/^body\.name: /);
  });

  it("of a bad uuid in the path are 400 [D1-bad-uuid-400]", async () => {
    expectError(await service().ask("GET", "/api/files/not-a-uuid"), 400, "validation_failed");
  });

  it("of malformed JSON are 400, of another media type 415, of too much 413 [D1-malformed-json-400 D1-media-type-415 D1-too-large-413 D2-json-body]", async () => {
    const json = { "content-type": "application/json" };
    const malformed = { body: new TextEncoder().encode('{"name":'), headers: json };
    expectError(await service().ask("POST", "/api/folders", malformed), 400, "malformed_json");
    const text = { body: new TextEncoder().encode("name=a"), headers: { "content-type": "text/plain" } };
    expectError(await service().ask("POST", "/api/folders", text), 415, "unsupported_media_type");
    const padded = (bytes: number): Uint8Array =>
      new TextEncoder().encode(JSON.stringify({ name: "big" }).padEnd(bytes));
    expectError(
      await service().ask("POST", "/api/folders", { body: padded(1024 * 1024 + 1), headers: json }),
      413,
      "body_too_large",
    );
    expectStatus(await service().ask("POST", "/api/folders", { body: padded(1024 * 1024), headers: json }), 201);
  });

  it("of unknown paths and methods have the same shape [D1-error-shape]", async () => {
    expectError(await service().ask("GET", "/api/nothing"), 404, "not_found");
    expectError(await service().ask("PUT", "/api/account", { body: {} }), 405, "method_not_allowed");
  });

  it("of a taken name are 409, of a failed If-Match 412 [D1-conflict-409 D1-precondition-412]", async () => {
    const file = await upload("taken.bin");
    const body = new Uint8Array(3);
    expectError(await service().ask("POST", "/api/files?name=taken.bin", { body }), 409, "name_exists");
    const stale = { body, headers: { "if-match": '"sha256-AAAA"' } };
    expectError(
      await service().ask("PUT", `/api/files/${textIn(file, "id")}/content`, stale),
      412,
      "precondition_failed",
    );
  });
});

describe("headers", () => {
  it("X-Request-Id goes in and out [D1-request-id]", async () => {
    const id = randomUUID();
    const answer = await service().ask("GET", "/api/account", { headers: { "x-request-id": id } });
    expect(answer.headers.get("x-request-id")).toBe(id);
    expect((await service().ask("GET", "/api/account")).headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("API-Version is optional and echoed [D1-versioning]", async () => {
    const answer = await service().ask("GET", "/api/account", { headers: { "api-version": "2026-11-20" } });
    expectStatus(answer, 200);
    expect(answer.headers.get("api-version")).toBe("2026-11-20");
    expectError(
      await service().ask("GET", "/api/account", { headers: { "api-version": "soon" } }),
      400,
      "validation_failed",
    );
  });

  it("OpenAPI says a semantic version [D1-openapi-semver]", async () => {
    const fields = fieldsAt(await service().ask("GET", "/openapi.json"), 200);
    expect(fields["openapi"]).toEqual(expect.stringMatching(/^3\.1\./));
    expect(objectIn(fields, "info")["version"]).toEqual(expect.stringMatching(/^\d+\.\d+\.\d+$/));
  });
});
