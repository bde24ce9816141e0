import { once } from "node:events";
import { request as openRequest, type IncomingMessage } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshEmail, signUp } from "../kit/account.ts";
import { runSql } from "../kit/data-directory.ts";
import { send } from "../kit/http.ts";
import { delivery } from "../kit/payments.ts";
import { productionSecrets } from "../kit/production.ts";
import { startAndFail, startServerProcess } from "../kit/server-process.ts";
import { expectError, expectStatus, fieldsAt, objectIn, textIn, UUID } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const service = useService();

function accountId(headers: Readonly<Record<string, string>>): Promise<unknown> {
  return service()
    .ask("GET", "/api/account", { key: "", headers })
    .then((answer) => objectIn(fieldsAt(answer, 200), "account")["id"]);
}

describe("dev-signup", () => {
  it("answers 200 with id, email, the key and a warning, without a credential [S2.3-id S2.3-email S2.3-api-key S2.3-warning S4.2-dev-signup S5.5-dev-signup D1-dev-signup-200 D1-open-dev-signup]", async () => {
    const email = freshEmail();
    const body = { email, name: "Ada" };
    const fields = fieldsAt(await service().ask("POST", "/api/auth/dev-signup", { key: "", body }), 200);
    expect(fields).toEqual({
      id: expect.stringMatching(UUID),
      email,
      apiKey: expect.stringMatching(/^cof_[0-9A-Za-z]{49}$/),
      warning: expect.stringMatching(/./),
    });
    const account = objectIn(
      fieldsAt(await service().ask("GET", "/api/account", { key: textIn(fields, "apiKey") }), 200),
      "account",
    );
    expect(account).toMatchObject({ id: fields["id"], email, name: "Ada", plan: "pro", emailVerified: false });
  });

  it("gives the account plan pro [D2-dev-plan]", async () => {
    const account = objectIn(fieldsAt(await service().ask("GET", "/api/account"), 200), "account");
    expect(account["plan"]).toBe("pro");
  });

  it("needs an e-mail address [S4.2-dev-signup-email]", async () => {
    for (const body of [{}, { email: "nobody" }, { email: 7 }]) {
      const answer = await service().ask("POST", "/api/auth/dev-signup", { key: "", body });
      expect(expectError(answer, 400, "validation_failed")).toContain("email");
    }
  });

  it("refuses a known e-mail with 409 [S4.2-dev-signup-409 S7-409-dev-signup]", async () => {
    const body = { email: service().owner.email };
    expectError(await service().ask("POST", "/api/auth/dev-signup", { key: "", body }), 409, "email_exists");
  });
});

describe("development headers", () => {
  it("act as the named user [S5.6-user-id D0-dev-header-names]", async () => {
    const other = await signUp(service().server.baseUrl);
    expect(await accountId({ "X-Dev-User-Id": other.id })).toBe(other.id);
  });

  it("act as the user of an identity-provider id [S5.6-idp-id]", async () => {
    const other = await signUp(service().server.baseUrl);
    await runSql(service().dataDirectory, "UPDATE accounts SET idp_id = ? WHERE id = ?", "idp|1", other.id);
    expect(await accountId({ "X-Dev-Idp-Id": "idp|1" })).toBe(other.id);
  });

  it("act as the first user when there is neither [S5.6-neither]", async () => {
    expect(await accountId({})).toBe(service().owner.id);
  });

  it("are looked at in this order: user id, provider id, first user [D7-order]", async () => {
    const [a, b] = [await signUp(service().server.baseUrl), await signUp(service().server.baseUrl)];
    await runSql(service().dataDirectory, "UPDATE accounts SET idp_id = ? WHERE id = ?", "idp|2", b.id);
    expect(await accountId({ "X-Dev-User-Id": a.id, "X-Dev-Idp-Id": "idp|2" })).toBe(a.id);
    expect(await accountId({ "X-Dev-Idp-Id": "idp|2" })).toBe(b.id);
  });

  it("answer 401 for an unknown id [D7-unknown-id-401]", async () => {
    const unknown = "00000000-0000-4000-8000-000000000000";
    for (const headers of [{ "X-Dev-User-Id": unknown }, { "X-Dev-Idp-Id": "nobody" }]) {
      expectError(await service().ask("GET", "/api/account", { key: "", headers }), 401, "invalid_credential");
    }
  });

  it("count only without an Authorization header [D7-no-authorization]", async () => {
    const headers = { "X-Dev-User-Id": service().owner.id };
    expectError(await service().ask("GET", "/api/account", { key: "cof_wrong", headers }), 401, "invalid_credential");
  });

  it("need a loopback Host [D7-loopback-host]", async () => {
    expect(await statusWithHost(service().server.baseUrl, "storage.example.com")).toBe(403);
    expect(await statusWithHost(service().server.baseUrl, "localhost")).toBe(200);
  });

  it("refuse what a web page of another site sends [D7-cross-site]", async () => {
    for (const headers of [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }]) {
      expectError(await service().ask("GET", "/api/account", { key: "", headers }), 403, "development_origin");
    }
  });
});

describe("development", () => {
  it("has no rate limit that a benchmark would meet [D2-dev-rates]", async () => {
    for (let sent = 0; sent < 1_200; sent += 50) {
      const asked = Array.from({ length: 50 }, () => service().ask("GET", "/api/account"));
      for (const answer of await Promise.all(asked)) expectStatus(answer, 200);
    }
    const call = { key: "", body: { email: service().owner.email } };
    for (let times = 0; times < 15; times += 1) {
      expectStatus(await service().ask("POST", "/api/auth/forgot-password", call), 200);
    }
  });
});

describe("the mode", () => {
  it("is production when SERVICE_ENV is unset: no development access, dev-signup 404 before its body is looked at [D0-unset-env-production D7-only-development D7-dev-signup-404 S4.2-dev-signup-404 S7-404-dev-signup]", async () => {
    await withServer(productionSecrets(), async (baseUrl) => {
      expectError(await send(baseUrl, "/api/account"), 401, "invalid_credential");
      for (const body of [{ email: freshEmail() }, { email: 7 }]) {
        expectError(await send(baseUrl, "/api/auth/dev-signup", { method: "POST", body }), 404, "not_found");
      }
      // Nor is there a payment provider that nobody configured.
      const event = { method: "POST", ...delivery({}) };
      expectError(await send(baseUrl, "/api/billing/events", event), 501, "not_configured");
    });
  });

  it("of development on an empty database is 401 [D7-empty-401]", async () => {
    await withServer({ SERVICE_ENV: "development" }, async (baseUrl) => {
      expectError(await send(baseUrl, "/api/account"), 401, "invalid_credential");
    });
  });

  it("of production needs its master key to start [D0-production-needs-secrets]", async () => {
    const { code, printed } = await startAndFail({});
    expect(code).not.toBe(0);
    expect(printed).toContain("SERVICE_MASTER_KEY");
  });

  it("of production needs keys for its access tokens to start [D0-production-needs-jwt-keys]", async () => {
    const { SERVICE_MASTER_KEY } = productionSecrets();
    const { code, printed } = await startAndFail({ SERVICE_MASTER_KEY: String(SERVICE_MASTER_KEY) });
    expect(code).not.toBe(0);
    expect(printed).toContain("SERVICE_JWT_KEYS");
    expect(printed).not.toContain(String(SERVICE_MASTER_KEY));
  });

  it("of development refuses a non-loopback address unless it is allowed by name [D7-refuse-non-loopback]", async () => {
    const { code, printed } = await startAndFail({ SERVICE_ENV: "development", SERVICE_HOST: "0.0.0.0" });
    expect(code).not.toBe(0);
    expect(printed).toContain("SERVICE_ALLOW_INSECURE_DEV");
  });

  it("answers the account without development access too [S5.6-user-id]", async () => {
    expectStatus(await service().ask("GET", "/api/account"), 200);
  });
});

/** fetch does not let a caller choose the Host header. */
async function statusWithHost(baseUrl: string, host: string): Promise<number | undefined> {
  const request = openRequest(new URL("/api/account", baseUrl), { headers: { host } }).end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

async function withServer(
  variables: Readonly<Record<string, string>>,
  use: (baseUrl: string) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "coffer-mode-"));
  try {
    await using server = await startServerProcess({ SERVICE_DATA_DIR: directory, ...variables });
    await use(server.baseUrl);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
