import { describe, expect, it } from "vitest";
import { AGENT_SCOPES, api, endpointsOf, ERRORS, errorsOf, isBytes, scopeOf } from "./index.ts";

const endpoints = endpointsOf(api);
const named = endpoints.map((endpoint) => [endpoint.id, endpoint] as const);

describe("every endpoint", () => {
  it("has an id that says where it stands, once", () => {
    for (const [group, members] of Object.entries(api)) {
      for (const [name, endpoint] of Object.entries(members)) expect(endpoint.id).toBe(`${group}.${name}`);
    }
  });

  it("has a method and path of its own", () => {
    const places = endpoints.map((endpoint) => `${endpoint.method} ${endpoint.path}`);
    expect(new Set(places).size).toBe(places.length);
  });

  it.each(named)("%s declares each parameter of its path", (_, endpoint) => {
    const inPath = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    expect(Object.keys(endpoint.params?._zod.def.shape ?? {})).toEqual(inPath);
  });

  it.each(named)("%s is consistent in who may call", (_, endpoint) => {
    expect(endpoint.access === "anyone").toBe(endpoint.auth === "none");
    if (endpoint.auth === "none") expect(endpoint.scope).toBeNull();
    const scope = scopeOf(endpoint, "agent");
    if (endpoint.access === "agent" && scope !== null) expect(AGENT_SCOPES).toContain(scope);
  });

  it.each(named)("%s has an effect that fits its method", (_, endpoint) => {
    // Beginning a sign-in is a GET by the specification, and leaves a row behind: nobody repeats it unasked.
    const begins = /^identityProvider\.authorize/.test(endpoint.id);
    if (["GET", "HEAD", "OPTIONS"].includes(endpoint.method)) expect(endpoint.effect).toBe(begins ? "create" : "read");
    else if (endpoint.id !== "auth.checkAccessCode") expect(endpoint.effect).not.toBe("read");
  });

  it.each(named)("%s answers only with codes of the catalogue, and a body only where one may be", (_, endpoint) => {
    for (const code of errorsOf(endpoint)) expect(ERRORS[code].status).toBeGreaterThanOrEqual(400);
    if (endpoint.status === 204) expect(endpoint.output).toBeUndefined();
    if (endpoint.method === "GET") expect(endpoint.output).toBeDefined();
    if (endpoint.secretResponse) expect(isBytes(endpoint.output)).toBe(false);
  });
});

describe("the error catalogue", () => {
  it("tells every code's next step in one sentence", () => {
    for (const [code, error] of Object.entries(ERRORS)) {
      expect(error.nextStep, code).toMatch(/^[A-Z].*\.$/);
      expect(error.message, code).not.toMatch(/\.$/);
    }
  });

  it("retries no error that the same request would meet again", () => {
    for (const [code, error] of Object.entries(ERRORS)) {
      if ([401, 403, 404, 410, 412, 413, 415, 422].includes(error.status)) expect(error.retryable, code).toBe(false);
    }
  });
});
