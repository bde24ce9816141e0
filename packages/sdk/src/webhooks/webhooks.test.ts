/** The client's webhooks, against the fake service. */
import { describe, expect, it } from "vitest";
import type { Client } from "../client.ts";
import { openService } from "../connection/service.test-kit.ts";
import { createFake, type Fake, type Receive } from "../testing/index.ts";
import { isEvent, verifyWebhook, type ReceivedEvent } from "./index.ts";

const HOOK = "http://127.0.0.1:9/hook";
const START = Date.UTC(2026, 10, 21, 22);

interface Scene {
  readonly client: Client;
  readonly fake: Fake;
  /** Requests that arrived at the receiver. */
  readonly arrived: Request[];
  /** What the receiver answers from now on. */
  answer: number;
  /** Milliseconds since 1970. */
  now: number;
}

async function open(): Promise<Scene> {
  const arrived: Request[] = [];
  const receive: Receive = (request) => {
    arrived.push(request.clone());
    if (scene.answer === 0) throw new Error("nobody is there");
    return new Response(scene.answer === 204 ? null : "noted", { status: scene.answer });
  };
  const fake = createFake({ now: () => scene.now, receive });
  const scene = { arrived, fake, answer: 204, now: START } as { -readonly [Field in keyof Scene]: Scene[Field] };
  scene.client = (await openService(fake)).client;
  return scene;
}

async function readAll(scene: Scene, secrets: string | string[]): Promise<ReceivedEvent[]> {
  const now = (): number => scene.now;
  return Promise.all(
    scene.arrived.map(async (request) =>
      verifyWebhook({ body: await request.clone().text(), headers: request.headers, secrets, now }),
    ),
  );
}

describe("webhooks", () => {
  it("are at most 20, and at addresses that may be called", async () => {
    const { client } = await open();
    const refused = ["ftp://example.com", "http://example.com", "https://a:b@example.com", "nothing"];
    for (const url of refused)
      await expect(client.webhooks.create({ url, events: ["*"] })).rejects.toMatchObject({ code: "url_refused" });
    for (let made = 0; made < 20; made += 1)
      await client.webhooks.create({ url: "https://example.com", events: ["*"] });
    const more = client.webhooks.create({ url: HOOK, events: ["*"] });
    await expect(more).rejects.toMatchObject({ code: "limit_reached" });
  });

  it("get what they subscribed to, again and again until it is taken", async () => {
    const scene = await open();
    const { client, fake } = scene;
    const { webhook, secret } = await client.webhooks.create({ url: HOOK, events: ["file.uploaded"] });
    scene.answer = 500;
    const { file } = await client.files.upload({ name: "a", body: new Uint8Array(9) });
    await client.vaults.create({ name: "Other", type: "public" });
    expect(await fake.deliverWebhooks()).toBe(1);
    expect(await fake.deliverWebhooks()).toBe(0);
    expect(await client.webhooks.get(webhook.id)).toMatchObject({ lastDeliveryStatus: "pending", failureCount: 1 });
    scene.now += 5_000;
    scene.answer = 200;
    expect(await fake.deliverWebhooks()).toBe(1);
    expect(await client.webhooks.get(webhook.id)).toMatchObject({ lastDeliveryStatus: "success", failureCount: 0 });
    const events = await readAll(scene, secret);
    expect(events).toHaveLength(2);
    expect(events[0]).toEqual(events[1]);
    expect(events.every((event) => isEvent(event, "file.uploaded") && event.data.object.id === file.id)).toBe(true);
    expect(new Set(scene.arrived.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
  });

  it("fail for good after ten attempts, and get nothing while they are off", async () => {
    const scene = await open();
    const { client, fake } = scene;
    const { webhook } = await client.webhooks.create({ url: HOOK, events: ["*"] });
    scene.answer = 0;
    await client.vaults.create({ name: "Other", type: "public" });
    for (let attempt = 0; attempt < 12; attempt += 1) {
      await fake.deliverWebhooks();
      scene.now += 25 * 3_600_000;
    }
    expect(scene.arrived).toHaveLength(10);
    expect(await client.webhooks.get(webhook.id)).toMatchObject({ failureCount: 10, lastDeliveryStatus: "failed" });
    await client.webhooks.update(webhook.id, { active: false });
    await client.folders.create({ name: "f" });
    expect(await fake.deliverWebhooks()).toBe(0);
  });
});
