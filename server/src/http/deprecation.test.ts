/** An operation that will go says so with every answer. None of the interface is one: the tests declare it of some. */
import { api, type Deprecation, type EndpointDefinition } from "@coffer/contract";
import { renderOpenApi } from "@coffer/contract/openapi";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openTestApp, type TestApp } from "../app.test-kit.ts";

const DEPRECATED: Deprecation = {
  since: "2026-11-01",
  sunset: "2027-05-01",
  instead: "vaults.get",
  page: "https://coffer.example.com/moving",
};
const SAYS = {
  deprecation: "@1793491200",
  sunset: "Sat, 01 May 2027 00:00:00 GMT",
  link: '<https://coffer.example.com/moving>; rel="deprecation"; type="text/html"',
};

const ending = [api.vaults.list, api.files.content] as readonly EndpointDefinition[] as readonly {
  deprecated?: Deprecation;
}[];
let test: TestApp;
let key: string;

beforeAll(async () => {
  for (const endpoint of ending) endpoint.deprecated = DEPRECATED;
  test = await openTestApp({ environment: { SERVICE_CORS_ORIGINS: "https://app.example.com" } });
  ({ key } = await test.signUp());
});
afterAll(async () => {
  for (const endpoint of ending) delete endpoint.deprecated;
  await test[Symbol.asyncDispose]();
});

it("answers of it carry Deprecation, Sunset and the page, failures too [D1-deprecation]", async () => {
  const vaultId = await test.newVault(key, "Team");
  const uploaded = await test.ask("POST", `/api/files?vaultId=${vaultId}&name=a.txt`, {
    key,
    payload: "text",
    headers: { "content-type": "text/plain" },
  });
  const { id } = uploaded.body["file"] as { id: string };
  for (const [call, status] of [
    [test.ask("GET", "/api/vaults", { key }), 200],
    [test.ask("GET", "/api/vaults", { key, headers: { "api-version": "2026-11-20" } }), 200],
    [test.ask("GET", "/api/vaults", { key, headers: { origin: "https://app.example.com" } }), 200],
    [test.ask("GET", "/api/vaults", { key: "cof_unknown" }), 401],
    [test.ask("GET", `/api/files/${id}/content`, { key }), 200],
    [test.ask("GET", `/api/files/${id}/content`, { key, headers: { range: "bytes=9-" } }), 416],
  ] as const) {
    const answer = await call;
    expect(answer).toMatchObject({ status, headers: SAYS });
    expect(answer.headers["cache-control"]).toBeDefined();
  }
  const other = await test.ask("GET", `/api/vaults/${vaultId}`, { key });
  expect(Object.keys(other.headers)).toEqual(expect.not.arrayContaining(Object.keys(SAYS)));
});

it("the description of the interface marks it, and no other [D1-deprecation]", () => {
  const { paths } = renderOpenApi(api, {}) as { paths: Record<string, Record<string, { deprecated?: boolean }>> };
  const marked = Object.entries(paths).filter(([, methods]) =>
    Object.values(methods).some(({ deprecated }) => deprecated),
  );
  expect(marked.map(([path]) => path)).toEqual(["/api/vaults", "/api/files/{fileId}/content"]);
  expect(paths["/api/vaults"]?.["get"]).toMatchObject({
    description: "Deprecated since 2026-11-01: use vaults.get. It ends on 2027-05-01.",
  });
});
