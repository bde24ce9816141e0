/** Sending again what was sent before: the same message in a new delivery, with attempts of its own. */
import { MAX_ATTEMPTS } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { Principal } from "../../handler.ts";
import type { WebhookDeliveryRow } from "../../ports/tables.ts";
import { type AccountAct, actAs } from "../account/act.ts";
import { type FailedRange, insertDelivery, listUnrecovered, RECOVERED_AT_ONCE } from "./deliveries-store.ts";

/**
 * The delivery that repeats `delivery`. It has the same `webhook-id` and body, so that a receiver can recognise the
 * message. Its record is beside the old one, which stays as it ended.
 */
export function renewDelivery(delivery: WebhookDeliveryRow, id: string, now: number): WebhookDeliveryRow {
  const { webhook_id, message_id, event, sequence, payload } = delivery;
  // A test is tried once and counts for nothing (decisions §6).
  const isTest = delivery.trigger === "test";
  return {
    id,
    webhook_id,
    message_id,
    event,
    sequence,
    payload,
    trigger: isTest ? "test" : "manual",
    max_attempts: isTest ? MAX_ATTEMPTS.test : MAX_ATTEMPTS.event,
    status: "pending",
    attempts: 0,
    http_status: 0,
    last_error: "",
    next_attempt_at: now,
    lease_until: null,
    last_attempt_at: null,
    completed_at: null,
    created_at: now,
  };
}

/**
 * Sends the failed deliveries of a range once more, each message once, in short transactions: requests run in between. A
 * repeat of the call finds what is on its way already, and adds nothing.
 * @returns how many go out again.
 */
export async function recoverFailed(
  deps: Pick<Deps, "database" | "clock" | "random">,
  principal: Principal,
  range: FailedRange,
): Promise<number> {
  let count = 0;
  for (let after: { createdAt: number; id: string } | null = null; ;) {
    const position: { createdAt: number; id: string } | null = after;
    // In an act: of two calls at a time one finds what the other has sent.
    const { failed, renewed }: Renewed = await actAs(deps, principal, (act) => renewSome(deps, act, range, position));
    count += renewed;
    const last = failed.at(-1);
    if (last === undefined || failed.length < RECOVERED_AT_ONCE) return count;
    after = { createdAt: last.created_at, id: last.id };
  }
}

interface Renewed {
  readonly failed: readonly WebhookDeliveryRow[];
  readonly renewed: number;
}

async function renewSome(
  { clock, random }: Pick<Deps, "clock" | "random">,
  act: AccountAct,
  range: FailedRange,
  after: { createdAt: number; id: string } | null,
): Promise<Renewed> {
  const failed = await listUnrecovered(act, range, after);
  const messages = new Map(failed.map((row) => [row.message_id, row]));
  for (const row of messages.values()) await insertDelivery(act, renewDelivery(row, random.uuid(), clock.now()));
  return { failed, renewed: messages.size };
}
