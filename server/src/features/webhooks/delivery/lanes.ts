/**
 * Decides which endpoint gets the next attempt. Every endpoint has a lane of its own, so that neither a long queue nor
 * a dead receiver delays the others. One endpoint gets at most so many attempts at once and a second. One that has not
 * answered well yet gets few, and one that keeps failing gets one. Half of all attempts are kept for endpoints that do
 * answer well.
 */
import type { WebhookSettings } from "../../../config.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { WebhookOutcome } from "../../../ports/webhook-sender.ts";
import { LONGEST_WAIT } from "./outcome-rules.ts";

/** After so many failures in a row there is one attempt at a time, until one succeeds. */
export const FAILURES_TO_BREAK = 5;

/** Attempts at once to an endpoint that has not answered well yet; each good answer adds one. */
const FIRST_CONCURRENCY = 2;

/** A receiver that asks for patience gets it for everything that waits for it, up to this. The one that it refused waits longer. */
const LONGEST_BACKOFF = 15 * 60_000;

/**
 * So long an endpoint is left to other processes whose attempts are all that it bears. Milliseconds. Each process then keeps
 * to endpoints of its own, and neither asks in vain for those of the other at every turn.
 */
const LEFT_TO_OTHERS = 100;

/** So long after its last attempt it is forgotten that an endpoint failed: it may be gone for good. */
const FAILURE_MEMORY = 60 * 60_000;

/** What is due later is forgotten, and found in the database again when its time comes near. */
const HORIZON = 60_000;

export type LaneSettings = Pick<WebhookSettings, "concurrency" | "endpointConcurrency" | "endpointRate">;

/** What may be claimed now. */
export interface ClaimLimit {
  readonly webhookId: string;
  readonly limit: number;
  /** Attempts to the endpoint at once, with those of other processes. */
  readonly most: number;
  /** Milliseconds since the Unix epoch. */
  readonly dueBy: number;
}

interface Lane {
  /** When its next attempt is due, in milliseconds since the Unix epoch; Infinity: nothing known. */
  due: number;
  inFlight: number;
  /** In a row; one of the two is 0. */
  failures: number;
  successes: number;
  /** How many attempts it may begin, as of `filledAt` (elapsed). */
  tokens: number;
  filledAt: number;
  /** Elapsed: nothing is sent before. */
  backOffUntil: number;
  /** Elapsed: it is not asked for before, unless something more becomes due. */
  othersUntil: number;
  /** Elapsed, of the last attempt. */
  endedAt: number;
}

export class Lanes {
  readonly #settings: LaneSettings;
  readonly #clock: Clock;
  /** In the order in which they get their turn. */
  readonly #lanes = new Map<string, Lane>();
  #inFlight = 0;
  /** Attempts in flight to endpoints without a good answer yet. */
  #unproven = 0;

  constructor(settings: LaneSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Lanes that are remembered: what the memory is held by. */
  get size(): number {
    return this.#lanes.size;
  }

  /** Something of the endpoint's is due then; null: nothing waits. */
  setDue(webhookId: string, due: number | null): void {
    const known = this.#lanes.get(webhookId);
    if (known !== undefined) known.due = due ?? Infinity;
    else if (due !== null && this.#isNear(due)) this.#lanes.set(webhookId, this.#newLane(due));
  }

  /** Something more of the endpoint's is due then. */
  add(webhookId: string, due: number): void {
    this.setDue(webhookId, Math.min(due, this.#lanes.get(webhookId)?.due ?? Infinity));
    const lane = this.#lanes.get(webhookId);
    if (lane !== undefined) lane.othersUntil = -Infinity;
  }

  /** What may begin now, in turns. The caller claims it and says so with {@link start}, in this order. */
  claimable(): ClaimLimit[] {
    const now = this.#clock.now();
    const { concurrency } = this.#settings;
    let room = concurrency - this.#inFlight;
    let unprovenRoom = Math.max(1, Math.floor(concurrency / 2)) - this.#unproven;
    const wanted: ClaimLimit[] = [];
    for (const [webhookId, lane] of this.#lanes) {
      if (room <= 0) break;
      if (!isDue(lane.due, now)) continue;
      const isProven = lane.successes > 0;
      const most = this.#mostOf(lane);
      const limit = Math.min(this.#roomOf(lane, most), room, isProven ? room : unprovenRoom);
      if (limit <= 0) continue;
      room -= limit;
      if (!isProven) unprovenRoom -= limit;
      // A time beyond every wait was written before the clock was set back: it is due.
      wanted.push({ webhookId, limit, most, dueBy: lane.due > now ? Number.MAX_SAFE_INTEGER : now });
    }
    return wanted;
  }

  /** So many were claimed, and `due` is when the next one is; the endpoint goes to the end of the line. */
  start(webhookId: string, count: number, due: number | null): void {
    const lane = this.#lanes.get(webhookId);
    if (lane === undefined) return;
    lane.due = due ?? Infinity;
    if (count === 0 && lane.inFlight === 0 && isDue(lane.due, this.#clock.now()))
      lane.othersUntil = this.#clock.elapsed() + LEFT_TO_OTHERS;
    lane.tokens -= count;
    this.#count(lane, count);
    this.#lanes.delete(webhookId);
    this.#lanes.set(webhookId, lane);
  }

  /** All processes together have left so many of the attempts that the endpoint may get now; below zero: it has had more. */
  capTokens(webhookId: string, left: number): void {
    const lane = this.#lanes.get(webhookId);
    if (lane !== undefined) lane.tokens = Math.min(this.#fill(lane), left);
  }

  /** One attempt ended; null: it broke off without an outcome. */
  end(webhookId: string, outcome: Pick<WebhookOutcome, "failure" | "retryAfter"> | null): void {
    const lane = this.#lanes.get(webhookId);
    if (lane === undefined) return;
    this.#count(lane, -1);
    lane.endedAt = this.#clock.elapsed();
    const wasProven = lane.successes > 0;
    if (outcome?.failure === null) {
      lane.successes += 1;
      lane.failures = 0;
    } else {
      lane.failures += 1;
      lane.successes = 0;
      this.backOff(webhookId, Math.min(outcome?.retryAfter ?? 0, LONGEST_BACKOFF));
    }
    const isProven = lane.successes > 0;
    if (wasProven !== isProven) this.#unproven += isProven ? -lane.inFlight : lane.inFlight;
  }

  /** Nothing of the endpoint's begins for so many milliseconds. */
  backOff(webhookId: string, milliseconds: number): void {
    const lane = this.#lanes.get(webhookId);
    if (lane !== undefined) lane.backOffUntil = Math.max(lane.backOffUntil, this.#clock.elapsed() + milliseconds);
  }

  /** Forgets endpoints with nothing due soon and nothing to remember. */
  evictIdle(): void {
    const elapsed = this.#clock.elapsed();
    for (const [webhookId, lane] of this.#lanes) {
      const isFull = this.#fill(lane) >= this.#settings.endpointRate;
      const isIdle = lane.inFlight === 0 && !this.#isNear(lane.due);
      const isForgiven = lane.failures === 0 || lane.endedAt + FAILURE_MEMORY <= elapsed;
      if (isIdle && isFull && isForgiven && lane.backOffUntil <= elapsed) this.#lanes.delete(webhookId);
    }
  }

  #newLane(due: number): Lane {
    const counters = { inFlight: 0, failures: 0, successes: 0, backOffUntil: -Infinity, othersUntil: -Infinity };
    return {
      due,
      ...counters,
      endedAt: -Infinity,
      tokens: this.#settings.endpointRate,
      filledAt: this.#clock.elapsed(),
    };
  }

  #isNear(due: number): boolean {
    const now = this.#clock.now();
    return isDue(due, now + HORIZON) || isDue(due, now);
  }

  #mostOf(lane: Lane): number {
    const isBroken = lane.failures >= FAILURES_TO_BREAK;
    return isBroken ? 1 : Math.min(this.#settings.endpointConcurrency, FIRST_CONCURRENCY + lane.successes);
  }

  #roomOf(lane: Lane, most: number): number {
    if (Math.max(lane.backOffUntil, lane.othersUntil) > this.#clock.elapsed()) return 0;
    return Math.min(most - lane.inFlight, Math.floor(this.#fill(lane)));
  }

  /** A bucket of one second's attempts. By elapsed time: a clock that is set must not lift the limit. */
  #fill(lane: Lane): number {
    const { endpointRate } = this.#settings;
    const elapsed = this.#clock.elapsed();
    lane.tokens = Math.min(endpointRate, lane.tokens + ((elapsed - lane.filledAt) * endpointRate) / 1000);
    lane.filledAt = elapsed;
    return lane.tokens;
  }

  #count(lane: Lane, by: number): void {
    lane.inFlight += by;
    this.#inFlight += by;
    if (lane.successes === 0) this.#unproven += by;
  }
}

function isDue(due: number, now: number): boolean {
  return due <= now || (due > now + LONGEST_WAIT && due !== Infinity);
}
