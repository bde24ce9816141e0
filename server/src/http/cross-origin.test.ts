/** Pages of other origins: nobody's by default, those that the operator names otherwise, and never more than what their key may do. */
import { describe, expect, it } from "vitest";
import { parseConfig } from "../config.ts";
import { PRODUCTION } from "../config/config.test-kit.ts";
import { openTestApp, type TestApp } from "../app.test-kit.ts";

const CONSOLE = "https://console.example.test";
const ELSEWHERE = "https://elsewhere.example.test";
const NAMED = { environment: { SERVICE_CORS_ORIGINS: `https://other.example.test, ${CONSOLE}` } };
const GRANTED = {
  "access-control-allow-origin": CONSOLE,
  "access-control-expose-headers": "*",
  vary: "Origin",
};

function preflight(service: TestApp, url: string, origin: string, method = "POST") {
  const headers = {
    origin,
    "access-control-request-method": method,
    "access-control-request-headers": "authorization",
  };
  return service.app.inject({ method: "OPTIONS", url, headers });
}

function crossOriginHeaders(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => /^access-control-|^vary$/.test(name)));
}

describe("pages of an origin that the operator names", () => {
  it("read every kind of answer: JSON, empty ones, bytes, failures, unknown paths", async () => {
    await using service = await openTestApp(NAMED);
    const { key } = await service.signUp();
    const from = { key, headers: { origin: CONSOLE } };
    const payload = "some bytes";
    const headers = { ...from.headers, "content-type": "text/plain", "content-length": String(payload.length) };
    const stored = await service.ask("POST", "/api/files?name=a.txt", { key, headers, payload });
    expect(stored.status).toBe(201);
    const { id } = stored.body["file"] as { id: string };
    const answers = [
      stored,
      await service.ask("GET", "/api/account", from),
      await service.ask("GET", `/api/files/${id}/content`, from),
      await service.ask("HEAD", `/api/files/${id}/content`, from),
      await service.ask("GET", "/api/account", { ...from, headers: { ...from.headers, "api-version": "2026-01-01" } }),
      await service.ask("GET", `/api/files/${crypto.randomUUID()}`, from),
      await service.ask("GET", "/nothing/here", from),
      await service.ask("GET", "/%zz", from),
      await service.ask("GET", "/api/account", { ...from, key: "wrong" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200, 404, 404, expect.any(Number), 401]);
    for (const answer of answers) expect(crossOriginHeaders(answer.headers)).toEqual(GRANTED);
  });

  it("are told before what they may send, whatever the path, without a credential and without cookies", async () => {
    await using service = await openTestApp(NAMED);
    for (const url of ["/api/files", "/api/uploads", "/api/uploads/1", "/nothing/here"]) {
      const answer = await preflight(service, url, CONSOLE, "PATCH");
      expect([url, answer.statusCode, answer.payload]).toEqual([url, 204, ""]);
      expect(crossOriginHeaders(answer.headers)).toEqual({
        ...GRANTED,
        "access-control-allow-headers": "Authorization, *",
        "access-control-allow-methods": "*",
        "access-control-max-age": "7200",
      });
    }
    const line = service.logged().trim().split("\n").at(-1) ?? "";
    expect(JSON.parse(line)).toMatchObject({ event: "request", status: 204 });
    // Of tus, which asks without being a browser's question.
    const options = await service.app.inject({ method: "OPTIONS", url: "/api/uploads", headers: { origin: CONSOLE } });
    expect(options.headers["tus-version"]).toBe("1.0.0");
    expect(crossOriginHeaders(options.headers)).toEqual(GRANTED);
  });

  it("act as nobody without a credential of their own, in development too", async () => {
    await using service = await openTestApp(NAMED);
    await service.signUp();
    const headers = { origin: CONSOLE, "sec-fetch-site": "cross-site" };
    const answer = await service.ask("GET", "/api/account", { headers });
    expect([answer.status, answer.headers["x-error-code"]]).toEqual([403, "development_origin"]);
  });
});

describe("pages of all other origins", () => {
  it.each([
    ["when none is named", undefined, {}],
    ["when others are named", NAMED, { vary: "Origin" }],
  ])("read nothing and are told nothing, %s", async (_when, options, expected) => {
    await using service = await openTestApp(options);
    const { key } = await service.signUp();
    const origins = [
      ELSEWHERE,
      "null",
      "*",
      `${CONSOLE}.evil.test`,
      `${CONSOLE}:444`,
      CONSOLE.toUpperCase(),
      `${CONSOLE}/`,
    ];
    for (const origin of origins) {
      const answer = await service.ask("GET", "/api/account", { key, headers: { origin } });
      expect([origin, answer.status, crossOriginHeaders(answer.headers)]).toEqual([origin, 200, expected]);
      const asked = await preflight(service, "/api/files", origin);
      expect([asked.statusCode, crossOriginHeaders(asked.headers)]).toEqual([405, expected]);
    }
  });
});

describe("SERVICE_CORS_ORIGINS", () => {
  const parse = (origins: string, environment = {}) =>
    parseConfig({ SERVICE_ENV: "development", SERVICE_CORS_ORIGINS: origins, ...environment }).settings.corsOrigins;

  it("takes origins as browsers send them", () => {
    expect(parse("")).toEqual([]);
    expect(parse(`${CONSOLE},http://localhost:5173 http://[::1]:8080`)).toEqual([
      CONSOLE,
      "http://localhost:5173",
      "http://[::1]:8080",
    ]);
  });

  it.each([
    "*",
    "null",
    "console.example.test",
    `${CONSOLE}/`,
    `${CONSOLE}:443`,
    "https://Console.example.test",
    "file:///a",
    "https://u:p@a.test",
  ])("refuses %s, which none would ever match or everybody would", (wrong) => {
    expect(() => parse(`${CONSOLE} ${wrong}`)).toThrow(/SERVICE_CORS_ORIGINS: entry 2 is no origin/);
  });

  it("in production takes plain http from this machine only", () => {
    expect(() => parse("http://console.example.test", PRODUCTION)).toThrow(/entry 1 is not https/);
    expect(parse("http://localhost:3000", PRODUCTION)).toEqual(["http://localhost:3000"]);
  });
});
