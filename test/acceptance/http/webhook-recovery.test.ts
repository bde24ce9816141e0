import { describe, expect, it } from "vitest";
import { expectError, expectStatus, fieldsAt, objectIn, textIn } from "../kit/answers.ts";
import { querySql, runSql } from "../kit/data-directory.ts";
import { readOutbox } from "../kit/outbox.ts";
import { useService, useWebhookSink } from "../kit/service.ts";
import { hasEnded, openScene, wasTried, type Scene } from "../kit/webhook-scene.ts";
import { verifyArrived } from "../kit/webhook-sink.ts";
import { eventually, hurry } from "../kit/webhooks.ts";

const service = useService();
const HOUR = 3_600_000;

const sink = useWebhookSink();

const scene = (): Promise<Scene> => openScene(service().server.baseUrl, sink);

/** One delivery that has failed for good. */
async function failedDelivery({ webhooks, receiver, id, act }: Scene, name: string): Promise<string> {
  receiver.answer(500);
  const folderId = await act(name);
  const { headers } = await receiver.waitFor(({ body }) => body.includes(folderId));
  const read = async () => (await webhooks.deliveries(id)).find(({ messageId }) => messageId === headers["webhook-id"]);
  const delivery = textIn(await eventually(read, wasTried), "id");
  // Nine of its attempts have been made: the next one is the last.
  const age = "UPDATE webhook_deliveries SET attempts = 9, next_attempt_at = ? WHERE id = ? AND status = 'pending'";
  await runSql(service().dataDirectory, age, Date.now() - 1, delivery);
  await eventually(read, hasEnded);
  return delivery;
}

describe("what failed", () => {
  it("can be sent again: 202, the same webhook-id, a new attempt [D6-redeliver]", async () => {
    const place = await scene();
    const { webhooks, receiver, id, secret } = place;
    const failed = await failedDelivery(place, "again");
    receiver.answer(200);
    const before = receiver.arrived.length;
    const renewed = objectIn(
      fieldsAt(await webhooks.ask("POST", `/${id}/deliveries/${failed}/redeliver`), 202),
      "delivery",
    );
    const { delivery: old } = await webhooks.delivery(id, failed);
    expect(renewed).toMatchObject({ event: "folder.created", messageId: old["messageId"], sequence: old["sequence"] });
    const again = (await receiver.waitForCount(before + 1)).at(-1)!;
    expect(again.headers["webhook-id"]).toBe(old["messageId"]);
    expect(again.body).toBe(receiver.arrived[0]?.body);
    verifyArrived(again, secret);
    const read = async () => (await webhooks.delivery(id, textIn(renewed, "id"))).delivery;
    expect(await eventually(read, hasEnded)).toMatchObject({ status: "success" });
    const { attempts } = await webhooks.delivery(id, textIn(renewed, "id"));
    expect(attempts.at(-1)).toMatchObject({ trigger: "manual", httpStatus: 200 });
    expect(await webhooks.get(id)).toMatchObject({ failureCount: 0, lastDeliveryStatus: "success" });
  });

  it("of a time can be recovered at once, each message once: 202 { count } [D6-recover]", async () => {
    const place = await scene();
    const { webhooks, receiver, id } = place;
    const since = new Date(Date.now() - 1000).toISOString();
    const failed = [await failedDelivery(place, "one"), await failedDelivery(place, "two")];
    const recover = (body: object) => webhooks.ask("POST", `/${id}/recover`, body);
    const until = new Date(Date.now() - HOUR).toISOString();
    const earlier = new Date(Date.now() - 2 * HOUR).toISOString();
    expect(fieldsAt(await recover({ since: earlier, until }), 202)).toEqual({ count: 0 });
    receiver.answer(200);
    const before = receiver.arrived.length;
    expect(fieldsAt(await recover({ since }), 202)).toEqual({ count: 2 });
    const again = (await receiver.waitForCount(before + 2)).slice(before);
    const sent = await Promise.all(failed.map(async (one) => (await webhooks.delivery(id, one)).delivery["messageId"]));
    expect(new Set(again.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set(sent));
    await eventually(
      () => webhooks.deliveries(id, "status=success"),
      (all) => all.length === 2,
    );
    expect(fieldsAt(await recover({ since }), 202)).toEqual({ count: 0 });
    for (const body of [{}, { since: "yesterday" }, { since, until: 7 }])
      expectError(await recover(body), 400, "validation_failed");
  });

  it("is not sent again while the endpoint is off: 409 [D6-redeliver D6-recover S3-webhook-active]", async () => {
    const place = await scene();
    const { webhooks, id } = place;
    const failed = await failedDelivery(place, "off");
    expectStatus(await webhooks.ask("PATCH", `/${id}`, { active: false }), 200);
    expectError(await webhooks.ask("POST", `/${id}/deliveries/${failed}/redeliver`), 409, "webhook_inactive");
    const since = new Date(Date.now() - HOUR).toISOString();
    expectError(await webhooks.ask("POST", `/${id}/recover`, { since }), 409, "webhook_inactive");
  });
});

describe("an endpoint that is off", () => {
  it("keeps its queue, and gets it when it is on again [D6-queue-kept S3-webhook-active]", async () => {
    const { webhooks, receiver, id, act } = await scene();
    receiver.answer(500, 200);
    await act("waits");
    const waiting = await webhooks.waitForDelivery(id, "folder.created", wasTried);
    expectStatus(await webhooks.ask("PATCH", `/${id}`, { active: false }), 200);
    await hurry(service().dataDirectory, textIn(waiting, "id"));
    const { id: witness } = await webhooks.create(sink.receiver().url, ["folder.created"]);
    const later = await act("meanwhile");
    await webhooks.waitForDelivery(witness, "folder.created", hasEnded);
    expect(receiver.arrived.length).toBe(1);
    expectStatus(await webhooks.ask("PATCH", `/${id}`, { active: true }), 200);
    // What failed before it was off, and what has happened since.
    const [retried, missed] = [
      await receiver.waitFor((one) => one !== receiver.arrived[0] && one.body === receiver.arrived[0]?.body),
      await receiver.waitFor(({ body }) => body.includes(later)),
    ];
    expect(retried.headers["webhook-id"]).toBe(waiting["messageId"]);
    expect(missed.headers["webhook-id"]).not.toBe(waiting["messageId"]);
    await eventually(async () => (await webhooks.delivery(id, textIn(waiting, "id"))).delivery, hasEnded);
    expect(receiver.arrived.length).toBe(3);
  });

  it("is off at once when the receiver says 410, and its owner is mailed [D6-disable D6-disable-mail]", async () => {
    const { account, webhooks, receiver, id, act } = await scene();
    receiver.answer(410);
    await act("gone");
    await eventually(
      () => webhooks.get(id),
      ({ active }) => active === false,
    );
    const { dataDirectory } = service();
    const mails = async () =>
      (await readOutbox(dataDirectory, account.email)).filter(({ subject }) => /webhook/i.test(subject));
    const [mail] = await eventually(mails, ({ length }) => length > 0);
    expect(mail?.text).toMatch(/410/);
    const [change] = await querySql(
      dataDirectory,
      "SELECT actor_json FROM changes WHERE account_id = ? AND action = 'webhook.disabled'",
      account.id,
    );
    expect(String(change?.["actor_json"])).toContain("system");
    await act("later");
    expect(receiver.arrived.length).toBe(1);
    expect((await mails()).length).toBe(1);
  });

  it("is off after five days in which everything failed, and not before [D6-disable D6-failure-count]", async () => {
    const { webhooks, receiver, id, act } = await scene();
    const { dataDirectory } = service();
    receiver.answer(500);
    await act("for days");
    const first = await webhooks.waitForDelivery(id, "folder.created", wasTried);
    const deliveryId = textIn(first, "id");
    const failAgain = async (attempts: number): Promise<unknown> => {
      await hurry(dataDirectory, deliveryId);
      const read = async () => (await webhooks.delivery(id, deliveryId)).delivery;
      await eventually(read, (one) => wasTried(one) && one["attempts"] === attempts);
      return (await webhooks.get(id))["active"];
    };
    const age = (hours: number) =>
      runSql(dataDirectory, "UPDATE webhooks SET failing_since = failing_since - ? WHERE id = ?", hours * HOUR, id);
    await age(119);
    expect(await failAgain(2)).toBe(true);
    await age(2);
    expect(await failAgain(3)).toBe(false);
  });
});
