import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { expectError, expectStatus, fieldsAt, objectIn, TIMESTAMP } from "../kit/answers.ts";
import { filesHolding } from "../kit/data-directory.ts";
import { readMailedToken } from "../kit/outbox.ts";
import { delivery, PAYMENT_SECRET, type PaymentEvent } from "../kit/payments.ts";
import { useService } from "../kit/service.ts";

const GIB = 1024 ** 3;
const CARD = "4242424242424242";
const service = useService({ SERVICE_PAYMENT_SECRET: PAYMENT_SECRET });

it("begins at the provider's address once the e-mail is verified, and the plan follows what the provider signs; no card is taken or kept [S1-billing D0-billing D0-billing-paths D0-billing-test-provider D1-open-billing-events]", async () => {
  const { dataDirectory, server } = service();
  const user = await service().join();
  const key = user.accessToken;
  const ask = (path: string, body: object) => service().ask("POST", `/api/billing/${path}`, { key, body });
  const billing = async () => objectIn(fieldsAt(await service().ask("GET", "/api/billing", { key }), 200), "billing");
  for (const path of ["checkout", "plan"])
    expect(expectError(await ask(path, { plan: "pro" }), 403, "email_unverified")).toBe("Email verification required");
  const token = await readMailedToken(dataDirectory, user.email, "verify");
  expectStatus(await service().ask("POST", "/api/auth/verify-email", { key: "", body: { token } }), 200);

  expectError(await ask("checkout", { plan: "pro", card: CARD }), 400, "validation_failed");
  const { url, ...more } = fieldsAt(await ask("checkout", { plan: "pro" }), 200);
  expect([URL.canParse(String(url)), more]).toEqual([true, {}]);
  expect(await readFile(join(dataDirectory, "payments", "requests.jsonl"), "utf8")).toContain(user.id);
  expect(await billing()).toEqual({ plan: "free", subscription: null });

  const event: PaymentEvent = {
    kind: "subscription.active",
    accountId: user.id,
    plan: "pro",
    reference: `sub-${user.id}`,
    occurredAt: new Date().toISOString(),
  };
  const paid = delivery({ ...event, card: CARD });
  expectStatus(await service().ask("POST", "/api/billing/events", paid), 204);
  expect(await billing()).toEqual({
    plan: "pro",
    subscription: { plan: "pro", status: "active", since: expect.stringMatching(TIMESTAMP) },
  });
  expect(await service().account(key)).toMatchObject({
    plan: "pro",
    limits: { fileBytes: 5 * GIB, storageBytes: 1024 * GIB },
  });
  expect(await filesHolding(dataDirectory, CARD)).toEqual([]);
  expect(server.printed()).not.toContain(CARD);
});
