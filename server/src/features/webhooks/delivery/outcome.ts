/** Writes down how attempts went: the attempt, its delivery and its endpoint, in one transaction. Rules: outcome-rules.ts. */
import type { Deps } from "../../../deps.ts";
import type { Queries } from "../../../ports/database.ts";
import type { Random } from "../../../ports/random.ts";
import type { WebhookRow } from "../../../ports/tables.ts";
import type { WebhookOutcome } from "../../../ports/webhook-sender.ts";
import { insertMailRequest } from "../../mail-tokens/store.ts";
import { recordWebhookChange } from "../endpoints.ts";
import { findOwnerAddress, takeMailTurn } from "./cursor-store.ts";
import {
  type DisableReason,
  endAttempt,
  endInterrupted,
  type EndpointState,
  followAttempt,
  followBlameless,
  INTERRUPTED,
} from "./outcome-rules.ts";
import {
  type ClaimedDelivery,
  findEndpoint,
  insertAttempt,
  type OverdueDelivery,
  writeEnd,
  writeEndpointState,
} from "./queue-store.ts";

type Settling = Pick<Deps, "clock" | "random">;

/** An attempt that is over. */
export interface FinishedAttempt {
  readonly delivery: Pick<ClaimedDelivery, "id" | "webhook_id" | "trigger" | "attempts" | "max_attempts">;
  readonly outcome: WebhookOutcome;
  /** Where it went: the endpoint may be elsewhere by now. */
  readonly url: string;
  /** When it began, in milliseconds since the Unix epoch. */
  readonly at: number;
}

/** An endpoint that was turned off, for the log. */
export interface DisabledEndpoint {
  readonly webhookId: string;
  readonly reason: DisableReason;
}

/**
 * Records what came of attempts, of any number of endpoints. One whose lease was over meanwhile changes nothing: the
 * delivery belongs to somebody else's attempt by now.
 */
export async function recordAttempts(
  deps: Settling,
  transaction: Queries,
  attempts: readonly FinishedAttempt[],
): Promise<DisabledEndpoint[]> {
  const disabled: DisabledEndpoint[] = [];
  for (const [webhookId, ofEndpoint] of Map.groupBy(attempts, ({ delivery }) => delivery.webhook_id)) {
    const row = await findEndpoint(transaction, webhookId);
    if (row === null) continue;
    const reason = await recordOfEndpoint(deps, transaction, row, ofEndpoint);
    if (reason !== null) disabled.push({ webhookId, reason });
  }
  return disabled;
}

async function recordOfEndpoint(
  deps: Settling,
  transaction: Queries,
  row: WebhookRow,
  attempts: readonly FinishedAttempt[],
): Promise<DisableReason | null> {
  const now = deps.clock.now();
  let state: EndpointState = row;
  let reason: DisableReason | null = null;
  for (const { delivery, outcome, url, at } of attempts) {
    const end = endAttempt(delivery, outcome, { now, chance: () => drawChance(deps.random) });
    if (!(await writeEnd(transaction, delivery, end))) continue;
    await insertAttempt(transaction, {
      ...{ delivery_id: delivery.id, number: delivery.attempts, trigger: delivery.trigger, at },
      ...{ http_status: outcome.httpStatus, error: outcome.failure ?? "" },
      ...{ duration: Math.round(outcome.duration), response_body: outcome.responseBody },
    });
    if (delivery.trigger === "test" || url !== row.url) state = followBlameless(state, end, now);
    else {
      const followed = followAttempt(state, end, now);
      state = followed.state;
      reason ??= followed.disabled;
    }
  }
  if (state !== row) await writeEndpointState(transaction, row.id, state);
  if (reason !== null) await announceDisabled(deps, transaction, row);
  return reason;
}

/** In the audit log, and to the owner by mail: the request for it is written in this transaction, so neither gets lost. */
async function announceDisabled(deps: Settling, transaction: Queries, row: WebhookRow): Promise<void> {
  const now = deps.clock.now();
  const accountId = row.account_id;
  await recordWebhookChange(deps, transaction, null, { accountId, id: row.id }, "webhook.disabled");
  const email = await findOwnerAddress(transaction, accountId);
  if (email === null || !(await takeMailTurn(transaction, accountId, now))) return;
  await insertMailRequest(transaction, {
    ...{ id: deps.random.uuid(), purpose: "webhook-disabled", email },
    ...{ attempts: 0, not_before: now, created_at: now },
  });
}

/** Takes back attempts that were claimed and never ended; how many came back or ended. */
export async function recordInterrupted(
  deps: Settling,
  transaction: Queries,
  overdue: readonly OverdueDelivery[],
): Promise<number> {
  let count = 0;
  for (const delivery of overdue) if (await recordInterruption(deps, transaction, delivery)) count += 1;
  return count;
}

async function recordInterruption(deps: Settling, transaction: Queries, delivery: OverdueDelivery): Promise<boolean> {
  const now = deps.clock.now();
  const end = endInterrupted(delivery, now);
  if (!(await writeEnd(transaction, delivery, end))) return false;
  await insertAttempt(transaction, {
    ...{ delivery_id: delivery.id, number: delivery.attempts, trigger: delivery.trigger },
    ...{ http_status: 0, error: INTERRUPTED, duration: 0, response_body: "", at: delivery.last_attempt_at ?? now },
  });
  const row = await findEndpoint(transaction, delivery.webhook_id);
  if (row !== null) await writeEndpointState(transaction, row.id, followBlameless(row, end, now));
  return true;
}

function drawChance(random: Pick<Random, "bytes">): number {
  const [a = 0, b = 0, c = 0, d = 0] = random.bytes(4);
  return (((a << 24) | (b << 16) | (c << 8) | d) >>> 0) / 2 ** 32;
}
