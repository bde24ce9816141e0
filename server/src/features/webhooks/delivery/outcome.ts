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
import { insertAttempts, lockEndpoints, writeEnds, writeEndpointStates } from "./outcome-store.ts";
import { type ClaimedDelivery, findEndpoints, type OverdueDelivery } from "./queue-store.ts";

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

/** What is left to do of {@link recordAttempts} when its transaction ends. */
export interface Recorded {
  readonly disabled: readonly DisabledEndpoint[];
  /** Writes the state of the endpoints that stay as they are: who writes the same ones waits from then on. */
  finish(): Promise<void>;
}

/**
 * Records what came of attempts, of any number of endpoints. One whose lease was over meanwhile changes nothing: the
 * delivery belongs to somebody else's attempt by now.
 */
export async function recordAttempts(
  deps: Settling,
  recording: Recording,
  attempts: readonly FinishedAttempt[],
): Promise<Recorded> {
  const { transaction } = recording;
  // One time for a delivery's end and for its endpoint's last delivery.
  const now = deps.clock.now();
  const ended = Map.groupBy(await endDeliveries(deps, transaction, attempts, now), ({ webhookId }) => webhookId);
  const rows = await findEndpoints(transaction, [...ended.keys()].sort());
  const disabled: DisabledEndpoint[] = [];
  const others: WebhookRow[] = [];
  for (const row of rows.values()) {
    const of = ended.get(row.id) ?? [];
    if (follow(row, of, now).reason === null) others.push(row);
    else disabled.push(...(await followAll(deps, recording, row.id, { ended: of, now })));
  }
  return {
    disabled,
    async finish() {
      await lockEndpoints(
        transaction,
        others.map(({ id }) => id),
      );
      const stateOf = (row: WebhookRow) => follow(row, ended.get(row.id) ?? [], now).state;
      for (const alike of Map.groupBy(others, (row) => keyOf(stateOf(row))).values()) {
        const [first] = alike;
        if (first === undefined) continue;
        const written = await writeEndpointStates(transaction, alike, stateOf(first));
        for (const { id } of alike) {
          if (written.has(id)) continue;
          disabled.push(...(await followAll(deps, recording, id, { ended: ended.get(id) ?? [], now })));
        }
      }
    },
  };
}

function keyOf({
  active,
  failure_count,
  failing_since,
  last_delivery_at,
  last_delivery_status,
}: EndpointState): string {
  return JSON.stringify([active, failure_count, failing_since, last_delivery_at, last_delivery_status]);
}

/** What came of a delivery, and where it went. */
interface EndedAttempt extends Pick<FinishedAttempt, "url"> {
  readonly webhookId: string;
  readonly isTest: boolean;
  readonly end: DeliveryEnd;
}

/** In the order of the attempts. Those that ended alike are written together. */
async function endDeliveries(
  deps: Settling,
  transaction: Queries,
  attempts: readonly FinishedAttempt[],
  now: number,
): Promise<EndedAttempt[]> {
  const ends = attempts.map((attempt) => ({
    ...attempt,
    end: endAttempt(attempt.delivery, attempt.outcome, { now, chance: () => drawChance(deps.random) }),
  }));
  const alike = Map.groupBy(ends, ({ delivery, end }) => JSON.stringify([delivery.attempts, Object.entries(end)]));
  const written = new Set<string>();
  for (const group of alike.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const which = { ids: group.map(({ delivery }) => delivery.id), attempts: first.delivery.attempts };
    for (const id of await writeEnds(transaction, which, first.end)) written.add(id);
  }
  const ended = ends.filter(({ delivery }) => written.has(delivery.id));
  await insertAttempts(
    transaction,
    ended.map(({ delivery, outcome, at }) => ({
      delivery_id: delivery.id,
      number: delivery.attempts,
      trigger: delivery.trigger,
      at,
      http_status: outcome.httpStatus,
      error: outcome.failure ?? "",
      duration: Math.round(outcome.duration),
      response_body: outcome.responseBody,
    })),
  );
  return ended.map(({ delivery, url, end }) => ({
    webhookId: delivery.webhook_id,
    url,
    end,
    isTest: delivery.trigger === "test",
  }));
}

/** The endpoint's owner may change it meanwhile: what was reckoned of an endpoint that is not so any more is reckoned again. */
async function followAll(
  deps: Settling,
  { transaction, actOf }: Recording,
  webhookId: string,
  { ended, now }: { readonly ended: readonly EndedAttempt[]; readonly now: number },
): Promise<DisabledEndpoint[]> {
  for (;;) {
    const row = (await findEndpoints(transaction, [webhookId])).get(webhookId);
    if (row === undefined) return [];
    const { state, reason } = follow(row, ended, now);
    // The account is locked before its endpoint.
    const act = reason === null ? null : actOf(row.account_id);
    if (!(await writeEndpointStates(transaction, [row], state)).has(webhookId)) continue;
    if (act !== null) await announceDisabled(deps, act, row);
    return reason === null ? [] : [{ webhookId, reason }];
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
    id: deps.random.uuid(),
    purpose: "webhook-disabled",
    email: act.account.email,
    attempts: 0,
    not_before: now,
    created_at: now,
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
  const { id, attempts, webhook_id: webhookId } = delivery;
  if (!(await writeEnds(transaction, { ids: [id], attempts }, end)).has(id)) return false;
  await insertAttempts(transaction, [
    {
      delivery_id: id,
      number: attempts,
      trigger: delivery.trigger,
      at: delivery.last_attempt_at ?? now,
      http_status: 0,
      error: INTERRUPTED,
      duration: 0,
      response_body: "",
    },
  ]);
  for (;;) {
    const row = (await findEndpoints(transaction, [webhookId])).get(webhookId);
    if (row === undefined) return true;
    if ((await writeEndpointStates(transaction, [row], followBlameless(row, end, now))).has(webhookId)) return true;
  }
}

function drawChance(random: Pick<Random, "bytes">): number {
  const [a = 0, b = 0, c = 0, d = 0] = random.bytes(4);
  return (((a << 24) | (b << 16) | (c << 8) | d) >>> 0) / 2 ** 32;
}
