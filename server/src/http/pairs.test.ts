/** Words that every object inherits, as keys of what a request brings in pairs: none is dropped without a word. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { openTestApp, type TestApp } from "../app.test-kit.ts";

const INHERITED = ["__proto__", "constructor", "toString", "hasOwnProperty"];

let service: TestApp;
let key: string;
beforeAll(async () => {
  service = await openTestApp();
  ({ key } = await service.signUp());
});
afterAll(() => service[Symbol.asyncDispose]());

it.each(INHERITED)("%s in a query is refused like any unknown key", async (word) => {
  for (const url of [`/api/files?${word}=x`, `/api/files?limit=1&${word}=1&${word}=2`, `/api/files?${word}[limit]=1`])
    expect((await service.ask("GET", url, { key })).status, url).toBe(400);
});

it.each(INHERITED)("%s in a JSON body is refused like any unknown key, at every depth", async (word) => {
  const bodies = [`{"name":"a","type":"public","${word}":{}}`, `{"name":"a","type":"public","${word}":"x"}`];
  for (const payload of bodies) {
    const answer = await service.ask("POST", "/api/vaults", { key, payload, headers: JSON_TYPE });
    expect(answer.status, payload).toBe(400);
  }
  const nested = `{"name":"k","budgets":{"${word}":1},"scopes":[]}`;
  expect((await service.ask("POST", "/api/auth/api-keys", { key, payload: nested, headers: JSON_TYPE })).status).toBe(
    400,
  );
});

it.each(INHERITED)("%s as a digest algorithm is none that is known", async (word) => {
  const headers = { "content-digest": `${word}=:AAAA:`, "content-type": "text/plain" };
  const answer = await service.ask("POST", `/api/files?name=${word}`, { key, payload: "x", headers });
  expect([201, 400]).toContain(answer.status);
  const sum = { "tus-resumable": "1.0.0", "upload-length": "1", "upload-checksum": `${word} AAAA` };
  const metadata = `filename ${Buffer.from(word + ".txt").toString("base64")}`;
  const upload = await service.ask("POST", "/api/uploads", { key, headers: { ...sum, "upload-metadata": metadata } });
  expect(upload.status).toBe(400);
});

const JSON_TYPE = { "content-type": "application/json" };
