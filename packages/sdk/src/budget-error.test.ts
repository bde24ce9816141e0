/** Budgets as a client meets them, against the fake: which one, when it renews, and that nobody waits hours for it. */
import { expect, it } from "vitest";
import { BudgetError } from "./budget-error.ts";
import { failure, ID, json, scripted, VAULT } from "./test-transport.ts";
import { openService } from "./test-service.ts";
import { createFake } from "./testing/index.ts";

const HOUR = 3_600_000;

it("repeats a budget that renews within a minute, and no other", async () => {
  const renewing = (seconds: number) => {
    const answer = failure("budget_exceeded");
    answer.headers.set("retry-after", String(seconds));
    answer.headers.set("x-budget", "bytesPerDay");
    return answer;
  };
  const soon = scripted([renewing(60), json({ vault: VAULT })]);
  expect((await soon.client.vaults.get(ID)).id).toBe(ID);
  const late = scripted([renewing(61), json({ vault: VAULT })]);
  await expect(late.client.vaults.get(ID)).rejects.toMatchObject({ budget: "bytesPerDay", retryAfterMs: 61_000 });
  expect(late.requests).toHaveLength(1);
});

it("[D4-key-budgets] a key of the fake has its budgets, and its errors say which and when", async () => {
  let now = Date.UTC(2026, 10, 20, 12);
  const service = await openService(createFake({ now: () => now }));
  const connect = (apiKey: string) => service.connect({ credentials: { apiKey } });
  const owner = service.client;
  const budgets = { storedBytes: 100, bytesPerDay: 60 };
  const made = await owner.apiKeys.create({ name: "agent", budgets });
  const agent = connect(made.key);
  await agent.files.upload({ name: "a", body: new Uint8Array(50) });
  const refused: unknown = await agent.files.upload({ name: "b", body: new Uint8Array(20) }).catch((e: unknown) => e);
  expect(refused).toBeInstanceOf(BudgetError);
  expect(refused).toMatchObject({ code: "budget_exceeded", status: 429, budget: "bytesPerDay", retryable: false });
  expect((refused as BudgetError).retryAt?.getTime()).toBeGreaterThan(Date.now() + 24 * HOUR);
  const next = connect((await owner.apiKeys.rotate(made.id)).key);
  const { credential } = await next.account.get();
  expect(credential.budgets).toEqual(budgets);
  expect(credential.budgetUse).toMatchObject({ storedBytes: { used: 50, left: 50 }, bytesPerDay: { left: 10 } });
  now += 25 * HOUR;
  await expect(next.files.upload({ name: "c", body: new Uint8Array(51) })).rejects.toMatchObject({
    ...{ code: "budget_storage", budget: "storedBytes", retryAt: null, retryable: false },
  });
  await next.files.upload({ name: "c", body: new Uint8Array(50) });
});
