/** The client's webhooks and event feed, against the fake service. */
import { describe, expect, it } from "vitest";
import { createClient, type Client } from "../client.ts";
import type { Delivery } from "@coffer/contract";
import { BASE_URL, openService } from "../test-service.ts";
import { createFake, type Fake, type Receive } from "../testing/index.ts";
import { isEvent, verifyWebhook, type ReceivedEvent } from "../webhooks/index.ts";

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
    const refused = [
      "ftp://example.com",
      "http://example.com",
      "https://a:b@example.com",
      "https://10.0.0.1/",
      "nothing",
    ];
    for (const url of refused)
      await expect(client.webhooks.create({ url, events: ["*"] })).rejects.toMatchObject({ code: "url_refused" });
    for (let made = 0; made < 20; made += 1)
      await client.webhooks.create({ url: "https://example.com", events: ["*"] });
    const more = client.webhooks.create({ url: HOOK, events: ["*"] });
    await expect(more).rejects.toMatchObject({ code: "limit_reached" });
  });

  it("say what became of a test, also when nobody is there", async () => {
    const scene = await open();
    const { client } = scene;
    const { webhook, secret } = await client.webhooks.create({ url: HOOK, events: ["file.uploaded"] });
    const good = await client.webhooks.test(webhook.id);
    expect(good).toMatchObject({
      event: "webhook.test",
      status: "success",
      httpStatus: 204,
      attempts: 1,
      maxAttempts: 1,
    });
    scene.answer = 0;
    await client.webhooks.update(webhook.id, { active: false });
    const bad = await client.webhooks.test(webhook.id);
    expect(bad).toMatchObject({ status: "failed", httpStatus: 0, lastError: "connection refused" });
    expect(await client.webhooks.get(webhook.id)).toMatchObject({ lastDeliveryStatus: "failed", failureCount: 1 });
    const [event] = await readAll(scene, secret);
    expect(event).toMatchObject({ type: "webhook.test", data: { sequence: 0, object: { id: webhook.id } } });
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
    const newest = async (): Promise<Delivery | undefined> => (await client.webhooks.deliveries(webhook.id)).items[0];
    expect(await newest()).toMatchObject({ status: "pending", attempts: 1, lastError: "HTTP 500" });
    scene.now += 5_000;
    scene.answer = 200;
    expect(await fake.deliverWebhooks()).toBe(1);
    const delivered = await newest();
    expect(delivered).toMatchObject({ status: "success", attempts: 2, lastError: "", nextAttemptAt: null });
    const { attempts } = await client.webhooks.delivery(webhook.id, delivered?.id ?? "");
    expect(attempts.map(({ number, httpStatus }) => [number, httpStatus])).toEqual([
      [1, 500],
      [2, 200],
    ]);
    const events = await readAll(scene, secret);
    expect(events).toHaveLength(2);
    expect(events[0]).toEqual(events[1]);
    expect(events.every((event) => isEvent(event, "file.uploaded") && event.data.object.id === file.id)).toBe(true);
    expect(new Set(scene.arrived.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
  });

  it("fail for good after ten attempts, and are sent again when asked for [D6-recover]", async () => {
    const scene = await open();
    const { client, fake } = scene;
    const { webhook } = await client.webhooks.create({ url: HOOK, events: ["*"] });
    scene.answer = 503;
    await client.vaults.create({ name: "Other", type: "public" });
    for (let attempt = 0; attempt < 12; attempt += 1) {
      await fake.deliverWebhooks();
      scene.now += 25 * 3_600_000;
    }
    const { items } = await client.webhooks.deliveries(webhook.id, { status: "failed" });
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ attempts: 10, maxAttempts: 10 });
    expect(await client.webhooks.get(webhook.id)).toMatchObject({ failureCount: 10, lastDeliveryStatus: "failed" });
    const since = new Date(START).toISOString();
    expect(await client.webhooks.recover(webhook.id, { since })).toBe(1);
    expect(await client.webhooks.recover(webhook.id, { since })).toBe(0);
    scene.answer = 200;
    expect(await fake.deliverWebhooks()).toBe(1);
    const again = await client.webhooks.redeliver(webhook.id, items[0]?.id ?? "");
    expect(again).toMatchObject({ status: "pending", messageId: items[0]?.messageId });
    expect(await client.webhooks.get(webhook.id)).toMatchObject({ failureCount: 0, lastDeliveryStatus: "success" });
    await client.webhooks.update(webhook.id, { active: false });
    const refused = client.webhooks.redeliver(webhook.id, again.id);
    await expect(refused).rejects.toMatchObject({ code: "webhook_inactive" });
  });

  it("sign with the old secret too for a day after it was rotated [D6-rotate-secret]", async () => {
    const scene = await open();
    const { client } = scene;
    const { webhook, secret } = await client.webhooks.create({ url: HOOK, events: ["*"] });
    const rotated = await client.webhooks.rotateSecret(webhook.id);
    expect(rotated.previousSecretExpiresAt).toBe(new Date(START + 24 * 3_600_000).toISOString());
    await client.webhooks.test(webhook.id);
    await expect(readAll(scene, secret)).resolves.toHaveLength(1);
    await expect(readAll(scene, rotated.secret)).resolves.toHaveLength(1);
    scene.arrived.length = 0;
    scene.now += 24 * 3_600_000;
    await client.webhooks.test(webhook.id);
    await expect(readAll(scene, rotated.secret)).resolves.toHaveLength(1);
    await expect(readAll(scene, secret)).rejects.toMatchObject({ reason: "no_match" });
  });

  it("come with a catalogue of what there is", async () => {
    const { client } = await open();
    const kinds = await client.webhooks.eventKinds();
    expect(kinds.map(({ kind }) => kind)).toContain("vault.member_added");
    expect(kinds.find(({ kind }) => kind === "file.uploaded")?.example).toMatchObject({
      data: { object: { type: "file" } },
    });
  });
});

describe("the event feed", () => {
  it("tells of the account's changes as they happen, and of no other's", async () => {
    const { client, fake } = await open();
    const other = createClient({ baseUrl: BASE_URL, transport: fake.fetch });
    const feed = client.events.follow();
    const first = feed.next();
    // The feed begins with what happens once it stands.
    while (fake.state.readers.size === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await other.development.signup({ email: "b@example.com" });
    const vault = await client.vaults.create({ name: "Mine", type: "public" });
    expect((await first).value).toMatchObject({ type: "vault.created", data: { object: { id: vault.id } } });
    await client.vaults.delete(vault.id);
    expect((await feed.next()).value).toMatchObject({ type: "vault.trashed", data: { object: { id: vault.id } } });
    await feed.return();
    expect(fake.state.readers.size).toBe(0);
  });

  it("goes on where a program stopped", async () => {
    const { client } = await open();
    const kinds: string[] = [];
    for await (const event of client.events.follow({ after: 0 })) {
      kinds.push(event.type);
      if (event.type === "api_key.created") break;
    }
    expect(kinds).toEqual(["vault.created", "api_key.created"]);
  });
});
