import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshEmail } from "../kit/account.ts";
import { expectError, expectStatus, fieldsAt, objectIn, textIn, TIMESTAMP, type Fields } from "../kit/answers.ts";
import { filesHolding } from "../kit/data-directory.ts";
import { signUpWithCode, type SignedUp } from "../kit/identity.ts";
import { readMailedToken } from "../kit/outbox.ts";
import { delivery, PAYMENT_SECRET, type PaymentEvent, type Signing } from "../kit/payments.ts";
import { useService } from "../kit/service.ts";

const MINUTE = 60_000;
const GIB = 1024 ** 3;
const service = useService({ SERVICE_PAYMENT_SECRET: PAYMENT_SECRET });

const joinUnverified = async (): Promise<SignedUp> =>
  signUpWithCode(service().server.baseUrl, await service().accessCode(), { email: freshEmail() });

/** An account on the free plan whose e-mail is verified. */
async function joinVerified(): Promise<SignedUp> {
  const user = await joinUnverified();
  const token = await readMailedToken(service().dataDirectory, user.email, "verify");
  expectStatus(await service().ask("POST", "/api/auth/verify-email", { key: "", body: { token } }), 200);
  return user;
}

const ask = (user: SignedUp, path: string, plan: string) =>
  service().ask("POST", `/api/billing/${path}`, { key: user.accessToken, body: { plan } });
const billingOf = async ({ accessToken: key }: SignedUp): Promise<Fields> =>
  objectIn(fieldsAt(await service().ask("GET", "/api/billing", { key }), 200), "billing");
const deliver = (event: object, signing?: Signing) =>
  service().ask("POST", "/api/billing/events", delivery(event, signing));

function eventFor(user: SignedUp, more: Partial<PaymentEvent> = {}): PaymentEvent {
  const occurredAt = new Date().toISOString();
  return {
    kind: "subscription.active",
    accountId: user.id,
    plan: "pro",
    reference: `sub-${user.id}`,
    occurredAt,
    ...more,
  };
}

describe("billing", () => {
  it("needs a verified e-mail for checkout and plan changes, in these words [S5.5-unverified-may-not-pay D1-unverified-billing-403 S1-billing-verified D0-billing]", async () => {
    const user = await joinUnverified();
    for (const path of ["checkout", "plan"]) {
      const message = expectError(await ask(user, path, "pro"), 403, "email_unverified");
      expect(message).toBe("Email verification required");
    }
    expect(await billingOf(user)).toEqual({ plan: "free", subscription: null });
  });

  it("begins at the provider's address, and the plan follows what the provider signs [S1-billing D0-billing D0-billing-paths D0-billing-test-provider D1-open-billing-events]", async () => {
    const user = await joinVerified();
    const { url, ...more } = fieldsAt(await ask(user, "checkout", "pro"), 200);
    expect(more).toEqual({});
    expect(URL.canParse(String(url))).toBe(true);
    expect((await billingOf(user))["plan"]).toBe("free");
    const recorded = await readFile(join(service().dataDirectory, "payments", "requests.jsonl"), "utf8");
    expect(recorded).toContain(user.id);

    expectStatus(await deliver(eventFor(user)), 204);
    expect(await billingOf(user)).toEqual({
      plan: "pro",
      subscription: { plan: "pro", status: "active", since: expect.stringMatching(TIMESTAMP) },
    });
    const account = await service().account(user.accessToken);
    expect(account).toMatchObject({ plan: "pro", limits: { fileBytes: 5 * GIB, storageBytes: 1024 * GIB } });
    expectError(await ask(user, "checkout", "pro"), 409, "plan_unchanged");
  });

  it("changes the plan of a paying account, and of no other [D0-billing-paths]", async () => {
    const user = await joinVerified();
    expectError(await ask(user, "plan", "pro"), 409, "subscription_required");
    expectStatus(await deliver(eventFor(user)), 204);
    const changed = fieldsAt(await ask(user, "plan", "free"), 200);
    expect(Object.keys(changed)).toEqual(["billing"]);
    expectStatus(await deliver(eventFor(user, { kind: "subscription.ended" })), 204);
    expect(await billingOf(user)).toMatchObject({ plan: "free", subscription: { status: "ended" } });
    expect(await service().account(user.accessToken)).toMatchObject({ plan: "free" });
  });

  it("is the owner's alone [S5.9-billing]", async () => {
    const { key } = await service().inviteAgent();
    expectError(await service().ask("GET", "/api/billing", { key }), 403, "owner_only");
    for (const path of ["checkout", "plan"]) {
      const call = { key, body: { plan: "pro" } };
      expectError(await service().ask("POST", `/api/billing/${path}`, call), 403, "owner_only");
    }
  });

  it("takes no card and keeps none [D0-billing]", async () => {
    const user = await joinVerified();
    const card = "4242424242424242";
    const body = { plan: "pro", card };
    const call = { key: user.accessToken, body };
    expectError(await service().ask("POST", "/api/billing/checkout", call), 400, "validation_failed");
    expectStatus(await deliver({ ...eventFor(user), card }), 204);
    expect(await filesHolding(service().dataDirectory, card)).toEqual([]);
    expect(service().server.printed()).not.toContain(card);
  });
});

describe("a provider's event", () => {
  it("counts once, however often it comes, and an older one not at all [D0-billing-paths D1-open-billing-events]", async () => {
    const user = await joinVerified();
    const [id, event] = [randomUUID(), eventFor(user)];
    expectStatus(await deliver(event, { id }), 204);
    const ended = eventFor(user, { kind: "subscription.ended", occurredAt: new Date(Date.now() + 1000).toISOString() });
    expectStatus(await deliver(ended), 204);
    expectStatus(await deliver(event, { id }), 204);
    expect(await billingOf(user)).toMatchObject({ plan: "free" });
    const old = eventFor(user, { occurredAt: new Date(Date.now() - MINUTE).toISOString() });
    expectStatus(await deliver(old), 204);
    expect(await billingOf(user)).toMatchObject({ plan: "free", subscription: { status: "ended" } });
  });

  it("is refused when the provider did not sign it, or not now [D0-billing-paths D1-open-billing-events]", async () => {
    const user = await joinVerified();
    const event = eventFor(user);
    const secret = `whsec_${Buffer.from("some other secret of 32 bytes or so").toString("base64")}`;
    expectError(await deliver(event, { secret }), 400, "signature_invalid");
    expectError(await deliver(event, { at: Date.now() - 6 * MINUTE }), 400, "clock_skew");
    const signed = delivery(event);
    const body = new TextEncoder().encode(JSON.stringify({ ...event, accountId: service().owner.id }));
    expectError(await service().ask("POST", "/api/billing/events", { ...signed, body }), 400, "signature_invalid");
    const bare = { key: "", body, headers: { "content-type": "application/json" } };
    expectError(await service().ask("POST", "/api/billing/events", bare), 400, "validation_failed");
    expect(await billingOf(user)).toEqual({ plan: "free", subscription: null });
  });

  it("that ends a subscription takes no byte away", async () => {
    const user = await joinVerified();
    expectStatus(await deliver(eventFor(user)), 204);
    const key = user.accessToken;
    const stored = await service().ask("POST", "/api/files?name=kept.bin", { key, body: new Uint8Array(9) });
    const fileId = textIn(objectIn(fieldsAt(stored, 201), "file"), "id");
    expectStatus(await deliver(eventFor(user, { kind: "subscription.ended" })), 204);
    expectStatus(await service().ask("GET", `/api/files/${fileId}/content`, { key }), 200);
  });
});
