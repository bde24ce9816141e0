/** The calls behind {@link WebhookResource}: each is one endpoint of the contract, its answer unwrapped. */
import { webhookEventsGroup, webhooksGroup } from "@coffer/contract";
import type { Calling } from "../http/call.ts";
import type { Body, Query } from "../connection/call-fields.ts";
import type { CallOptions } from "../connection/options.ts";

type Webhooks = typeof webhooksGroup;

export function webhookCalls(call: Calling) {
  return { ...endpointCalls(call), ...deliveryCalls(call) };
}

function endpointCalls(call: Calling) {
  const { list, create, get, update, rotateSecret } = webhooksGroup;
  return {
    list: (query: Query<Webhooks["list"]>, options?: CallOptions) => call(list, { query }, options),
    create: (body: Body<Webhooks["create"]>, options?: CallOptions) => call(create, { body }, options),
    get: async (webhookId: string, options?: CallOptions) =>
      (await call(get, { params: { webhookId } }, options)).webhook,
    update: async (webhookId: string, body: Body<Webhooks["update"]>, options?: CallOptions) =>
      (await call(update, { params: { webhookId }, body }, options)).webhook,
    delete: (webhookId: string, options?: CallOptions) =>
      call(webhooksGroup.delete, { params: { webhookId } }, options),
    rotateSecret: (webhookId: string, options?: CallOptions) => call(rotateSecret, { params: { webhookId } }, options),
    eventKinds: async (options?: CallOptions) => (await call(webhookEventsGroup.list, {}, options)).events,
  };
}

function deliveryCalls(call: Calling) {
  const { test, deliveries, delivery, redeliver, recover } = webhooksGroup;
  return {
    test: async (webhookId: string, options?: CallOptions) =>
      (await call(test, { params: { webhookId } }, options)).delivery,
    deliveries: (webhookId: string, query: Query<Webhooks["deliveries"]>, options?: CallOptions) =>
      call(deliveries, { params: { webhookId }, query }, options),
    delivery: (webhookId: string, deliveryId: string, options?: CallOptions) =>
      call(delivery, { params: { webhookId, deliveryId } }, options),
    redeliver: async (webhookId: string, deliveryId: string, options?: CallOptions) =>
      (await call(redeliver, { params: { webhookId, deliveryId } }, options)).delivery,
    recover: async (webhookId: string, body: Body<Webhooks["recover"]>, options?: CallOptions) =>
      (await call(recover, { params: { webhookId }, body }, options)).count,
  };
}
