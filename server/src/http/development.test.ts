/** The development mode of specification §5.6 beside sessions: headers count only where nothing else was said. */
import { describe, expect, it } from "vitest";
import { PRODUCTION } from "../config/config.test-kit.ts";
import { signUpWithPassword } from "../features/auth/accounts.test-kit.ts";
import { openTestApp, type TestApp, type TestCall } from "../app.test-kit.ts";
import { ofEachTest } from "../each.test-kit.ts";

const service = ofEachTest(openTestApp);

/** The id of the account that answers, or the error's code. */
async function whoIs(service: TestApp, call: TestCall): Promise<unknown> {
  const { status, body, headers } = await service.ask("GET", "/api/account", call);
  return status === 200 ? (body["account"] as { id: string }).id : headers["x-error-code"];
}

describe("in development", () => {
  it("an Authorization header wins over the development headers, whatever it holds [D7-no-authorization S5.6-user-id]", async () => {
    const other = await service.signUp();
    const { user, accessToken, refreshToken } = await signUpWithPassword(service);
    const headers = { "x-dev-user-id": other.id };
    expect(await whoIs(service, { headers })).toBe(other.id);
    expect(await whoIs(service, { headers, key: accessToken })).toBe(user.id);
    for (const authorization of ["", "Bearer", "Basic Og==", `Bearer ${refreshToken}`, `Token ${accessToken}`]) {
      expect(await whoIs(service, { headers: { ...headers, authorization } })).toBe("invalid_credential");
    }
    await service.ask("POST", "/api/auth/logout", { json: { refreshToken } });
    expect(await whoIs(service, { headers, key: accessToken })).toBe("invalid_credential");
  });

  it("an id that is unknown, empty or given twice is 401, never the first user [D7-unknown-id-401 D7-order D0-dev-header-names D7-empty-401]", async () => {
    expect(await whoIs(service, {})).toBe("invalid_credential");
    const first = await service.signUp();
    service.clock.advance(1);
    await service.signUp();
    expect(await whoIs(service, {})).toBe(first.id);
    const unknown = [
      "4f3c2b1a-aaaa-4bbb-8ccc-121212121212",
      "",
      " ",
      `${first.id}, ${first.id}`,
      first.id.toUpperCase(),
    ];
    for (const id of unknown) {
      expect(await whoIs(service, { headers: { "x-dev-user-id": id } })).toBe("invalid_credential");
      expect(await whoIs(service, { headers: { "x-dev-idp-id": id } })).toBe("invalid_credential");
      // The first header decides, also when only the second one is known.
      expect(await whoIs(service, { headers: { "x-dev-user-id": id, "x-dev-idp-id": first.id } })).toBe(
        "invalid_credential",
      );
    }
  });

  it("its caller is an owner with every scope, and no session or key [S5.6-neither]", async () => {
    await service.signUp();
    const { body } = await service.ask("GET", "/api/account");
    expect(body["credential"]).toMatchObject({
      kind: "development",
      id: null,
      name: null,
      scopes: null,
      vaultIds: null,
      expiresAt: null,
    });
    expect((body["account"] as { accessLevel: string }).accessLevel).toBe("owner");
  });

  it("a web page of another site gets nothing by it, but may come with a credential [D7-cross-site D7-loopback-host]", async () => {
    const { user, accessToken } = await signUpWithPassword(service);
    for (const headers of [
      { origin: "https://evil.example" },
      { "sec-fetch-site": "cross-site" },
      { host: "evil.example" },
      // Another port of this machine is another origin: a page there is somebody else's.
      { host: "localhost:8787", origin: "http://localhost:5173", "sec-fetch-site": "same-site" },
      { host: "localhost:8787", origin: "https://localhost:8787" },
      { host: "localhost:8787", origin: "http://127.0.0.1:8787" },
      { host: "localhost:8787", origin: "null" },
    ]) {
      expect(await whoIs(service, { headers: { ...headers, "x-dev-user-id": user.id } })).toBe("development_origin");
      expect(await whoIs(service, { headers, key: accessToken })).toBe(user.id);
    }
    const own = { host: "localhost:8787", origin: "http://localhost:8787", "sec-fetch-site": "same-origin" };
    expect(await whoIs(service, { headers: { ...own, "x-dev-user-id": user.id } })).toBe(user.id);
  });

  it("a web page of another origin signs nobody up, and one of the service's own does [issue 53]", async () => {
    const signUp = async (email: string, headers: Record<string, string>) => {
      const answer = await service.ask("POST", "/api/auth/dev-signup", { json: { email }, headers });
      return answer.headers["x-error-code"] ?? answer.status;
    };
    const host = "localhost:8787";
    expect(await signUp("page@example.com", { host, origin: "http://localhost:5173" })).toBe("development_origin");
    expect(await signUp("page@example.com", { host, origin: "null" })).toBe("development_origin");
    expect(await signUp("page@example.com", { host, origin: "http://localhost:8787" })).toBe(200);
    expect(await signUp("shell@example.com", { host })).toBe(200);
  });
});

describe("in production", () => {
  it("development headers are nothing: 401 without a credential, and no say beside one [D7-only-development D7-dev-signup-404 S4.2-dev-signup-404 S7-404-dev-signup]", async () => {
    await using service = await openTestApp({ environment: PRODUCTION });
    const [one, two] = [await signUpWithPassword(service), await signUpWithPassword(service)];
    for (const name of ["x-dev-user-id", "x-dev-idp-id"]) {
      expect(await whoIs(service, { headers: { [name]: one.user.id } })).toBe("invalid_credential");
      expect(await whoIs(service, { headers: { [name]: one.user.id }, key: two.accessToken })).toBe(two.user.id);
    }
    expect(await whoIs(service, {})).toBe("invalid_credential");
    const signup = await service.ask("POST", "/api/auth/dev-signup", { json: { email: 7 } });
    expect([signup.status, Object.keys(signup.body)]).toEqual([404, ["error"]]);
  });
});
