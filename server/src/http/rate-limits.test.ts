import { once } from "node:events";
import { type IncomingMessage, request as openRequest } from "node:http";
import { describe, expect, it } from "vitest";
import { openLiveService } from "../features/live-service.ts";
import { openTestApp, type TestApp, type TestCall } from "../app.test-kit.ts";

const LOGIN = { json: { email: "nobody@example.test", password: "wrong password entirely" } };

async function many(count: number, ask: () => Promise<{ status: number }>): Promise<Record<number, number>> {
  const statuses = await Promise.all(Array.from({ length: count }, ask));
  return statuses.reduce<Record<number, number>>(
    (counts, { status }) => ({ ...counts, [status]: (counts[status] ?? 0) + 1 }),
    {},
  );
}

/** Requests of a bucket that are refused for another reason when the limit lets them through. */
const CALLS: readonly (readonly [bucket: string, path: string, call: TestCall])[] = [
  ["login", "/api/auth/login", LOGIN],
  ["signup", "/api/auth/signup", { json: {} }],
  ["signup", "/api/auth/check-access-code", { json: { code: "wrong" } }],
  ["signup", "/api/auth/invites/redeem", { json: {} }],
  ["idp", "/api/auth/idp", {}],
  ["idp", "/api/auth/idp/zklogin", {}],
  ["idp", "/api/auth/idp/callback", { json: {} }],
  ["idp", "/idp/zklogin-token", { json: {} }],
  ["idp", "/api/auth/idp/zklogin-auth", { json: {} }],
  ["mail", "/api/auth/forgot-password", { json: {} }],
  ["mail", "/api/auth/resend-verification", { json: {} }],
  ["anonymous", "/api/auth/logout", { json: {} }],
  ["anonymous", "/api/auth/refresh", { json: {} }],
  ["anonymous", "/api/auth/verify-email", { json: {} }],
  ["anonymous", "/api/auth/reset-password", { json: {} }],
];

describe("limits of client addresses", () => {
  it.each(CALLS)(
    "of %s let exactly as many of 25 parallel calls of %s through [D2-login D2-signup D2-idp D2-anonymous D2-mail-operations D2-environment S8-mail-limits D1-rate-limited]",
    async (bucket, path, call) => {
      await using service = await openTestApp({ environment: { [`SERVICE_RATE_${bucket.toUpperCase()}`]: "10" } });
      const method = call.json === undefined ? "GET" : "POST";
      const counts = await many(25, () => service.ask(method, path, call));
      expect(counts[429]).toBe(15);
    },
  );

  it("count endpoints of one bucket together, and say what is left on every answer [D1-rate-limited]", async () => {
    await using service = await openTestApp({ environment: { SERVICE_RATE_SIGNUP: "2" } });
    const first = await service.ask("POST", "/api/auth/check-access-code", { json: { code: "wrong" } });
    expect([first.status, first.headers["ratelimit-policy"], first.headers["ratelimit"]]).toEqual([
      200,
      '"signup";q=2;w=60',
      '"signup";r=1;t=30',
    ]);
    const second = await service.ask("POST", "/api/auth/signup", { json: {} });
    expect([second.status, second.headers["ratelimit"]]).toEqual([400, '"signup";r=0;t=30']);
    const third = await service.ask("POST", "/api/auth/invites/redeem", { json: {} });
    expect(third.status).toBe(429);
    expect(third.body).toEqual({ error: "Too many requests" });
    expect(third.headers).toMatchObject({
      "retry-after": "30",
      "ratelimit-policy": '"signup";q=2;w=60',
      ratelimit: '"signup";r=0;t=30',
      "x-error-code": "rate_limited",
    });
    service.clock.advance(30_000);
    expect((await service.ask("POST", "/api/auth/invites/redeem", { json: {} })).status).toBe(400);
  });

  it("refuse before the body is read", async () => {
    await using service = await openLiveService({ SERVICE_RATE_LOGIN: "1" });
    await fetch(`${service.baseUrl}/api/auth/login`, { method: "POST" });
    // A body that never comes: an answer means that nobody waited for it.
    const headers = { "content-type": "application/json", "content-length": "1000" };
    const request = openRequest(`${service.baseUrl}/api/auth/login`, { method: "POST", headers });
    request.flushHeaders();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(429);
    request.on("error", () => undefined).destroy();
  });

  it("do not go by X-Forwarded-For of anybody who is no trusted proxy", async () => {
    await using service = await openTestApp({ environment: { SERVICE_RATE_LOGIN: "10" } });
    let turn = 0;
    const counts = await many(25, () =>
      service.ask("POST", "/api/auth/login", { ...LOGIN, headers: forwardedFor(`192.0.2.${turn++}`) }),
    );
    expect(counts[429]).toBe(15);
  });

  it("go by what a trusted proxy says: the last address that is no proxy's, IPv6 by its /64", async () => {
    const environment = { SERVICE_RATE_LOGIN: "10", SERVICE_TRUSTED_PROXIES: "127.0.0.0/8,10.0.0.0/8" };
    await using service = await openTestApp({ environment });
    const refused = async (address: (turn: number) => string): Promise<number> => {
      let turn = 0;
      const ask = () => service.ask("POST", "/api/auth/login", { ...LOGIN, headers: forwardedFor(address(turn++)) });
      return (await many(25, ask))[429] ?? 0;
    };
    expect(await refused((turn) => `192.0.2.${turn}`)).toBe(0);
    expect(await refused((turn) => `2001:db8:0:1:${turn}::1`)).toBe(15);
    expect(await refused((turn) => `2001:db8:0:2${turn}::1`)).toBe(0);
    // The client's own header stands left of what the proxy adds; other proxies of ours stand right of it.
    expect(await refused((turn) => `198.51.100.${turn}, 203.0.113.7, 10.1.2.3`)).toBe(15);
    expect(await refused((turn) => `198.51.100.${turn}, ::ffff:203.0.113.8`)).toBe(15);
    // What is no address counts as the proxy that passed it on.
    expect(await refused((turn) => `made-up-${turn}`)).toBe(15);
    expect(await refused((turn) => `203.0.113.9:${4000 + turn}`)).toBe(15);
  });
});

function forwardedFor(addresses: string): Record<string, string> {
  return { "x-forwarded-for": addresses };
}

describe("the limit of credentials", () => {
  const environment = { SERVICE_RATE_GENERAL: "60", SERVICE_RATE_GENERAL_BURST: "10" };
  const get = (service: TestApp, key: string) => service.ask("GET", "/api/vaults", { key });

  it("is exact for parallel requests, and each key's own [D2-general]", async () => {
    await using service = await openTestApp({ environment });
    const [one, other] = [await service.signUp(), await service.signUp()];
    expect(await many(25, () => get(service, one.key))).toEqual({ 200: 10, 429: 15 });
    const answer = await get(service, other.key);
    expect([answer.status, answer.headers["ratelimit-policy"], answer.headers["ratelimit"]]).toEqual([
      200,
      '"general";q=60;w=60;coffer-burst=10',
      '"general";r=9;t=1',
    ]);
    service.clock.advance(1_000);
    expect(await many(5, () => get(service, one.key))).toEqual({ 200: 1, 429: 4 });
  });

  it("counts refused requests of a live credential, and none of a dead one [D2-general]", async () => {
    await using service = await openTestApp({ environment });
    const { key } = await service.signUp();
    const missing = () => service.ask("GET", "/api/files/4f3c2b1a-aaaa-4bbb-8ccc-121212121212", { key });
    expect(await many(25, missing)).toEqual({ 404: 10, 429: 15 });
    const unknown = await get(service, "cof_unknown");
    expect([unknown.status, unknown.headers["ratelimit"]]).toEqual([401, undefined]);
  });

  it("is said on bytes and on empty answers too [D1-rate-limited]", async () => {
    await using service = await openTestApp({ environment });
    const { key } = await service.signUp();
    const { body } = await service.ask("POST", "/api/files?name=a", { key, payload: "bytes" });
    const path = `/api/files/${(body["file"] as { id: string }).id}`;
    const answers = [
      await service.ask("GET", `${path}/content`, { key }),
      await service.ask("DELETE", `${path}?permanent=true`, { key }),
    ];
    expect(answers.map(({ status, headers }) => [status, headers["ratelimit"]])).toEqual([
      [200, '"general";r=8;t=1'],
      [204, '"general";r=7;t=1'],
    ]);
  });
});

it("meets nobody in development unless the environment says so [D2-dev-rates]", async () => {
  await using service = await openTestApp();
  const { key } = await service.signUp();
  expect(await many(1500, () => service.ask("GET", "/api/vaults?limit=1", { key }))).toEqual({ 200: 1500 });
  expect(await many(100, () => service.ask("POST", "/api/auth/login", { json: {} }))).toEqual({ 400: 100 });
});
