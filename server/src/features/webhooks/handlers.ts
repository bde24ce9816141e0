/** Webhook endpoints and their deliveries (specification §2.1, §2.2, §4.1; decisions §6). Owner only. */
import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../service-error.ts";
import type { GroupHandlers, Principal } from "../../handler.ts";
import type { Limits } from "../../limits/limits.ts";
import type { Queries } from "../../ports/database.ts";
import type { WebhookDeliveryRow, WebhookRow } from "../../ports/tables.ts";
import { actAs, actOnFullDisk } from "../account/act.ts";
import { notFound } from "../acting.ts";
import { parsePage, toPage } from "../paging.ts";
import {
  deleteSomeDeliveries,
  findDelivery,
  insertDelivery,
  listAttempts,
  listDeliveries,
} from "./deliveries-store.ts";
import { addWebhook, changeWebhook, readWebhook, recordWebhookChange, renewSecret } from "./endpoints.ts";
import { recoverFailed, renewDelivery } from "./redelivering.ts";
import { toAttempt, toDelivery, toWebhook } from "./rules.ts";
import { deleteWebhook, listWebhooks } from "./store.ts";
import { sendTest, TestRoom } from "./send-test.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings" | "atRest" | "webhookSender"> & {
  readonly limits: Limits;
};

/** Deliveries that go in one transaction when their endpoint is deleted: requests run in between. */
const DELETED_AT_ONCE = 500;

export const webhooksHandlers = (deps: Needs): GroupHandlers<typeof api.webhooks> => ({
  ...endpointHandlers(deps),
  ...deliveryHandlers(deps, new TestRoom()),
});

type EndpointNames = "list" | "create" | "get" | "update" | "delete" | "rotateSecret";

const endpointHandlers = (deps: Needs): Pick<GroupHandlers<typeof api.webhooks>, EndpointNames> => ({
  async list({ query }, { principal }) {
    const request = parsePage("webhooks", query);
    const { rows, nextCursor } = toPage(
      await listWebhooks(deps.database, { accountId: principal.accountId }, request),
      request,
    );
    return { webhooks: rows.map(toWebhook), nextCursor };
  },

  create: ({ body }, context) =>
    actAs(deps, context.principal, async (act) =>
      context.record(act, await addWebhook(deps, act, context.principal, body)),
    ),

  get: async ({ params }, { principal }) => ({
    webhook: toWebhook(await readWebhook(deps.database, principal, params.webhookId)),
  }),

  async update({ params, body }, { principal }) {
    const row = await actAs(deps, principal, (act) => changeWebhook(deps, act, principal, params.webhookId, body));
    return { webhook: toWebhook(row) };
  },

  delete: ({ params }, { principal }) => removeWebhook(deps, principal, params.webhookId),

  rotateSecret: ({ params }, { principal }) =>
    actAs(deps, principal, (act) => renewSecret(deps, act, principal, params.webhookId)),
});

type DeliveryNames = Exclude<keyof typeof api.webhooks, EndpointNames>;

const deliveryHandlers = (deps: Needs, room: TestRoom): Pick<GroupHandlers<typeof api.webhooks>, DeliveryNames> => ({
  async test({ params }, { principal, signal }) {
    // The look-up comes first: a limit must not reveal which ids other accounts have.
    const { id } = await readWebhook(deps.database, principal, params.webhookId);
    await deps.limits.consume("webhookTest", id);
    return { delivery: await room.within(principal.accountId, () => sendTest(deps, principal, id, signal)) };
  },

  async deliveries({ params, query }, { principal }) {
    const { id: webhookId } = await readWebhook(deps.database, principal, params.webhookId);
    // A cursor belongs to one list: of this endpoint, with this filter.
    const request = parsePage(`deliveries ${webhookId} ${query.status ?? ""}`, query);
    const found = await listDeliveries(deps.database, { webhookId, status: query.status ?? null }, request);
    const { rows, nextCursor } = toPage(found, request);
    return { deliveries: rows.map(toDelivery), nextCursor };
  },

  async delivery({ params }, { principal }) {
    const row = await readDelivery(deps.database, principal, params);
    const attempts = await listAttempts(deps.database, row.id);
    return { delivery: toDelivery(row), attempts: attempts.map(toAttempt) };
  },

  async redeliver({ params }, { principal }) {
    const renewed = await actAs(deps, principal, async (act) => {
      requireActive(await readWebhook(act, principal, params.webhookId));
      const row = await readDelivery(act, principal, params);
      const again = renewDelivery(row, deps.random.uuid(), deps.clock.now());
      await insertDelivery(act, again);
      return again;
    });
    return { delivery: toDelivery(renewed) };
  },

  async recover({ params, body }, { principal }) {
    const row = requireActive(await readWebhook(deps.database, principal, params.webhookId));
    const since = Date.parse(body.since);
    const until = body.until === undefined ? deps.clock.now() : Date.parse(body.until);
    if (Number.isNaN(since) || Number.isNaN(until) || until < since) {
      throw new ServiceError("validation_failed", "body.until: must not be before body.since");
    }
    return { count: await recoverFailed(deps, principal, { webhookId: row.id, since, until }) };
  },
});

function requireActive(row: WebhookRow): WebhookRow {
  if (row.active === 0) throw new ServiceError("webhook_inactive");
  return row;
}

async function readDelivery(
  queries: Queries,
  principal: Principal,
  { webhookId, deliveryId }: { readonly webhookId: string; readonly deliveryId: string },
): Promise<WebhookDeliveryRow> {
  const { id } = await readWebhook(queries, principal, webhookId);
  const row = await queries.first(findDelivery(queries, { webhookId: id, id: deliveryId }));
  if (row === null) throw notFound("Delivery");
  return row;
}

/** The deliveries go first, some at a time; interrupted, the endpoint is still there, and a repeat goes on. */
async function removeWebhook(deps: Needs, principal: Principal, id: string): Promise<void> {
  const { database } = deps;
  await readWebhook(database, principal, id);
  const some = { webhookId: id, limit: DELETED_AT_ONCE };
  let removed: number;
  do {
    removed = await database.transaction((transaction) => deleteSomeDeliveries(transaction, some), {
      freesSpace: true,
    });
  } while (removed === DELETED_AT_ONCE);
  await actOnFullDisk(deps, principal, async (act) => {
    const { accountId } = principal;
    if ((await act.run(deleteWebhook(act, { id, accountId }))) === 0) return;
    await recordWebhookChange(act, principal, id, "webhook.deleted");
  });
}
