import { describe, expect, it } from "vitest";
import { openTestApp } from "../app.test-kit.ts";
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
    const address = "https://s3.example.com/b/k?X-Amz-Expires=60&X-Amz-Security-Token=ab%2Fc&X-Amz-Signature=0123abcd";
    const redacted = "X-Amz-Expires=60&X-Amz-Security-Token=[redacted]&X-Amz-Signature=[redacted]";
    expect(redact(`to ${address} now`)).toBe(`to https://s3.example.com/b/k?${redacted} now`);
    expect(redact('{"newPassword":"x y z"}')).toBe('{"newPassword":"[redacted]"}');
    expect(redact(String.raw`{"password":"x \" y"}`)).toBe('{"password":"[redacted]"}');
    expect(redact(String.raw`"{\"refreshToken\":\"x y\"}"`)).toBe(String.raw`"{\"refreshToken\":\"[redacted]\"}"`);
  });

  it("redacts what the parts of a sign-in are made of, wherever they stand", () => {
    const token = "q83vEjRWeJASNFZ4kBI0VniQEjRWeJASNFZ4kBI0Vng";
    const secrets = [
      "ABCD-EFGH-JKMN-PQRS-TVWX",
      "abcd-efgh-jkmn-pqrs-tvwx",
      token,
      "whsec_Y29mZmVyIGRldmVsb3BtZW50",
      "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA".replaceAll(",", "-"),
      "suiprivkey1qzwant3kaegmjy4qxex93s0jzvemekkjmyv3r2sjwgnv2y479pgsywhveae",
    ];
    for (const secret of secrets) expect(redact(`before ${secret} after`)).toBe("before [redacted] after");
    expect(redact("GET /api/auth/idp?accessCode=a-b&x=1")).toBe("GET /api/auth/idp?accessCode=[redacted]&x=1");
    expect(redact("https://coffer.example/verify-email#token=short")).toBe(
      "https://coffer.example/verify-email#token=[redacted]",
    );
    expect(redact("/callback?code=a%20b&state=c#d")).toBe("/callback?code=[redacted]&state=[redacted]#d");
    expect(redact("smtp://user:pass@mail.example:25")).toBe("smtp://user:[redacted]@mail.example:25");
    expect(redact("Basic dXNlcjpwYXNz")).toBe("Basic [redacted]");
  });

  it("leaves alone what tells where a fault is", () => {
    const texts = [
      "at handle (/srv/coffer/server/src/http/implement.ts:101:7)",
      "request 4f3c2b1a-aaaa-4bbb-8ccc-121212121212 failed",
      "SQLITE_CONSTRAINT: UNIQUE constraint failed: accounts.email",
      "http://127.0.0.1:8787/api/files",
      // A chain's id that has, as one in 17 has, 43 characters.
      "The node serves the chain 48m3nzrQZrbjebLs7Pm5vJhwPUwHpmfDKAp7YP5HRgq, and not the chain 148m3nzrQZrbjebLs7Pm5vJhwPUwHpmfDKAp7YP5HRgq",
    ];
    for (const text of texts) expect(redact(text)).toBe(text);
  });

  it("has no query and no path: a sign-in's access code and state stay out of it [D3-idp-access-code]", async () => {
    await using service = await openTestApp();
    await service.ask("GET", "/api/auth/idp?accessCode=ABCD-EFGH-JKMN-PQRS-TVWX");
    await service.ask("GET", "/api/auth/idp/callback?code=from-the-provider&state=of-the-browser");
    await service.ask("GET", "/reset-password?token=from-a-mail");
    expect(service.logged().trim().split("\n")).toHaveLength(3);
    expect(service.logged()).not.toMatch(/ABCD|from-the-provider|of-the-browser|from-a-mail|reset-password/);
  });
});
