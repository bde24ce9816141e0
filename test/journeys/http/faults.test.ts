import { describe, expect, it } from "vitest";
import { alterTables } from "../kit/data-directory.ts";
import { expectError, expectStatus } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const service = useService();

describe("a fault of the server", () => {
  it("is 500 Internal error with a request id, and never the message [D1-server-error-500]", async () => {
    await alterTables(service().dataDirectory, "ALTER TABLE folders RENAME TO folders_elsewhere");
    const answer = await service().ask("GET", "/api/folders");
    await alterTables(service().dataDirectory, "ALTER TABLE folders_elsewhere RENAME TO folders");
    expect(expectError(answer, 500, "internal")).toBe("Internal error");
    expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect([...answer.headers.values()].join()).not.toContain("folders");
    expectStatus(await service().ask("GET", "/api/folders"), 200);
  });
});
