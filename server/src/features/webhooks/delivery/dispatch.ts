/**
 * Changes become deliveries: one row for each endpoint that subscribed. One transaction writes the rows and the cursor
 * that says how far it got, and the cursor moves only from where it was read. So no change is left out and none is
 * taken twice, whatever ends the process, and whoever else does the same.
 *
 * Nothing of this happens in the request that makes the change: it writes its `changes` row, as it does anyway.
 */
import { isSubscribed, MAX_ATTEMPTS } from "@coffer/contract";
import type { Deps } from "../../../deps.ts";
import { listChangesAfter } from "../../changes/store.ts";
import {
  ACCOUNTS_AT_ONCE,
  listProgress,
  listSubscribers,
  markFirstDelivery,
  moveCursor,
  type Progress,
  type Subscriber,
} from "./cursor-store.ts";
import { mintDeliveryId } from "../delivery-ids.ts";
import { insertDeliveries } from "../deliveries-store.ts";
import { messageIdOf, renderPayload } from "../payload.ts";
import { parseKinds } from "../rules.ts";
import type { Queries } from "../../../ports/database.ts";
import type { ChangeRow, WebhookDeliveryRow } from "../../../ports/tables.ts";
import type { JobLog } from "../../../job-log.ts";

export type Dispatching = Pick<Deps, "database" | "clock" | "random"> & { readonly log: JobLog };

/** Changes read at once, and about how many rows one transaction writes: requests run in between. */
const CHANGES_AT_ONCE = 500;
const ROWS_AT_ONCE = 200;
/** Transactions of one poll: attempts that are over are recorded in between. */
const STEPS = 4;

export interface Dispatched {
  /** Endpoints that have something to send now. */
  readonly webhookIds: ReadonlySet<string>;
  /** There is more to do right away. */
  readonly more: boolean;
}

/** Polls the accounts with endpoints, some at a time, and goes on where it stopped. */
export class Dispatcher {
  readonly #deps: Dispatching;
  #after = "";
  /** Accounts with changes that have no deliveries yet, in turns. */
  #lagging: Progress[] = [];

  constructor(deps: Dispatching) {
    this.#deps = deps;
  }

  async poll(): Promise<Dispatched> {
    const { database } = this.#deps;
    if (this.#lagging.length === 0) await this.#findLagging();
    const webhookIds = new Set<string>();
    for (let step = 0; step < STEPS && this.#lagging.length > 0; step += 1) {
      const waiting = [...this.#lagging];
      const reached: string[] = [];
      const left = await database.transaction((transaction) => this.#dispatch(transaction, waiting, reached));
      // Only once it is committed.
      this.#lagging = left;
      for (const webhookId of reached) webhookIds.add(webhookId);
    }
    return { webhookIds, more: this.#lagging.length > 0 };
  }

  async #findLagging(): Promise<void> {
    const page = await listProgress(this.#deps.database, this.#after);
    this.#after = page.length < ACCOUNTS_AT_ONCE ? "" : (page.at(-1)?.account_id ?? "");
    this.#lagging = page.filter(({ done, newest }) => done < newest);
  }

  /** Answers who still has changes left. */
  async #dispatch(transaction: Queries, waiting: readonly Progress[], reached: string[]): Promise<Progress[]> {
    reached.length = 0;
    const left = [...waiting];
    while (reached.length < ROWS_AT_ONCE) {
      const progress = left.shift();
      if (progress === undefined) break;
      const done = await this.#dispatchAccount(transaction, progress, reached);
      if (done !== null && done < progress.newest) left.push({ ...progress, done });
    }
    return left;
  }

  /** Up to which change the account's are deliveries now; null: somebody else is at it. */
  async #dispatchAccount(transaction: Queries, progress: Progress, reached: string[]): Promise<number | null> {
    const { account_id: accountId, done, newest } = progress;
    const changes = await listChangesAfter(transaction, { accountId, after: done, limit: CHANGES_AT_ONCE });
    const subscribers = (await listSubscribers(transaction, accountId)).map((row) => ({
      ...row,
      kinds: parseKinds(row),
    }));
    const rows: WebhookDeliveryRow[] = [];
    // Nothing is sent for numbers whose changes the audit log has removed.
    let to = changes.length < CHANGES_AT_ONCE ? newest : done;
    for (const change of changes) {
      rows.push(...this.#toRows(change, subscribers));
      to = Math.max(to, change.sequence);
      if (rows.length >= ROWS_AT_ONCE) {
        to = change.sequence;
        break;
      }
    }
    if (!(await moveCursor(transaction, { accountId, from: done, to }))) return null;
    await insertDeliveries(transaction, rows);
    const ids = rows.map((row) => row.webhook_id);
    for (const { id, last_delivery_status: status } of subscribers) {
      if (status === "none" && ids.includes(id)) await markFirstDelivery(transaction, id);
    }
    reached.push(...ids);
    return to;
  }

  #toRows(
    change: ChangeRow,
    subscribers: readonly (Subscriber & { kinds: readonly string[] })[],
  ): WebhookDeliveryRow[] {
    const interested = subscribers.filter(({ kinds }) => isSubscribed(kinds, change.action));
    const payload = interested.length === 0 ? null : this.#render(change);
    if (payload === null) return [];
    const now = this.#deps.clock.now();
    return interested.map(({ id }) => ({
      id: mintDeliveryId(now, change.sequence, this.#deps.random),
      webhook_id: id,
      message_id: messageIdOf(change.id),
      event: change.action,
      sequence: change.sequence,
      payload,
      trigger: "scheduled",
      status: "pending",
      attempts: 0,
      max_attempts: MAX_ATTEMPTS.event,
      http_status: 0,
      last_error: "",
      next_attempt_at: now,
      lease_until: null,
      last_attempt_at: null,
      completed_at: null,
      created_at: now,
    }));
  }

  /** A change that cannot be rendered is a defect, and must not keep back all that follow it. */
  #render(change: ChangeRow): string | null {
    try {
      return renderPayload(change);
    } catch (error) {
      this.#deps.log.error(
        { job: "webhooks", err: error, changeId: change.id },
        "a change is no event: it is left out",
      );
      return null;
    }
  }
}
