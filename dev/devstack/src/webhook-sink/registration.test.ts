import { createClient, type Client } from "@coffer/sdk";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startStack, type Stack } from "../stack.ts";
import { registerSink } from "./registration.ts";
import { startWebhookSink, type WebhookSink } from "./sink.ts";

let stack: Stack;
let sink: WebhookSink;
let client: Client;

beforeEach(async () => {
  stack = await startStack();
  sink = await startWebhookSink();
  client = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: stack.apiKey } });
});

afterEach(async () => {
  await sink.close();
  await stack.close();
});

async function endpoints(): Promise<string[]> {
  const urls: string[] = [];
  for await (const { url } of client.webhooks.list()) urls.push(url);
  return urls;
}

it("has every event delivered to the sink, verified, until it is disposed of", async () => {
  const registration = await registerSink(client, sink);
  const { status } = await client.webhooks.test(registration.webhookId);
  expect(status).toBe("success");
  await client.vaults.create({ name: "one", type: "public" });
  while (sink.deliveries.all.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(sink.deliveries.all.map(({ kind, problem }) => [kind, problem])).toEqual([
    ["webhook.test", null],
    ["vault.created", null],
  ]);
  await registration[Symbol.asyncDispose]();
  expect(await endpoints()).toEqual([]);
});

it("removes what a killed run has left, and neither another run's nor the user's own", async () => {
  const gone = await startWebhookSink();
  await registerSink(client, gone);
  await gone.close();
  await registerSink(client, sink);
  await client.webhooks.create({ url: gone.hookUrl, events: ["file.uploaded"], description: "my own" });
  await using other = await startWebhookSink();
  await registerSink(client, other);
  expect((await endpoints()).toSorted()).toEqual([gone.hookUrl, sink.hookUrl, other.hookUrl].toSorted());
});

it("that cannot be removed any more is no error", async () => {
  const registration = await registerSink(client, sink);
  await stack.close();
  await registration[Symbol.asyncDispose]();
});
