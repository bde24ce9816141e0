import { expect, it } from "vitest";
import { openTestApp } from "../app.test-kit.ts";
import { ofEachTest } from "../each.test-kit.ts";

const test = ofEachTest(openTestApp);

it("shows at once that a key has arrived where it was to be used, and later uses now and then", async () => {
  const owner = await test.signUp();
  const { id, key } = await test.newKey(owner.key, {});
  const lastUsed = async (): Promise<unknown> =>
    (await test.ask("GET", `/api/auth/api-keys/${id}`, { key: owner.key })).body["apiKey"];
  expect(await lastUsed()).toMatchObject({ lastUsedAt: null });
  const at = new Date(test.clock.now()).toISOString();
  expect((await test.ask("GET", "/api/account", { key })).status).toBe(200);
  await expect.poll(lastUsed).toMatchObject({ lastUsedAt: at });
  test.clock.advance(1_000);
  expect((await test.ask("GET", "/api/account", { key })).status).toBe(200);
  expect(await lastUsed()).toMatchObject({ lastUsedAt: at });
});
