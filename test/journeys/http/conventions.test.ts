import { describe, expect, it } from "vitest";
import { expectError, expectStatus, fieldsAt, objectIn, textIn, TIMESTAMP } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const service = useService();

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

  it("of a create are 201, of a delete 204, of a second one 404 [D1-create-201 D1-delete-204 D1-second-delete-gone]", async () => {
    const vault = `/api/vaults/${await service().makeVault("Short-lived")}`;
    const file = `/api/files/${textIn(await service().upload("gone.bin", new Uint8Array(3)), "id")}`;
    for (const path of [file, vault]) {
      const deleted = await service().ask("DELETE", `${path}?permanent=true`);
      expectStatus(deleted, 204);
      expect(deleted.bytes).toHaveLength(0);
      expectError(await service().ask("DELETE", `${path}?permanent=true`), 404, "not_found");
    }
  });

  it("of a refusal name the field and the error's code [D1-validation-400 S7-error-shape D1-error-shape D1-error-code-header]", async () => {
    const answer = await service().ask("POST", "/api/folders", { body: { name: 7 } });
    expect(expectError(answer, 400, "validation_failed")).toMatch(/^body\.name: /);
  });

  it("of a body that a form has changed are refused, with what to send instead", async () => {
    // What `curl -d @file` sends: the file without its line ends.
    const answer = await service().ask("POST", "/api/files?name=notes.txt", {
      body: new TextEncoder().encode("one two"),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expect(expectError(answer, 415, "unsupported_media_type")).toContain("--data-binary @FILE");
  });

  it("of the OpenAPI document say a semantic version [D1-openapi-semver]", async () => {
    const fields = fieldsAt(await service().ask("GET", "/openapi.json"), 200);
    expect(fields["openapi"]).toEqual(expect.stringMatching(/^3\.1\./));
    expect(objectIn(fields, "info")["version"]).toEqual(expect.stringMatching(/^\d+\.\d+\.\d+$/));
  });
});
