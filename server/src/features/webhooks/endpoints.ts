/** Making, changing and rotating endpoints: what is written beside them, in one transaction each. */
import { MAX_WEBHOOK_URL, SECRET_OVERLAP_HOURS, type Webhook } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { type Principal, Reply } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import type { WebhookRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import type { AccountAct } from "../account/act.ts";
import { notFound } from "../acting.ts";
import { toTimestamp } from "../timestamps.ts";
import { toWebhook } from "./rules.ts";
import { protectSecret } from "./secrets.ts";
import { mintSecret } from "./signing.ts";
import {
  startCursor,
  countWebhooks,
  findWebhook,
  lockWebhook,
  insertWebhook,
  rotateSecret,
  updateWebhook,
} from "./store.ts";

export type EndpointDeps = Pick<Deps, "clock" | "random" | "settings" | "atRest" | "webhookSender">;

export interface WantedWebhook {
  readonly url: string;
  readonly events: readonly string[];
  readonly description?: string | undefined;
}

const HOUR = 3_600_000;

/** The endpoint, else 404. */
export async function readWebhook(queries: Queries, { accountId }: Principal, id: string): Promise<WebhookRow> {
  const row = await queries.first(findWebhook(queries, { accountId, id }));
  if (row === null) throw notFound("Webhook");
  return row;
}

export async function addWebhook(
  deps: EndpointDeps,
  act: AccountAct,
  principal: Principal,
  wanted: WantedWebhook,
): Promise<Reply<{ webhook: Webhook; secret: string }>> {
  const { accountId } = principal;
  const maximum = deps.settings.limits.webhooks;
  const count = (await act.first(countWebhooks(act, { accountId })))?.count ?? 0;
  if (count >= maximum) throw new ServiceError("limit_reached", `An account holds at most ${maximum} webhooks`);
  const secret = mintSecret(deps.random);
  const row = newRow(deps, accountId, { ...wanted, url: acceptUrl(deps, wanted.url) }, secret);
  await insertWebhook(act, row);
  await recordWebhookChange(act, principal, row.id, "webhook.created");
  // After the record of its own making, which is not an event: later changes are delivered.
  await startCursor(act, act.account, count === 0);
  return new Reply({ webhook: toWebhook(row), secret }, { headers: { Location: `/api/webhooks/${row.id}` } });
}

export type WebhookWishes = { readonly [Field in keyof WantedWebhook]?: WantedWebhook[Field] | undefined } & {
  readonly active?: boolean | undefined;
};

/**
 * Fields without a wish keep what an attempt has just written there: an endpoint that was turned off meanwhile stays
 * off.
 */
export async function changeWebhook(
  deps: EndpointDeps,
  act: AccountAct,
  principal: Principal,
  id: string,
  wishes: WebhookWishes,
): Promise<WebhookRow> {
  const row = await lockWebhook(act, { id, accountId: principal.accountId });
  if (row === null) throw notFound("Webhook");
  const { events, description, active } = wishes;
  const url = wishes.url === undefined ? row.url : acceptUrl(deps, wishes.url);
  // A change that makes a failing endpoint active, or sends it elsewhere, gives it a clean record.
  const isRenewed = url !== row.url || (active === true && row.active === 0);
  const changed = await updateWebhook(act, id, {
    ...(wishes.url === undefined ? {} : { url }),
    ...(active === undefined ? {} : { active: Number(active) }),
    ...(events === undefined ? {} : { events_json: renderKinds(events) }),
    ...(description === undefined ? {} : { description }),
    ...(isRenewed ? { failing_since: null } : {}),
    updated_at: deps.clock.now(),
  });
  if (changed === null) throw notFound("Webhook");
  await recordWebhookChange(act, principal, id, "webhook.updated");
  return changed;
}

/** The old secret signs beside the new one for 24 hours; one that was still doing so for another ends now. */
export async function renewSecret(
  deps: EndpointDeps,
  act: AccountAct,
  principal: Principal,
  id: string,
): Promise<{ secret: string; previousSecretExpiresAt: string }> {
  const { accountId } = principal;
  const now = deps.clock.now();
  const endsAt = now + SECRET_OVERLAP_HOURS * HOUR;
  const secret = mintSecret(deps.random);
  const kept = protectSecret(deps.atRest, id, secret);
  const rotated = await act.run(rotateSecret(act, { id, accountId, secret: kept, endsAt, now }));
  if (rotated === 0) throw notFound("Webhook");
  await recordWebhookChange(act, principal, id, "webhook.secret_rotated");
  return { secret, previousSecretExpiresAt: toTimestamp(endsAt) };
}

/** In the audit log; webhooks get no events about webhooks. */
export async function recordWebhookChange(
  act: AccountAct,
  actor: Principal | null,
  id: string,
  action: "webhook.created" | "webhook.updated" | "webhook.deleted" | "webhook.secret_rotated" | "webhook.disabled",
): Promise<void> {
  await act.record({ action, actor, target: { kind: "webhook", id } });
}

/** The address in its normal form. Says why one is refused, never what it held: an address may hold a password. */
function acceptUrl({ webhookSender }: EndpointDeps, text: string): string {
  const refusal = webhookSender.refusal(text);
  if (refusal !== null) throw new ServiceError("url_refused", `body.url: ${refusal}`);
  const { href } = new URL(text);
  if (href.length > MAX_WEBHOOK_URL) throw new ServiceError("url_refused", "body.url: too long");
  return href;
}

function renderKinds(kinds: readonly string[]): string {
  return JSON.stringify([...new Set(kinds)]);
}

function newRow(deps: EndpointDeps, accountId: string, wanted: WantedWebhook, secret: string): WebhookRow {
  const id = deps.random.uuid();
  const now = deps.clock.now();
  return {
    id,
    account_id: accountId,
    url: wanted.url,
    events_json: renderKinds(wanted.events),
    description: wanted.description ?? "",
    active: 1,
    secret: protectSecret(deps.atRest, id, secret),
    previous_secret: null,
    previous_secret_ends_at: null,
    last_delivery_status: "none",
    last_delivery_at: null,
    failure_count: 0,
    failing_since: null,
    created_at: now,
    updated_at: now,
  };
}
