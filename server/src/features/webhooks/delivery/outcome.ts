/** Writes down how attempts went: the attempt, its delivery and its endpoint, in one transaction. Rules: outcome-rules.ts. */
import type { Deps } from "../../../deps.ts";
import type { Queries } from "../../../ports/database.ts";
import type { Random } from "../../../ports/random.ts";
import type { WebhookRow } from "../../../ports/tables.ts";
import type { WebhookOutcome } from "../../../ports/webhook-sender.ts";
import type { AccountAct, ActOf } from "../../account/act.ts";
import { insertMailRequest } from "../../mail-tokens/store.ts";
import { recordWebhookChange } from "../endpoints.ts";
import { takeMailTurn } from "./cursor-store.ts";
import {
  type DeliveryEnd,
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

/** A transaction that becomes an act of an account where an endpoint of it is turned off. */
export interface Recording {
  readonly transaction: Queries;
  readonly actOf: ActOf;
}

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
  { transaction, actOf }: Recording,
  attempts: readonly FinishedAttempt[],
): Promise<DisabledEndpoint[]> {
  // One time for a delivery's end and for its endpoint's last delivery.
  const now = deps.clock.now();
  const disabled: DisabledEndpoint[] = [];
  for (const [webhookId, ofEndpoint] of Map.groupBy(attempts, ({ delivery }) => delivery.webhook_id)) {
    const ended = await endDeliveries(deps, transaction, ofEndpoint, now);
    const reason = ended.length === 0 ? null : await followAll(deps, { transaction, actOf }, webhookId, { ended, now });
    if (reason !== null) disabled.push({ webhookId, reason });
  }
  return disabled;
}

/** What came of a delivery, and where it went. */
interface EndedAttempt extends Pick<FinishedAttempt, "url"> {
  readonly isTest: boolean;
  readonly end: DeliveryEnd;
}

async function endDeliveries(
  deps: Settling,
  transaction: Queries,
  attempts: readonly FinishedAttempt[],
  now: number,
): Promise<EndedAttempt[]> {
  const ended: EndedAttempt[] = [];
  for (const { delivery, outcome, url, at } of attempts) {
    const end = endAttempt(delivery, outcome, { now, chance: () => drawChance(deps.random) });
    if (!(await writeEnd(transaction, delivery, end))) continue;
    await insertAttempt(transaction, {
      ...{ delivery_id: delivery.id, number: delivery.attempts, trigger: delivery.trigger, at },
      ...{ http_status: outcome.httpStatus, error: outcome.failure ?? "" },
      ...{ duration: Math.round(outcome.duration), response_body: outcome.responseBody },
    });
    ended.push({ url, end, isTest: delivery.trigger === "test" });
  }
  return ended;
}

/** The endpoint's owner may change it meanwhile: what was reckoned of an endpoint that is not so any more is reckoned again. */
async function followAll(
  deps: Settling,
  { transaction, actOf }: Recording,
  webhookId: string,
  { ended, now }: { readonly ended: readonly EndedAttempt[]; readonly now: number },
): Promise<DisableReason | null> {
  for (;;) {
    const row = await findEndpoint(transaction, webhookId);
    if (row === null) return null;
    const { state, reason } = follow(row, ended, now);
    // The account is locked before its endpoint.
    const act = reason === null ? null : actOf(row.account_id);
    if (!(await writeEndpointState(transaction, row, state))) continue;
    if (act !== null) await announceDisabled(deps, act, row);
    return reason;
  }
}

function follow(row: WebhookRow, ended: readonly EndedAttempt[], now: number) {
  let state: EndpointState = row;
  let reason: DisableReason | null = null;
  for (const { url, isTest, end } of ended) {
    if (isTest || url !== row.url) state = followBlameless(state, end, now);
    else {
      const followed = followAttempt(state, end, now);
      state = followed.state;
      reason ??= followed.disabled;
    }
  }
  return { state, reason };
}

/** In the audit log, and to the owner by mail: the request for it is written in this act, so neither gets lost. */
async function announceDisabled(deps: Settling, act: AccountAct, { id }: WebhookRow): Promise<void> {
  const now = deps.clock.now();
  await recordWebhookChange(act, null, id, "webhook.disabled");
  if (!(await takeMailTurn(act, act.account.id, now))) return;
  await insertMailRequest(act, {
    ...{ id: deps.random.uuid(), purpose: "webhook-disabled", email: act.account.email },
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
  for (;;) {
    const row = await findEndpoint(transaction, delivery.webhook_id);
    if (row === null || (await writeEndpointState(transaction, row, followBlameless(row, end, now)))) return true;
  }
}

function drawChance(random: Pick<Random, "bytes">): number {
  const [a = 0, b = 0, c = 0, d = 0] = random.bytes(4);
  return (((a << 24) | (b << 16) | (c << 8) | d) >>> 0) / 2 ** 32;
}
