import { describe, expect, it } from "vitest";
import { createKey, freshEmail } from "../kit/account.ts";
import { expectError, expectStatus } from "../kit/answers.ts";
import { newChainKey } from "../kit/chain.ts";
import type { Answer } from "../kit/http.ts";
import { OTHER_PASSWORD, PASSWORD, tokensIn } from "../kit/identity.ts";
import { useProductionService, useService } from "../kit/service.ts";

/** Production as it comes, behind a proxy on this machine that names each test's client. */
const service = useProductionService({ SERVICE_TRUSTED_PROXIES: "127.0.0.1", SERVICE_PUBLIC_URL: "https://s.example" });
const small = useService({ SERVICE_RATE_GENERAL: "600", SERVICE_RATE_GENERAL_BURST: "20", SERVICE_RATE_LOGIN: "2" });

let clients = 0;
/** A client address that no other test uses. */
const newClient = (): string => `198.51.100.${(clients += 1)}`;
const post = (path: string, body: object, client: string) =>
  service().ask("POST", path, { key: "", body, headers: { "x-forwarded-for": client } });

/** 429 `{ error }` with what a client needs to know when to come back. */
function expectLimited(answer: Answer, longest: number): void {
  expectError(answer, 429, "rate_limited");
  const seconds = Number(answer.headers.get("retry-after"));
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(longest);
  expect(answer.headers.get("ratelimit-policy")).toMatch(/^"[\w-]+";q=\d+;w=\d+/);
  expect(answer.headers.get("ratelimit")).toMatch(/^"[\w-]+";r=\d+;t=\d+/);
}

/** How many of `count` calls are let through before the first refusal. */
async function letThrough(count: number, call: (index: number) => Promise<Answer>, longest = 60): Promise<number> {
  for (let index = 0; index < count; index += 1) {
    const answer = await call(index);
    if (answer.status !== 429) continue;
    expectLimited(answer, longest);
    return index;
  }
  return count;
}

describe("a client address", () => {
  it("may ask for mails 5 times in 15 minutes, over both ways together [D2-mail-operations S8-mail-limits S4.2-forgot-password S4.2-resend-verification D1-rate-limited]", async () => {
    const client = newClient();
    const ways = ["/api/auth/forgot-password", "/api/auth/resend-verification"];
    const ask = (index: number) => post(String(ways[index % 2]), { email: freshEmail() }, client);
    expect(await letThrough(8, ask, 900)).toBe(5);
    expectStatus(await post("/api/auth/forgot-password", { email: freshEmail() }, newClient()), 200);
  });

  it("may try to sign in 10 times a minute [D2-login D1-rate-limited]", async () => {
    const client = newClient();
    const ask = () => post("/api/auth/login", { email: freshEmail(), password: PASSWORD }, client);
    expect(await letThrough(14, ask)).toBe(10);
  });

  it("may sign up, check codes and redeem invites 10 times a minute [D2-signup D1-rate-limited]", async () => {
    const client = newClient();
    const code = { code: "no-such-code" };
    const sign = { email: freshEmail(), password: PASSWORD, accessCode: "no-such-code" };
    const redeem = await newChainKey(service().server.baseUrl, "mainnet").redeeming("cofi_unknown");
    const ask = (index: number) => {
      if (index % 3 === 0) return post("/api/auth/check-access-code", code, client);
      return index % 3 === 1
        ? post("/api/auth/signup", sign, client)
        : post("/api/auth/invites/redeem", redeem, client);
    };
    expect(await letThrough(14, ask)).toBe(10);
  });

  it("may use the identity provider's routes 30 times a minute, whatever else it did [D2-idp D1-rate-limited]", async () => {
    const client = newClient();
    for (let count = 0; count < 10; count += 1) await post("/api/auth/check-access-code", { code: "none" }, client);
    const headers = { "x-forwarded-for": client };
    const body = { code: "none", state: "none" };
    const nonce = "a".repeat(27);
    const ways = [
      () => service().ask("GET", "/api/auth/idp", { key: "", headers }),
      () => service().ask("GET", `/api/auth/idp/zklogin?nonce=${nonce}`, { key: "", headers }),
      () => post("/api/auth/idp/callback", body, client),
      () => post("/idp/zklogin-token", body, client),
      () => post("/idp/zklogin-auth", { ...body, ephemeralPublicKey: "AA==", maxEpoch: 1, randomness: "1" }, client),
    ];
    expect(await letThrough(40, (index) => (ways[index % ways.length] ?? post.bind(null, "", {}, ""))())).toBe(30);
    expectLimited(await post("/api/auth/check-access-code", { code: "none" }, client), 60);
  });

  it("of IPv6 counts by its /64 [D2-mail-operations]", async () => {
    const ask = (index: number) =>
      post("/api/auth/forgot-password", { email: freshEmail() }, `2001:db8:7:7::${index + 1}`);
    expect(await letThrough(8, ask, 900)).toBe(5);
  });

  it("is not what the caller says, unless a trusted proxy says it", async () => {
    const ask = (index: number) => {
      const headers = { "x-forwarded-for": `203.0.113.${index}` };
      return small().ask("POST", "/api/auth/login", {
        key: "",
        body: { email: freshEmail(), password: PASSWORD },
        headers,
      });
    };
    expect(await letThrough(4, ask)).toBe(2);
  });
});

describe("an account", () => {
  it("makes who guesses its password wait after 5 failures, from any address, known or not [D2-login]", async () => {
    for (const email of [service().owner.email, freshEmail()]) {
      const ask = () => post("/api/auth/login", { email, password: OTHER_PASSWORD }, newClient());
      for (let failures = 0; failures < 5; failures += 1) expectError(await ask(), 401, "wrong_credentials");
      const refused = await ask();
      expectError(refused, 429, "rate_limited");
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(60);
    }
  });
});

describe("a credential", () => {
  it("of a session may be refreshed 30 times a minute [D2-refresh]", async () => {
    const client = newClient();
    const accessCode = await service().accessCode();
    const body = { email: freshEmail(), password: PASSWORD, accessCode };
    let { refreshToken } = tokensIn(await post("/api/auth/signup", body, client));
    const ask = async () => {
      const answer = await post("/api/auth/refresh", { refreshToken }, client);
      if (answer.status === 200) ({ refreshToken } = tokensIn(answer));
      return answer;
    };
    expect(await letThrough(34, ask)).toBe(30);
  });

  it("may send a burst of requests, each for itself [D2-general D2-environment D1-rate-limited]", async () => {
    const { server, owner } = small();
    const other = await createKey(server.baseUrl, owner.apiKey, { name: "other" });
    const ask = () => small().ask("GET", "/api/account", { key: other.key });
    expect(await letThrough(40, ask)).toBeGreaterThanOrEqual(20);
    expectStatus(await small().ask("GET", "/api/account", { key: owner.apiKey }), 200);
  });
});
