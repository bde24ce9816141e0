import { describe, expect, it } from "vitest";
import { expectError, expectStatus, fieldsAt, listIn, textIn, TIMESTAMP, UUID } from "../kit/answers.ts";
import { useService, useWebhookSink } from "../kit/service.ts";
import { hasEnded, openScene, wasTried, type Scene } from "../kit/webhook-scene.ts";
import { eventIn, isSignedBy, verifyArrived } from "../kit/webhook-sink.ts";
import { eventually, hurryToEnd } from "../kit/webhooks.ts";

const service = useService();

const sink = useWebhookSink();

const scene = (): Promise<Scene> => openScene(service().server.baseUrl, sink);

describe("an event", () => {
  it("goes to the endpoints that subscribed to its kind, signed with the secret of each [S6-subscribed-events D6-payload D6-headers D1-changes-readers S2.1-events]", async () => {
    const { account, webhooks, receiver, secret, act } = await scene();
    const [all, none, off] = [sink.receiver(), sink.receiver(), sink.receiver()];
    const everything = await webhooks.create(all.url, ["*"]);
    await webhooks.create(none.url, ["file.uploaded", "folder.trashed"]);
    const sleeping = await webhooks.create(off.url, ["*"]);
    expectStatus(await webhooks.ask("PATCH", `/${sleeping.id}`, { active: false }), 200);
    const folderId = await act("private words");
    const [first, second] = [await receiver.waitFor(), await all.waitFor((one) => one.body.includes(folderId))];
    const event = verifyArrived(first, secret);
    expect(verifyArrived(second, everything.secret)).toEqual(event);
    expect(isSignedBy(first, everything.secret)).toBe(false);
    expect(second.headers["webhook-id"]).toBe(first.headers["webhook-id"]);
    expect(first.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "coffer-webhooks/1",
      "webhook-id": expect.stringMatching(/^msg_[0-9a-f]{32}$/) as string,
    });
    expect(Math.abs(Number(first.headers["webhook-timestamp"]) * 1000 - first.at)).toBeLessThan(5 * 60_000);
    expect(event).toEqual({
      type: "folder.created",
      timestamp: expect.stringMatching(TIMESTAMP) as string,
      data: {
        accountId: account.id,
        sequence: expect.any(Number) as number,
        actor: { type: "api-key", id: expect.stringMatching(UUID) as string, chainAddress: null },
        object: { type: "folder", id: folderId, vaultId: expect.stringMatching(UUID) as string, parentId: null },
      },
    });
    expect(first.body).not.toContain("private words");
    await act("another");
    await receiver.waitForCount(2);
    expect([none.arrived, off.arrived]).toEqual([[], []]);
  });

  it("is numbered in its account, and each of many arrives [D6-payload D1-changes-sequence S6-subscribed-events]", async () => {
    const { receiver, act, id, webhooks } = await scene();
    const ids: string[] = [];
    for (let count = 0; count < 12; count += 1) ids.push(await act(`n${count}`));
    const events = (await receiver.waitForCount(12)).map(eventIn);
    const facts = events.map(({ data }) => data as { sequence: number; object: { id: string } });
    const inOrder = facts.toSorted((left, right) => left.sequence - right.sequence);
    expect(inOrder.map(({ object }) => object.id)).toEqual(ids);
    const deliveries = await eventually(
      () => webhooks.deliveries(id),
      (all) => all.every(hasEnded),
    );
    expect(new Set(deliveries.map(({ sequence }) => sequence))).toEqual(new Set(facts.map(({ sequence }) => sequence)));
    expect(new Set(deliveries.map(({ messageId }) => messageId)).size).toBe(12);
  });
});

describe("a delivery", () => {
  it("that is refused twice arrives at the third attempt with the same webhook-id; the endpoint says how it stands [D6-delivery-status D6-last-delivery-status D6-failure-count S6-endpoint-reflects D6-headers D6-schedule]", async () => {
    const { webhooks, receiver, id, act } = await scene();
    receiver.answer(500, 503, 200);
    await act("retried");
    const waiting = await webhooks.waitForDelivery(id, "folder.created", wasTried);
    expect(waiting).toMatchObject({
      status: "pending",
      attempts: 1,
      maxAttempts: 10,
      httpStatus: 500,
      lastError: "HTTP 500",
    });
    expect(waiting["completedAt"]).toBeNull();
    const pause = Date.parse(textIn(waiting, "nextAttemptAt")) - Date.parse(textIn(waiting, "lastAttemptAt"));
    expect(pause).toBeGreaterThanOrEqual(4000);
    expect(pause).toBeLessThanOrEqual(6000);
    expect(await webhooks.get(id)).toMatchObject({ lastDeliveryStatus: "pending", failureCount: 1 });
    const delivery = await hurryToEnd(webhooks, service().dataDirectory, id, textIn(waiting, "id"));
    expect(delivery).toMatchObject({
      status: "success",
      attempts: 3,
      httpStatus: 200,
      lastError: "",
      nextAttemptAt: null,
    });
    expect(new Set(receiver.arrived.map(({ headers }) => headers["webhook-id"]))).toEqual(
      new Set([delivery["messageId"]]),
    );
    expect(receiver.arrived.length).toBe(3);
    const { attempts } = await webhooks.delivery(id, textIn(delivery, "id"));
    expect(attempts.map(({ number, trigger, httpStatus, error }) => [number, trigger, httpStatus, error])).toEqual([
      [1, "scheduled", 500, "HTTP 500"],
      [2, "scheduled", 503, "HTTP 503"],
      [3, "scheduled", 200, ""],
    ]);
    expect(await webhooks.get(id)).toMatchObject({
      lastDeliveryStatus: "success",
      lastDeliveryAt: delivery["completedAt"],
      failureCount: 0,
    });
  });

  it("that always fails ends after ten attempts; failed attempts in a row are counted, and a success begins anew [D6-max-attempts D6-failure-count S6-attempts-bounded S8-attempts D6-delivery-status]", async () => {
    const { webhooks, receiver, id, act } = await scene();
    const { dataDirectory } = service();
    receiver.answer(500);
    await act("hopeless");
    const first = await webhooks.waitForDelivery(id, "folder.created", wasTried);
    const delivery = await hurryToEnd(webhooks, dataDirectory, id, textIn(first, "id"));
    expect(delivery).toMatchObject({
      status: "failed",
      attempts: 10,
      maxAttempts: 10,
      httpStatus: 500,
      lastError: "HTTP 500",
    });
    expect(receiver.arrived.length).toBe(10);
    expect(await webhooks.get(id)).toMatchObject({ active: true, failureCount: 10, lastDeliveryStatus: "failed" });
    receiver.answer(200);
    await act("better");
    await webhooks.waitForDelivery(id, "folder.created", (one) => one["status"] === "success");
    expect(await webhooks.get(id)).toMatchObject({ failureCount: 0, lastDeliveryStatus: "success" });
    expectError(await webhooks.ask("GET", `/${id}/deliveries?status=done`), 400, "validation_failed");
  });

  it("keeps at most 16 KiB of what the receiver said [D6-deliveries]", async () => {
    const { webhooks, receiver, id } = await scene();
    receiver.answer({ status: 400, body: "é".repeat(40_000) });
    const delivery = await webhooks.test(id);
    const { attempts } = await webhooks.delivery(id, textIn(delivery, "id"));
    const body = textIn(attempts[0] ?? {}, "responseBody");
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(16 * 1024);
    expect(body).toMatch(/^é{8000,}$/);
  });

  it("is listed page by page and by status, newest first [D6-deliveries D1-list-cursor D1-list-limit]", async () => {
    const { webhooks, receiver, id } = await scene();
    receiver.answer(200, 500, 200, 500, 200);
    const all: string[] = [];
    for (let count = 0; count < 5; count += 1) all.unshift(textIn(await webhooks.test(id), "id"));
    const ids = (answer: Parameters<typeof fieldsAt>[0]) =>
      listIn(fieldsAt(answer, 200), "deliveries").map((one) => one["id"]);
    const seen: unknown[] = [];
    for (let query = "limit=2"; query !== "";) {
      const answer = await webhooks.ask("GET", `/${id}/deliveries?${query}`);
      seen.push(...ids(answer));
      const { nextCursor } = fieldsAt(answer, 200);
      query = nextCursor === null ? "" : `limit=2&cursor=${encodeURIComponent(nextCursor as string)}`;
    }
    expect(seen).toEqual(all);
    expect(ids(await webhooks.ask("GET", `/${id}/deliveries?status=failed`))).toEqual([all[1], all[3]]);
    expect(ids(await webhooks.ask("GET", `/${id}/deliveries?status=success&limit=2`))).toEqual([all[0], all[2]]);
    expect(ids(await webhooks.ask("GET", `/${id}/deliveries?status=pending`))).toEqual([]);
    expectError(await webhooks.ask("GET", `/${id}/deliveries?limit=0`), 400, "validation_failed");
    const other = await webhooks.create(receiver.url);
    expectError(await webhooks.ask("GET", `/${other.id}/deliveries/${String(all[0])}`), 404, "not_found");
  });
});
