/**
 * Sends the deliveries. Attempts are claimed for a while, made, and recorded. The results of several attempts, and the
 * claims of the next ones, are one transaction, because a commit costs more than an attempt (ports/database.ts).
 *
 * At least once: an attempt is counted before it is made, and a process that ends in between leaves a lease. When that
 * is over the same message goes out again, under the same `webhook-id`. Never more often than `max_attempts`.
 */
import type { Deps } from "../../../deps.ts";
import type { JobLog } from "../../../job-log.ts";
import type { Queries } from "../../../ports/database.ts";
import type { WebhookRow } from "../../../ports/tables.ts";
import type { SharedPolicy, SharedRates } from "../../../limits/limits.ts";
import { actOnAll } from "../../account/act.ts";
import { sharedRates } from "../../rates/store.ts";
import { liveSecrets } from "../secrets.ts";
import { webhookHeaders } from "../signing.ts";
import { Dispatcher } from "./dispatch.ts";
import { Lanes, type ClaimLimit } from "./lanes.ts";
import {
  type DisabledEndpoint,
  type FinishedAttempt,
  recordAttempts,
  recordInterrupted,
  type Recording,
} from "./outcome.ts";
import {
  type ClaimedDelivery,
  type Claims,
  claimsOf,
  findEndpoints,
  findNextDues,
  LANES_AT_ONCE,
  listLanes,
} from "./queue-store.ts";

export type EngineDeps = Pick<Deps, "database" | "clock" | "random" | "webhookSender" | "atRest" | "settings"> & {
  readonly log: JobLog;
};

/** What a lease has beyond the time of one attempt: to begin it and to record it, on a machine that is slow. */
const LEASE_MARGIN = 15_000;
/** No attempt begins later than so long after its claim: it would still be under way when others may take it. */
const LATEST_START = 5_000;
/** Abandoned attempts taken back in one transaction. */
const INTERRUPTED_AT_ONCE = 200;
/**
 * Elapsed milliseconds between two polls for abandoned attempts. Less than the longest pause between polls for anything: a poll
 * that begins some milliseconds early would leave them to the next one.
 */
const LEASE_POLL = 4_500;
/** Elapsed milliseconds until attempts are counted for all processes, however few they are. */
const COUNT_PAUSE = 1_000;
/** A debt of so many seconds was counted before the clock of the database was set back. */
const LONGEST_DEBT = 60;
/** Elapsed milliseconds before an endpoint with an unreadable secret is tried, and reported, again. */
const UNREADABLE_BACKOFF = 60_000;

/** Where a delivery goes, and what signs it. */
interface Receiver {
  readonly url: string;
  readonly secrets: readonly string[];
}

interface Claimed {
  readonly wanted: ClaimLimit;
  readonly receiver: Receiver | null;
  readonly deliveries: readonly ClaimedDelivery[];
  readonly due: number | null;
}

export class Engine {
  readonly #deps: EngineDeps;
  readonly #dispatcher: Dispatcher;
  readonly #lanes: Lanes;
  readonly #claims: Claims;
  readonly #lease: number;
  /** What all processes together have sent to each endpoint lately; null: on SQLite each keeps the pace by itself. */
  readonly #rates: SharedRates | null;
  readonly #pace: SharedPolicy;
  /** Attempts that are not counted there yet, by endpoint. */
  readonly #uncounted = new Map<string, number>();
  #countedAt = -Infinity;
  /** Attempts that are over and not recorded yet. */
  #finished: FinishedAttempt[] = [];
  /** Deliveries that this process is at, until they are recorded. */
  readonly #mine = new Set<string>();
  readonly #sending = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #lanesAfter = "";
  #leasesPolledAt = -Infinity;
  /** Called when an attempt is over. */
  onFinished: () => void = () => undefined;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.#dispatcher = new Dispatcher(deps);
    this.#lanes = new Lanes(deps.settings.webhooks, deps.clock);
    this.#claims = claimsOf(deps.database);
    this.#lease = deps.settings.webhooks.timeout + LEASE_MARGIN;
    this.#rates = deps.database.capabilities.dialect === "postgres" ? sharedRates(deps.database) : null;
    const { endpointRate } = deps.settings.webhooks;
    this.#pace = { name: "webhook", quota: endpointRate, window: 1, burst: endpointRate };
  }

  /** Attempts under way, those included whose end is not recorded. */
  get inFlight(): number {
    return this.#mine.size;
  }

  get unrecorded(): number {
    return this.#finished.length;
  }

  /** Polls for new changes, for what has become due, and for what was abandoned. True: there is more right away. */
  async poll(): Promise<boolean> {
    await this.#reclaim();
    const { webhookIds, more } = await this.#dispatcher.poll();
    const now = this.#deps.clock.now();
    const page = await listLanes(this.#deps.database, this.#lanesAfter);
    this.#lanesAfter = page.length < LANES_AT_ONCE ? "" : (page.at(-1)?.id ?? "");
    for (const { id, due } of page) this.#lanes.setDue(id, due);
    for (const webhookId of webhookIds) this.#lanes.add(webhookId, now);
    this.#lanes.evictIdle();
    return more;
  }

  /**
   * Records what is over, claims what may begin, and begins it. Rejects when the database does; what is over is kept then,
   * and recorded by a later call.
   */
  async flush(): Promise<void> {
    const finished = this.#finished;
    const wanted = this.#stopping.signal.aborted ? [] : this.#lanes.claimable();
    if (finished.length === 0 && wanted.length === 0) return;
    this.#finished = [];
    const asked = this.#deps.clock.elapsed();
    try {
      const { claimed, disabled } = await actOnAll(this.#deps, [], (actOf, transaction) =>
        this.#recordAndClaim({ transaction, actOf }, finished, wanted),
      );
      for (const { delivery } of finished) this.#mine.delete(delivery.id);
      this.#report(disabled);
      for (const each of claimed) this.#start(each, asked);
      await this.#spend(claimed);
    } catch (error) {
      this.#finished = [...finished, ...this.#finished];
      throw error;
    }
  }

  /**
   * Counts attempts for all processes, a tenth of the pace or a second of them together, and takes over what all have left. What is not
   * counted makes others a little faster: no attempt fails for it, and the next flush meets the same database.
   */
  async #spend(claimed: readonly Claimed[]): Promise<void> {
    if (this.#rates === null) return;
    const elapsed = this.#deps.clock.elapsed();
    let isDue = elapsed - this.#countedAt >= COUNT_PAUSE;
    for (const { wanted, deliveries } of claimed) {
      if (deliveries.length === 0) continue;
      const count = (this.#uncounted.get(wanted.webhookId) ?? 0) + deliveries.length;
      this.#uncounted.set(wanted.webhookId, count);
      isDue ||= count >= this.#pace.quota / 10;
    }
    if (!isDue || this.#uncounted.size === 0) return;
    const counts = new Map(this.#uncounted);
    this.#uncounted.clear();
    this.#countedAt = elapsed;
    const left = await this.#rates.spend(this.#pace, counts).catch(() => new Map<string, number>());
    for (const [webhookId, attempts] of left)
      if (attempts > -LONGEST_DEBT * this.#pace.quota) this.#lanes.capTokens(webhookId, attempts);
  }

  /** Begins nothing any more. Resolves when what is under way is recorded, or `patience` (in real milliseconds) is over. */
  async stop(patience: number): Promise<void> {
    this.#stopping.abort();
    const { promise: over, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), patience);
    await Promise.race([Promise.all(this.#sending), over]);
    clearTimeout(timer);
    await this.flush();
  }

  /** Resolves when every attempt that has begun is over. */
  async settled(): Promise<void> {
    await Promise.all(this.#sending);
  }

  async #recordAndClaim(
    recording: Recording,
    finished: readonly FinishedAttempt[],
    wanted: readonly ClaimLimit[],
  ): Promise<{ claimed: Claimed[]; disabled: DisabledEndpoint[] }> {
    const recorded = await recordAttempts(this.#deps, recording, finished);
    const claimed = await this.#claimAll(recording.transaction, wanted);
    await recorded.finish();
    return { claimed, disabled: [...recorded.disabled] };
  }

  async #claimAll(transaction: Queries, all: readonly ClaimLimit[]): Promise<Claimed[]> {
    const endpoints = await findEndpoints(
      transaction,
      all.map(({ webhookId }) => webhookId),
    );
    const receivers = new Map(all.map(({ webhookId }) => [webhookId, this.#receiverOf(endpoints.get(webhookId))]));
    const open = all.filter(({ webhookId }) => receivers.get(webhookId) !== null);
    const now = this.#deps.clock.now();
    const due = await this.#claims.due(transaction, open, { now, lease: this.#lease });
    const deliveries = Map.groupBy(due, ({ webhook_id: webhookId }) => webhookId);
    // As many as were asked for: there may be more, and asking again finds out. Fewer: others may be at all that it bears.
    const short = open.filter(({ webhookId, limit }) => (deliveries.get(webhookId)?.length ?? 0) < limit);
    const dues = await findNextDues(
      transaction,
      short.map(({ webhookId }) => webhookId),
    );
    return all.map((wanted): Claimed => {
      const { webhookId } = wanted;
      const receiver = receivers.get(webhookId) ?? null;
      const next = short.includes(wanted) ? (dues.get(webhookId) ?? null) : now;
      return { wanted, receiver, deliveries: deliveries.get(webhookId) ?? [], due: receiver === null ? null : next };
    });
  }

  /** null: gone, paused or unreadable. Nothing is claimed, and the lane is empty until a poll finds it again. */
  #receiverOf(endpoint: WebhookRow | undefined): Receiver | null {
    const secrets = endpoint?.active === 1 ? this.#secretsOf(endpoint) : null;
    return endpoint === undefined || secrets === null ? null : { url: endpoint.url, secrets };
  }

  /**
   * Decrypted once for all claimed together. null when they cannot be, as under another master key. Then nothing is
   * claimed, and no attempt is lost for a reason that is not the receiver's. The queue goes out when they can be read
   * again.
   */
  #secretsOf(endpoint: WebhookRow): readonly string[] | null {
    try {
      return liveSecrets(this.#deps.atRest, endpoint, this.#deps.clock.now());
    } catch (error) {
      this.#lanes.backOff(endpoint.id, UNREADABLE_BACKOFF);
      this.#deps.log.error({ job: "webhooks", err: error, webhookId: endpoint.id }, "a secret cannot be decrypted");
      return null;
    }
  }

  #start({ wanted, receiver, deliveries, due }: Claimed, asked: number): void {
    // A process that was paused since then may find that others have taken it over, and made the attempt.
    const isLate = this.#deps.clock.elapsed() - asked > LATEST_START;
    this.#lanes.start(wanted.webhookId, isLate ? 0 : deliveries.length, due);
    if (receiver === null || isLate) return;
    for (const delivery of deliveries) {
      this.#mine.add(delivery.id);
      const sending = this.#send(receiver, delivery).finally(() => this.#sending.delete(sending));
      this.#sending.add(sending);
    }
  }

  async #send({ url, secrets }: Receiver, delivery: ClaimedDelivery): Promise<void> {
    const { clock, log, webhookSender } = this.#deps;
    const at = clock.now();
    try {
      const headers = webhookHeaders({ messageId: delivery.message_id, now: at, body: delivery.payload, secrets });
      const outcome = await webhookSender.send({ url, headers, body: delivery.payload });
      this.#lanes.end(delivery.webhook_id, outcome);
      this.#finished.push({ delivery, outcome, url, at });
    } catch (error) {
      // A defect of ours: no outcome is made up for it. The lease brings the delivery back, as after a crash.
      log.error({ job: "webhooks", err: error, deliveryId: delivery.id }, "an attempt broke off");
      this.#lanes.end(delivery.webhook_id, null);
      this.#mine.delete(delivery.id);
    }
    this.onFinished();
  }

  async #reclaim(): Promise<void> {
    const { clock, database } = this.#deps;
    const began = clock.elapsed();
    if (began - this.#leasesPolledAt < LEASE_POLL) return;
    const bounds = { longest: this.#lease, limit: INTERRUPTED_AT_ONCE };
    for (let count = INTERRUPTED_AT_ONCE; count === INTERRUPTED_AT_ONCE;) {
      count = await database.transaction(async (transaction) => {
        const overdue = await this.#claims.overdue(transaction, bounds);
        // A database whose clock is set forward must not make it send the same twice at a time.
        const others = overdue.filter(({ id }) => !this.#mine.has(id));
        return recordInterrupted(this.#deps, transaction, others);
      });
    }
    this.#leasesPolledAt = began;
  }

  #report(disabled: readonly DisabledEndpoint[]): void {
    for (const each of disabled) this.#deps.log.info({ job: "webhooks", ...each }, "a webhook endpoint was turned off");
  }
}
