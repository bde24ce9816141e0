/** What identity adds to the wire: aliases, challenges, answers that hold secrets. */
import { api, endpointsOf } from "@coffer/contract";
import { describe, expect, it } from "vitest";
import { PASSWORD, signUpWithPassword } from "../features/auth/accounts.test-kit.ts";
import { openTestApp } from "../app.test-kit.ts";
import { ofEachTest } from "../each.test-kit.ts";

const service = ofEachTest(openTestApp);

const aliased = endpointsOf(api).filter(({ aliases }) => aliases !== undefined);

describe("an endpoint with aliases", () => {
  it("is one endpoint at every path [D3-two-step S4.2-zklogin-two-step S4.2-bare-paths]", async () => {
    expect(aliased.map(({ id }) => id)).toEqual(["identityProvider.zkloginToken", "identityProvider.zkloginAuth"]);
    for (const { id, path, aliases = [] } of aliased) {
      const ask = (at: string) => service.ask("POST", at, { json: { code: "c", state: "s", unknown: 1 } });
      const first = await ask(path);
      for (const alias of aliases) {
        const { status, text, headers } = await ask(alias);
        expect([status, text, headers["x-error-code"]]).toEqual([
          first.status,
          first.text,
          first.headers["x-error-code"],
        ]);
        expect((await service.ask("POST", `${alias}/`, { json: {} })).status).not.toBe(404);
        const other = await service.ask("GET", alias);
        expect([other.status, other.headers["allow"]]).toEqual([405, "POST"]);
      }
      const logged = service.logged().trim().split("\n");
      expect(logged.filter((line) => line.includes(`"endpoint":"${id}"`))).toHaveLength(3);
    }
  });
});

describe("401", () => {
  it("names a scheme whatever was refused, and blames the token only when one was sent in the header [D1-401-challenge]", async () => {
    const { email, refreshToken } = await signUpWithPassword(service);
    const answers = [
      await service.ask("GET", "/api/account", { key: "cof_unknown" }),
      await service.ask("POST", "/api/auth/login", { json: { email, password: "not that password" } }),
      await service.ask("POST", "/api/auth/refresh", { json: { refreshToken: `${refreshToken}x` } }),
    ];
    expect(
      answers.map(({ status, headers }) => [status, headers["x-error-code"], headers["www-authenticate"]]),
    ).toEqual([
      [401, "invalid_credential", 'Bearer error="invalid_token"'],
      [401, "wrong_credentials", "Bearer"],
      [401, "session_ended", "Bearer"],
    ]);
  });
});

describe("answers that hold a secret", () => {
  it("are kept by no cache (RFC 6749 §5.1), and neither are others", async () => {
    const { email, refreshToken, accessToken } = await signUpWithPassword(service);
    const answers = [
      await service.ask("POST", "/api/auth/login", { json: { email, password: PASSWORD } }),
      await service.ask("POST", "/api/auth/refresh", { json: { refreshToken } }),
      await service.ask("POST", "/api/auth/api-keys", { key: accessToken, json: { name: "made" } }),
      await service.ask("POST", "/api/auth/invites", { key: accessToken, json: { name: "made" } }),
      await service.ask("GET", "/api/account", { key: accessToken }),
    ];
    expect(answers.map(({ headers }) => headers["cache-control"])).toEqual(answers.map(() => "no-store"));
  });

  it("say what is left of the refreshes of the session [D2-refresh]", async () => {
    await using service = await openTestApp({ environment: { SERVICE_RATE_REFRESH: "2" } });
    let { refreshToken } = await signUpWithPassword(service);
    const states: unknown[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const answer = await service.ask("POST", "/api/auth/refresh", { json: { refreshToken } });
      refreshToken = answer.status === 200 ? String(answer.body["refreshToken"]) : refreshToken;
      states.push([answer.status, answer.headers["ratelimit-policy"], answer.headers["ratelimit"]]);
    }
    const policy = '"refresh";q=2;w=60';
    expect(states).toEqual([
      [200, policy, '"refresh";r=1;t=30'],
      [200, policy, '"refresh";r=0;t=30'],
      [429, policy, '"refresh";r=0;t=30'],
    ]);
  });
});
