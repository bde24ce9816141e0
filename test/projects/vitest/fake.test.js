import { createClient, inProcessTransport } from "@coffer/sdk";
import { createFake } from "@coffer/sdk/testing";
import { expect, it } from "vitest";

const baseUrl = "http://fake.test";

it("stores in the fake", async () => {
  const transport = inProcessTransport(createFake().fetch);
  const { apiKey } = await createClient({ baseUrl, transport }).development.signup({ email: "test@example.com" });
  const client = createClient({ baseUrl, transport, credentials: { apiKey } });
  const { file } = await client.files.upload({ name: "a.txt", body: "words" });
  expect(await (await client.files.download(file.id)).text()).toBe("words");
});
