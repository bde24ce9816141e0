import { describe, expect, it } from "vitest";
import { openTestApp } from "../test-app.ts";
import { redact } from "./redaction.ts";

describe("the log", () => {
  it("has one line per request, with listed fields only", async () => {
    await using service = await openTestApp();
    const { key } = await service.signUp();
    await service.ask("GET", "/api/vaults?limit=5", { key, headers: { "x-secret": "in-a-header" } });
    const lines = service.logged().trim().split("\n");
    expect(lines).toHaveLength(2);
    const line = JSON.parse(lines[1] ?? "") as Record<string, unknown>;
    expect(Object.keys(line).sort()).toEqual(
      [
        ...["level", "time", "event", "requestId", "endpoint", "method", "status", "aborted", "durationMs"],
        ...["bytesIn", "bytesOut", "accountId", "keyId", "credential", "errorCode"],
      ].sort(),
    );
    expect(line).toMatchObject({ endpoint: "vaults.list", method: "GET", status: 200, credential: "api-key" });
    expect(service.logged()).not.toMatch(/limit=5|in-a-header/);
  });

  it("never holds a credential, not even from an error that quotes one", async () => {
    let secret = "";
    await using service = await openTestApp({
      replace: ({ database }) => ({
        database: new Proxy(database, {
          get(target, name) {
            if (name === "all") throw new Error(`refused Bearer ${secret} {"password":"hunter2-hunter2"}`);
            const member: unknown = Reflect.get(target, name, target);
            return typeof member === "function" ? (member.bind(target) as unknown) : member;
          },
        }),
      }),
    });
    const { key } = await service.signUp();
    secret = key;
    const answer = await service.ask("GET", "/api/vaults", { key });
    expect([answer.status, answer.text]).toEqual([500, '{"error":"Internal error"}']);
    const logged = service.logged();
    expect(logged).toContain("refused Bearer [redacted]");
    expect(logged).not.toContain(key);
    expect(logged).not.toContain("hunter2");
  });

  it("redacts keys of both prefixes, invites, tokens and passwords", () => {
    const secrets = [
      "cof_0123456789abcdef",
      "coffer_0123456789abcdef",
      "cofi_abcdefgh.ijklmnop",
      "eyJhbGciOi.eyJzdWIi.c2ln",
    ];
    for (const secret of secrets) expect(redact(`before ${secret} after`)).toBe("before [redacted] after");
    expect(redact('{"newPassword":"x y z"}')).toBe('{"newPassword":"[redacted]"}');
  });
});
