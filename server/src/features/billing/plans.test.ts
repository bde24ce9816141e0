import { describe, expect, it } from "vitest";
import { openTestBilling, type Owner } from "./billing.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const HOUR = 3_600_000;
const service = ofEachTest(() => openTestBilling({ environment: { SERVICE_FREE_STORAGE_BYTES: "10" } }));
const owner = ofEachTest(() => service.addOwner());

type Headers = Readonly<Record<string, string>>;
const checkout = ({ key }: Owner, plan = "pro", headers: Headers = {}) =>
  service.ask("POST", "/api/billing/checkout", { key, headers, json: { plan } });
const change = ({ key }: Owner, plan: string) => service.ask("POST", "/api/billing/plan", { key, json: { plan } });
const codeOf = ({ status, headers }: { status: number; headers: Readonly<Record<string, unknown>> }) => [
  status,
  headers["x-error-code"],
];
async function subscribe(owner: Owner): Promise<void> {
  await service.send(service.event({ accountId: owner.id }));
  service.clock.advance(1000);
}

describe("[D0-billing D0-billing-paths S1-billing-verified] a checkout", () => {
  it("answers the payment provider's address", async () => {
    const { status, body } = await checkout(owner);
    expect(status).toBe(200);
    expect(String(body["url"])).toMatch(/^http:\/\/127\.0\.0\.1:8787\/billing\/test-checkout\/[0-9a-f-]{36}$/);
    expect(service.provider.asked).toEqual([["checkout", String(body["url"]).slice(-36), "pro"]]);
  });

  it("[D1-unverified-billing-403 S5.5-unverified-may-not-pay] needs a verified e-mail, before anything else is looked at", async () => {
    const owner = await service.addOwner({ verified: false, plan: "pro" });
    for (const answer of [await checkout(owner, "pro"), await checkout(owner, "free"), await change(owner, "free")]) {
      expect(codeOf(answer)).toEqual([403, "email_unverified"]);
      expect(answer.body).toEqual({ error: "Email verification required" });
    }
    expect(service.provider.asked).toEqual([]);
    expect(await service.billingOf(owner)).toEqual({ plan: "pro", subscription: null });
  });

  it("is refused for the plan the account is on, and for the one that costs nothing", async () => {
    expect(codeOf(await checkout(await service.addOwner({ plan: "pro" }), "pro"))).toEqual([409, "plan_unchanged"]);
    expect(codeOf(await checkout(await service.addOwner({ plan: "free" }), "free"))).toEqual([409, "plan_unchanged"]);
    expect(codeOf(await checkout(await service.addOwner({ plan: "pro" }), "free"))).toEqual([400, "validation_failed"]);
    expect(codeOf(await checkout(await service.addOwner(), "gold"))).toEqual([400, "validation_failed"]);
    expect(service.provider.asked).toEqual([]);
  });

  it("is one checkout however often it is asked for, and another for another account, hour or subscription", async () => {
    const urls = await Promise.all(Array.from({ length: 10 }, async () => (await checkout(owner)).body["url"]));
    expect(new Set(urls).size).toBe(1);
    const other = (await checkout(await service.addOwner())).body["url"];
    await subscribe(owner);
    await service.send(service.event({ accountId: owner.id, kind: "subscription.ended" }));
    const again = (await checkout(owner)).body["url"];
    service.clock.advance(HOUR);
    const later = (await checkout(owner)).body["url"];
    expect(new Set([urls[0], other, again, later]).size).toBe(4);
  });

  it("with an Idempotency-Key is answered again without asking the provider", async () => {
    const headers = { "idempotency-key": "k-1" };
    const first = await checkout(owner, "pro", headers);
    service.clock.advance(HOUR);
    const second = await checkout(owner, "pro", headers);
    expect(second.headers["idempotent-replayed"]).toBe("true");
    expect(second.body).toEqual(first.body);
    expect(service.provider.asked).toHaveLength(1);
  });

  it("is 503 while the provider does not answer, and works with the same key afterwards", async () => {
    const headers = { "idempotency-key": "k-1" };
    service.provider.down = true;
    expect(codeOf(await checkout(owner, "pro", headers))).toEqual([503, "provider_unavailable"]);
    service.provider.down = false;
    expect((await checkout(owner, "pro", headers)).status).toBe(200);
    const [first, second] = service.provider.asked;
    expect(first).toEqual(second);
  });

  it("leaves the database to others while the provider thinks", async () => {
    let made = 0;
    service.provider.meanwhile = async () => {
      const { status } = await service.ask("POST", "/api/folders", { key: owner.key, json: { name: `f${made}` } });
      expect(status).toBe(201);
      made += 1;
    };
    await checkout(owner);
    await subscribe(owner);
    await change(owner, "free");
    expect(made).toBe(2);
  });
});

describe("[D0-billing S1-billing-verified] a change of plan", () => {
  it("upwards needs a subscription: also after one has ended", async () => {
    expect(codeOf(await change(owner, "pro"))).toEqual([409, "subscription_required"]);
    await subscribe(owner);
    await service.send(service.event({ accountId: owner.id, kind: "subscription.ended" }));
    expect(codeOf(await change(owner, "pro"))).toEqual([409, "subscription_required"]);
    expect(service.provider.asked).toEqual([]);
  });

  it("to the free plan lets the paid time run out; the provider's event ends it", async () => {
    await subscribe(owner);
    const { status, body } = await change(owner, "free");
    expect(status).toBe(200);
    expect(body["billing"]).toMatchObject({ plan: "pro", subscription: { plan: "pro", status: "ending" } });
    expect((await change(owner, "free")).body).toEqual(body);
    expect(service.provider.asked).toEqual([["change-plan", "sub_1", "free"]]);
    await service.send(service.event({ accountId: owner.id, kind: "subscription.ended" }));
    expect(await service.billingOf(owner)).toMatchObject({ plan: "free", subscription: { status: "ended" } });
    expect(await service.planChanges(owner)).toEqual([
      { action: "account.plan_changed", actor: "system", plan: "pro" },
      { action: "account.plan_change_requested", actor: "api-key", plan: "free" },
      { action: "account.plan_changed", actor: "system", plan: "free" },
    ]);
  });

  it("can be taken back as long as the paid time runs", async () => {
    await subscribe(owner);
    await change(owner, "free");
    expect((await change(owner, "pro")).body["billing"]).toMatchObject({
      plan: "pro",
      subscription: { status: "active" },
    });
    expect(service.provider.asked).toEqual([
      ["change-plan", "sub_1", "free"],
      ["change-plan", "sub_1", "pro"],
    ]);
  });

  it("to the plan the account is on asks nobody", async () => {
    expect((await change(owner, "free")).body["billing"]).toEqual({ plan: "free", subscription: null });
    await subscribe(owner);
    expect((await change(owner, "pro")).status).toBe(200);
    expect(service.provider.asked).toEqual([]);
  });

  it("from a plan nobody pays for is made at once, by who asked", async () => {
    const owner = await service.addOwner({ plan: "pro" });
    expect((await change(owner, "free")).body["billing"]).toEqual({ plan: "free", subscription: null });
    expect(await service.planChanges(owner)).toEqual([
      { action: "account.plan_changed", actor: "api-key", plan: "free" },
    ]);
    expect(service.provider.asked).toEqual([]);
  });

  it("is refused while the account holds more than the free plan allows: paid for or not", async () => {
    for (const paid of [true, false]) {
      const owner = await service.addOwner({ plan: paid ? "free" : "pro" });
      if (paid) await subscribe(owner);
      const headers = { "content-type": "application/octet-stream" };
      const stored = await service.ask("POST", "/api/files?name=a", {
        key: owner.key,
        headers,
        payload: "x".repeat(11),
      });
      const answer = await change(owner, "free");
      expect(codeOf(answer)).toEqual([409, "usage_above_plan"]);
      expect(answer.body["error"]).toContain("11 bytes");
      const { id } = stored.body["file"] as { id: string };
      await service.ask("DELETE", `/api/files/${id}?permanent=true`, { key: owner.key });
      expect((await change(owner, "free")).status).toBe(200);
    }
  });

  it("changes nothing while the provider does not answer", async () => {
    await subscribe(owner);
    const before = await service.billingOf(owner);
    service.provider.down = true;
    expect(codeOf(await change(owner, "free"))).toEqual([503, "provider_unavailable"]);
    expect(await service.billingOf(owner)).toEqual(before);
    expect(await service.planChanges(owner)).toHaveLength(1);
  });

  it("does not undo an event that comes while the provider is asked", async () => {
    await subscribe(owner);
    service.provider.meanwhile = async () => {
      await service.send(service.event({ accountId: owner.id, kind: "subscription.ended" }));
    };
    expect((await change(owner, "free")).body["billing"]).toMatchObject({
      plan: "free",
      subscription: { status: "ended" },
    });
  });
});
