import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { verifyAccount } from "../audit/verify.ts";
import { bodyOf, codeOf } from "../service.test-kit.ts";
import { collectEvent } from "./events.ts";
import { openTestBilling, type TestBilling } from "./billing.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const SKEW = 5 * 60_000;
const FULL = process.env["COFFER_TEST_COUNTS"] === "full";

const service = ofEachTest(() =>
  openTestBilling({
    environment: { SERVICE_FREE_STORAGE_BYTES: "10", SERVICE_FREE_FILE_BYTES: "10", SERVICE_PRO_STORAGE_BYTES: "1000" },
  }),
);
const owner = ofEachTest(() => service.addOwner());

const event = (more: Partial<Parameters<TestBilling["event"]>[0]> = {}) =>
  service.event({ accountId: owner.id, ...more });
const planOf = async () => ((await service.billingOf(owner)) as { plan: string }).plan;
const statusOf = async () =>
  ((await service.billingOf(owner)) as { subscription: { status: string } | null }).subscription?.status ?? null;
const upload = async (bytes: number) => {
  const headers = { "content-type": "application/octet-stream" };
  const url = `/api/files?name=${randomUUID()}`;
  const { status, body } = await service.ask("POST", url, { key: owner.key, headers, payload: "x".repeat(bytes) });
  return [status, body["error"]];
};

describe("[D0-billing D0-billing-paths D1-open-billing-events] an event of the payment provider", () => {
  it("gives the account its plan, keeps it while the paid time runs out, and takes it at the end", async () => {
    const began = service.clock.now();
    expect((await service.send(event())).status).toBe(204);
    const since = new Date(began).toISOString();
    expect(await service.billingOf(owner)).toEqual({
      plan: "pro",
      subscription: { plan: "pro", status: "active", since },
    });
    service.clock.advance(1000);
    await service.send(event({ kind: "subscription.ending" }));
    expect(await service.billingOf(owner)).toEqual({
      plan: "pro",
      subscription: { plan: "pro", status: "ending", since },
    });
    service.clock.advance(1000);
    await service.send(event({ kind: "subscription.ended" }));
    expect(await service.billingOf(owner)).toEqual({
      plan: "free",
      subscription: { plan: "pro", status: "ended", since },
    });
    expect(await service.planChanges(owner)).toEqual([
      { action: "account.plan_changed", actor: "system", plan: "pro" },
      { action: "account.plan_changed", actor: "system", plan: "free" },
    ]);
  });

  it("[D2-plans D1-file-over-maximum-413 D1-quota-403] moves the quota with the plan, at once in both directions", async () => {
    expect(await upload(11)).toEqual([413, "A file may hold at most 10 bytes here"]);
    expect(await upload(10)).toEqual([201, undefined]);
    expect(await upload(1)).toEqual([403, "Storage quota exceeded"]);
    await service.send(event());
    expect(await upload(500)).toEqual([201, undefined]);
    service.clock.advance(1);
    await service.send(event({ kind: "subscription.ended" }));
    expect(await upload(1)).toEqual([403, "Storage quota exceeded"]);
  });

  it("is taken once: sent again, also signed anew, it changes nothing", async () => {
    const first = event();
    await service.send(first);
    service.clock.advance(1000);
    await service.send(event({ kind: "subscription.ended" }));
    service.clock.advance(SKEW * 3);
    expect((await service.send(first)).status).toBe(204);
    expect((await service.send({ ...first, occurredAt: service.clock.now() })).status).toBe(204);
    expect(await planOf()).toBe("free");
    expect(await service.planChanges(owner)).toHaveLength(2);
  });

  it("is taken once of 50 at the same time", async () => {
    for (let round = 0; round < (FULL ? 20 : 2); round += 1) {
      const buyer = await service.addOwner();
      const given = service.event({ accountId: buyer.id, id: `evt_parallel_${round}` });
      const answers = await Promise.all(Array.from({ length: 50 }, () => service.send(given)));
      expect(answers.every(({ status }) => status === 204)).toBe(true);
      expect(await service.planChanges(buyer)).toHaveLength(1);
    }
  });

  it("never undoes a newer one, in whatever order they come", async () => {
    const begun = event();
    service.clock.advance(1000);
    const ending = event({ kind: "subscription.ending" });
    service.clock.advance(1000);
    const ended = event({ kind: "subscription.ended" });
    const orders = [
      [ended, ending, begun],
      [ending, ended, begun],
      [ended, begun, ending],
      [begun, ended, ending],
      [begun, ending, ended],
      [ending, begun, ended],
    ];
    for (const [round, order] of orders.entries()) {
      const buyer = await service.addOwner();
      for (const each of order) await service.send({ ...each, id: `${each.id}/${round}`, accountId: buyer.id });
      expect(await service.billingOf(buyer)).toMatchObject({ plan: "free", subscription: { status: "ended" } });
    }
  });

  it("of the same moment as another: the later state of the subscription counts", async () => {
    const [begun, ended] = [event(), event({ kind: "subscription.ended" })];
    for (const [round, order] of [
      [begun, ended],
      [ended, begun],
    ].entries()) {
      const buyer = await service.addOwner();
      for (const each of order) await service.send({ ...each, id: `${each.id}/${round}`, accountId: buyer.id });
      expect(await service.billingOf(buyer)).toMatchObject({ plan: "free" });
    }
  });

  it("about an earlier subscription does not end the one there is now", async () => {
    await service.send(event({ reference: "sub_1" }));
    service.clock.advance(1000);
    await service.send(event({ reference: "sub_2" }));
    service.clock.advance(1000);
    await service.send(event({ kind: "subscription.ended", reference: "sub_1" }));
    await service.send(event({ kind: "subscription.ending", reference: "sub_1" }));
    expect([await planOf(), await statusOf()]).toEqual(["pro", "active"]);
    await service.send(event({ kind: "subscription.ended", reference: "sub_2" }));
    expect([await planOf(), await statusOf()]).toEqual(["free", "ended"]);
    service.clock.advance(1000);
    await service.send(event({ reference: "sub_3" }));
    expect([await planOf(), await statusOf()]).toEqual(["pro", "active"]);
  });

  it("of the moment in which an earlier subscription ends: the one that takes over counts, whichever comes first", async () => {
    const over = event({ kind: "subscription.ended", reference: "sub_1" });
    const begun = event({ reference: "sub_2" });
    for (const [round, order] of [
      [over, begun],
      [begun, over],
    ].entries()) {
      const buyer = await service.addOwner();
      await service.send(event({ accountId: buyer.id, reference: "sub_1", occurredAt: service.clock.now() - 1000 }));
      for (const each of order) await service.send({ ...each, id: `${each.id}/${round}`, accountId: buyer.id });
      expect(await service.billingOf(buyer)).toMatchObject({ plan: "pro", subscription: { status: "active" } });
    }
  });

  it("of an account that does not exist is answered like any other", async () => {
    const answer = await service.send(event({ accountId: randomUUID() }));
    expect([answer.status, answer.text]).toEqual([204, ""]);
  });

  it("of no kind this service knows is answered like any other", async () => {
    const sent = await service.send(event({ kind: "invoice.paid" as "subscription.active" }));
    expect(sent.status).toBe(204);
    expect(await planOf()).toBe("free");
  });

  it("is refused when its body, time or id was altered, or it was not signed at all", async () => {
    const given = event();
    const body = JSON.stringify({ ...given, kind: "subscription.ended" });
    const altered = [{ headers: { "webhook-id": "evt_x" } }, { headers: { "webhook-timestamp": "1" } }, { body }];
    for (const more of altered) {
      const answer = await service.send(given, more);
      expect([answer.status, answer.headers["x-error-code"]]).toEqual([400, "signature_invalid"]);
    }
    const bare = await service.ask("POST", "/api/billing/events", {
      headers: { "content-type": "application/json" },
      payload: body,
    });
    expect([bare.status, bare.headers["x-error-code"]]).toEqual([400, "validation_failed"]);
    expect(await planOf()).toBe("free");
  });

  it("is refused when it was signed more than 5 minutes ago or ahead, with nothing written", async () => {
    for (const [offset, code] of [
      [SKEW, undefined],
      [SKEW + 1000, "clock_skew"],
      [-SKEW - 1000, "clock_skew"],
    ] as const) {
      const seconds = String(Math.floor((service.clock.now() - offset) / 1000));
      const given = event({ occurredAt: service.clock.now() - 2 * SKEW });
      const answer = await service.sendSignedAt(given, Number(seconds) * 1000);
      expect(answer.headers["x-error-code"]).toBe(code);
    }
    expect(await service.planChanges(owner)).toHaveLength(1);
  });

  it("that is larger than 64 KiB is refused, with or without a declared length", async () => {
    const answer = await service.send(event(), { body: "x".repeat(64 * 1024 + 1) });
    expect([answer.status, answer.headers["x-error-code"]]).toEqual([413, "body_too_large"]);
    const fits = await service.send(event(), { body: " ".repeat(64 * 1024) });
    expect(fits.headers["x-error-code"]).toBe("signature_invalid");
    expect(await codeOf(collectEvent(bodyOf(" ".repeat(64 * 1024 + 1), { length: null })))).toBe("body_too_large");
    expect(await collectEvent(bodyOf(" ".repeat(64 * 1024), { length: null }))).toHaveLength(64 * 1024);
  });

  it("that is nested deep, or has too many values, is refused before it is parsed, signed or not", async () => {
    for (const body of ["[".repeat(100), `[${"1,".repeat(20_000)}1]`]) {
      const answer = await service.send(event(), { body });
      expect([answer.status, answer.headers["x-error-code"]]).toEqual([400, "validation_failed"]);
    }
  });

  it("that is signed and not an event is refused", async () => {
    const answer = await service.send(event({ plan: "gold" as "pro" }));
    expect([answer.status, answer.headers["x-error-code"]]).toEqual([400, "malformed_json"]);
  });

  it("is an entry of the audit log that says where it came from", async () => {
    await service.send(event());
    const { events } = (await service.ask("GET", "/api/audit-log?action=account.plan_changed", { key: owner.key }))
      .body as { events: Record<string, unknown>[] };
    expect(events[0]).toMatchObject({
      actor: { type: "system", id: null },
      targets: [{ type: "plan", id: "pro" }],
      context: { requestId: expect.any(String) as string, location: "127.0.0.1" },
    });
    const { database } = service.deps;
    const check = await database.transaction((transaction) => verifyAccount(transaction, owner.id));
    expect(check?.fault).toBeNull();
  });
});

it("[D0-billing] a server without a payment provider says so", async () => {
  await using bare = await openTestBilling({ replace: () => ({ payments: null }) });
  const buyer = await bare.addOwner();
  const codes = await Promise.all([
    bare.send(bare.event({ accountId: buyer.id })),
    bare.ask("POST", "/api/billing/checkout", { key: buyer.key, json: { plan: "pro" } }),
    bare.ask("POST", "/api/billing/plan", { key: buyer.key, json: { plan: "pro" } }),
  ]);
  expect(codes.map(({ status, headers }) => [status, headers["x-error-code"]])).toEqual(
    codes.map(() => [501, "not_configured"]),
  );
  expect(await bare.billingOf(buyer)).toEqual({ plan: "free", subscription: null });
});
