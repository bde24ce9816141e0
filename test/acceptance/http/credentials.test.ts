import { api, endpointsOf, type EndpointDefinition } from "@coffer/contract";
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createKey, revokeKey } from "../kit/account.ts";
import { databasePath, filesHolding, runSql } from "../kit/data-directory.ts";
import { expectError, expectStatus, fieldsAt, textIn } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const service = useService();
const UNKNOWN_KEY = "cof_0000000000000000000000000000000000000000000000000";

const guarded = endpointsOf(api).filter(({ auth }) => auth === "credential");
const someId = "00000000-0000-4000-8000-000000000000";
const pathOf = ({ path }: EndpointDefinition): string => path.replace(/\{\w+\}/g, someId);

describe("an Authorization header", () => {
  it("carries the API key as a bearer token [S5.2-bearer-key S5.1-key-access S1-api-keys]", async () => {
    expectStatus(await service().ask("GET", "/api/account"), 200);
  });

  it.each(guarded.map((e) => ({ id: e.id, e })))(
    "is required by $id [S4-authorization-required D1-everything-else]",
    async ({ e }) => {
      const answer = await service().ask(e.method, pathOf(e), { key: UNKNOWN_KEY });
      expectStatus(answer, 401);
      expect(answer.headers.get("x-error-code")).toBe("invalid_credential");
    },
  );

  it("that is wrong is 401 with a challenge [S5.3-401 S7-401 D1-401-challenge]", async () => {
    for (const authorization of ["Bearer cof_x", `Bearer ${UNKNOWN_KEY}`, "Basic YTpi", "Bearer"]) {
      const answer = await service().ask("GET", "/api/files", { key: "", headers: { authorization } });
      expectError(answer, 401, "invalid_credential");
      expect(answer.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
    }
  });

  it("with another issuer's JWT is 401 [D0-foreign-jwt-401 S5.4-earlier-edition]", async () => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const jwt = `${part({ alg: "RS256" })}.${part({ iss: "https://idp.example", sub: service().owner.id })}.c2ln`;
    expectError(await service().ask("GET", "/api/account", { key: jwt }), 401, "invalid_credential");
  });

  it("is not needed for health, readiness, OpenAPI and, from this machine, metrics [D1-open-health D1-open-openapi D1-open-metrics]", async () => {
    for (const path of ["/healthz", "/readyz", "/openapi.json", "/metrics"]) {
      expectStatus(await service().ask("GET", path, { key: "" }), 200);
    }
  });
});

describe("an API key", () => {
  it("is kept and found by its SHA-256 hash alone [S2.4-hash-only S5.3-hash-lookup D1-hashes]", async () => {
    const { owner, dataDirectory } = service();
    const hash = createHash("sha256").update(owner.apiKey).digest("hex");
    const database = await databasePath(dataDirectory);
    const holders = await filesHolding(dataDirectory, hash);
    expect(holders.length).toBeGreaterThan(0);
    expect(holders.every((path) => path.startsWith(database))).toBe(true);
    expect(await filesHolding(dataDirectory, owner.apiKey)).toEqual([]);
    expect(service().server.printed()).not.toContain(owner.apiKey);
  });

  it("of the legacy prefix is accepted without a checksum [S2.4-legacy-prefix S0-key-prefixes D0-key-prefixes D4-key-legacy]", async () => {
    const { server, owner, dataDirectory } = service();
    const legacy = "coffer_oldKeyFromAnEarlierEdition0001";
    const { id } = await createKey(server.baseUrl, owner.apiKey, { name: "legacy" });
    const hash = createHash("sha256").update(legacy).digest("hex");
    await runSql(dataDirectory, "UPDATE api_keys SET hash = ? WHERE id = ?", hash, id);
    expectStatus(await service().ask("GET", "/api/account", { key: legacy }), 200);
  });

  it("that was revoked or has expired is 401 at once [S3-key-revoked S3-key-expired S5.3-immediate-revocation S5.3-401]", async () => {
    const { server, owner, dataDirectory } = service();
    const revoked = await createKey(server.baseUrl, owner.apiKey, { name: "revoked" });
    expectStatus(await service().ask("GET", "/api/account", { key: revoked.key }), 200);
    await revokeKey(server.baseUrl, owner.apiKey, revoked.id);
    expectError(await service().ask("GET", "/api/account", { key: revoked.key }), 401, "invalid_credential");

    const expired = await createKey(server.baseUrl, owner.apiKey, { name: "expired", expiresInDays: 1 });
    await runSql(dataDirectory, "UPDATE api_keys SET expires_at = ? WHERE id = ?", Date.now() - 1, expired.id);
    expectError(await service().ask("GET", "/api/account", { key: expired.key }), 401, "invalid_credential");
  });

  it("is shown once: list, detail and a repeat with the same Idempotency-Key never hold it [S2.4-shown-once D1-idempotency-secrets]", async () => {
    const call = { body: { name: "once" }, headers: { "idempotency-key": "create-once" } };
    const created = fieldsAt(await service().ask("POST", "/api/auth/api-keys", call), 201);
    const [key, id] = [textIn(created, "key"), textIn(created, "id")];
    const repeat = await service().ask("POST", "/api/auth/api-keys", call);
    expect(expectError(repeat, 409, "already_created")).toContain(id);
    for (const path of ["/api/auth/api-keys?limit=1000", `/api/auth/api-keys/${id}`]) {
      const text = new TextDecoder().decode((await service().ask("GET", path)).bytes);
      expect(text).toContain(id);
      expect(text).not.toContain(key);
    }
  });
});
