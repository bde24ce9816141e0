/** Budgets as a client meets them: nobody waits hours for one. */
import { expect, it } from "vitest";
import { failure, ID, json, scripted, VAULT } from "./transport.test-kit.ts";

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
