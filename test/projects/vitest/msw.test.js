// @vitest-environment jsdom
import { api } from "@coffer/contract";
import { createClient } from "@coffer/sdk";
import { createFake, Failure } from "@coffer/sdk/testing";
import { handlers, mock } from "@coffer/sdk/testing/msw";
import { setupServer } from "msw/node";
import { afterAll, beforeAll, expect, it } from "vitest";

const baseUrl = "http://fake.test";
const full = mock(api.vaults.create, () => {
  throw new Failure("limit_reached");
});
const server = setupServer(full, ...handlers(createFake(), { baseUrl }));

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
afterAll(() => server.close());

it("answers a page's requests with the fake, and one endpoint as the test says", async () => {
  const { apiKey } = await createClient({ baseUrl }).development.signup({ email: "test@example.com" });
  const client = createClient({ baseUrl, credentials: { apiKey } });
  const body = new File(["words"], "a.txt", { type: "text/plain" });
  const { file } = await client.files.upload({ name: "a.txt", body });
  expect(file.contentType).toBe("text/plain");
  expect(await (await client.files.download(file.id)).text()).toBe("words");
  await expect(client.vaults.create({ name: "b", type: "public" })).rejects.toMatchObject({ code: "limit_reached" });
});
