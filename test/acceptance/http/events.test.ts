import { describe, expect, it } from "vitest";
import { createKey, revokeKey, signUp } from "../kit/account.ts";
import { expectError, fieldsAt, objectIn, textIn } from "../kit/answers.ts";
import { openFeed, type Feed, type FeedEvent } from "../kit/event-feed.ts";
import { send } from "../kit/http.ts";
import { useService } from "../kit/service.ts";

const service = useService();

interface Owner {
  readonly key: string;
  makeFolder(name: string): Promise<string>;
  follow(options?: Parameters<typeof openFeed>[2]): Promise<Feed>;
}

async function newOwner(): Promise<Owner> {
  const { baseUrl } = service().server;
  const { apiKey: key } = await signUp(baseUrl);
  return {
    key,
    follow: (options) => openFeed(baseUrl, key, options),
    async makeFolder(name) {
      const answer = await send(baseUrl, "/api/folders", { method: "POST", key, body: { name } });
      return textIn(objectIn(fieldsAt(answer, 201), "folder"), "id");
    },
  };
}

interface Payload {
  readonly type: string;
  readonly data: { readonly sequence: number; readonly object: { readonly id: string } };
}

const payloadOf = ({ data }: FeedEvent): Payload => JSON.parse(data) as Payload;

describe("the event feed", () => {
  it("streams what happens to its owner as server-sent events [D6-event-feed D1-changes-readers]", async () => {
    const owner = await newOwner();
    const stranger = await newOwner();
    await using feed = await owner.follow();
    expect(feed.status).toBe(200);
    expect(feed.headers.get("content-type")).toMatch(/^text\/event-stream\b/);
    expect(feed.headers.get("cache-control")).toMatch(/no-store|no-cache/);
    await stranger.makeFolder("of a stranger");
    const id = await owner.makeFolder("mine");
    const event = await feed.next();
    const payload = payloadOf(event);
    expect(payload).toMatchObject({ type: "folder.created", data: { object: { type: "folder", id } } });
    expect(event).toMatchObject({ kind: "folder.created", id: String(payload.data.sequence) });
    expect(event.data).not.toContain("mine");
  });

  it("begins where its reader says, and resumes after the last that was seen [D6-event-feed]", async () => {
    const owner = await newOwner();
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1) ids.push(await owner.makeFolder(`f${count}`));
    const folders = async (feed: Feed, count: number): Promise<FeedEvent[]> => {
      const events: FeedEvent[] = [];
      while (events.length < count) {
        const event = await feed.next();
        if (event.kind === "folder.created") events.push(event);
      }
      return events;
    };
    await using first = await owner.follow({ query: "?after=0" });
    const all = await folders(first, 4);
    expect(all.map((event) => payloadOf(event).data.object.id)).toEqual(ids);
    await using second = await owner.follow({ query: `?after=${String(all[1]?.id)}` });
    expect((await folders(second, 2)).map(({ id }) => id)).toEqual(all.slice(2).map(({ id }) => id));
    // As an EventSource does by itself; the header wins over the address that it was opened with.
    const headers = { "last-event-id": String(all[2]?.id) };
    await using third = await owner.follow({ query: "?after=0", headers });
    expect((await folders(third, 1)).map(({ id }) => id)).toEqual([all[3]?.id]);
    ids.push(await owner.makeFolder("live"));
    for (const feed of [first, second, third])
      expect(payloadOf((await folders(feed, 1))[0]!).data.object.id).toBe(ids[4]);
  });

  it("refuses a place that is no number [D6-event-feed D1-validation-400]", async () => {
    for (const after of ["-1", "x", "1.5", ""])
      expectError(await service().ask("GET", `/api/events?after=${after}`), 400, "validation_failed");
    const headers = { "last-event-id": "x" };
    expectError(await service().ask("GET", "/api/events", { headers }), 400, "validation_failed");
  });

  it("asks for events:read, and ends when its key is revoked [D6-event-feed S3-key-revoked-in-flight D4-in-flight-cut]", async () => {
    const owner = await newOwner();
    const { baseUrl } = service().server;
    const key = await createKey(baseUrl, owner.key, { name: "listener", scopes: ["events:read"] });
    await using feed = await openFeed(baseUrl, key.key);
    expect(feed.status).toBe(200);
    await revokeKey(baseUrl, owner.key, key.id);
    const readAll = async (): Promise<void> => {
      for (;;) await feed.next();
    };
    await expect(readAll()).rejects.toThrow(/ended|terminated|closed|aborted/);
    expectError(await service().ask("GET", "/api/events", { key: key.key }), 401, "invalid_credential");
    const narrow = await createKey(baseUrl, owner.key, { name: "deaf", scopes: ["webhooks:read"] });
    expectError(await service().ask("GET", "/api/events", { key: narrow.key }), 403, "missing_scope");
  });
});
