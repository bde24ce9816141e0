import { api, EVENT_KINDS, eventSchema, isEventKind, type Delivery } from "@coffer/contract";
import { judgeValue, type Received } from "../judge.ts";
import type { Flow, Subject } from "../subject.ts";

/** A name that never exists (RFC 6761 §6.4): a run sends nothing to anybody, and its tests fail on purpose. */
const URL_OF_NOBODY = "https://receiver.invalid/conformance";
const UNKNOWN = "00000000-0000-4000-8000-000000000000";
const HOUR = 3_600_000;

export const webhooksFlow: Flow = async (subject) => {
  if (subject.covers(api.webhookEvents.list)) await catalogue(subject);
  await registration(subject);
  const params = { webhookId: await lifeOfAnEndpoint(subject) };
  if (subject.covers(api.webhooks.test)) await again(subject, params, await testDelivery(subject, params));
  if (subject.covers(api.webhooks.rotateSecret)) await secrets(subject, params);
  await end(subject, params);
};

async function catalogue({ owner }: Subject): Promise<void> {
  const { list } = api.webhookEvents;
  owner.step("the catalogue has every kind, with an example that keeps to the contract");
  const { events } = (await owner.call(list, {})).value();
  const known = events.map(({ kind }) => kind);
  const missing = EVENT_KINDS.filter((kind) => !known.includes(kind));
  owner.check(list, missing.length === 0, `it lacks ${missing.join(", ")}`);
  for (const { kind, schema, example } of events) {
    owner.check(list, schema["type"] === "object", `the schema of ${kind} is not one of an object`);
    const problems = isEventKind(kind) ? judgeValue(eventSchema(kind), example) : [];
    owner.check(list, problems.length === 0, `the example of ${kind}: ${problems.join("; ")}`);
  }
}

async function registration({ owner, covers }: Subject): Promise<void> {
  const { create } = api.webhooks;
  const events = ["file.uploaded" as const];
  owner.step("addresses that cannot be a webhook's");
  const blocked = covers("refused webhook addresses") ? ["https://10.0.0.1/"] : [];
  for (const url of ["nonsense", "ftp://receiver.invalid/", "https://a:b@receiver.invalid/", ...blocked])
    await owner.call(create, { body: { url, events } }, { expect: "url_refused" });
  owner.step("kinds that there are not");
  const body = { url: URL_OF_NOBODY, events: ["file.imagined" as never] };
  await owner.call(create, { body }, { expect: "validation_failed" });
}

async function lifeOfAnEndpoint({ owner, stranger, name, covers }: Subject): Promise<string> {
  const { create, get, list, update } = api.webhooks;
  owner.step("an endpoint is made, its secret shown once");
  const description = name("conformance");
  const body = { url: URL_OF_NOBODY, events: ["account.plan_changed" as const], description };
  const made = (await owner.call(create, { body })).value();
  const { webhook } = made;
  owner.check(create, /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(made.secret), "the secret has another form");
  owner.check(create, webhook.url === URL_OF_NOBODY && webhook.active, "url or active is wrong");
  const untried = webhook.lastDeliveryStatus === "none" && webhook.lastDeliveryAt === null;
  owner.check(create, untried && webhook.failureCount === 0, "it speaks of deliveries before the first");
  const params = { webhookId: webhook.id };
  owner.check(
    get,
    (await owner.call(get, { params })).value().webhook.description === description,
    "another description",
  );
  const page = (await owner.call(list, { query: { limit: 10 } })).value().webhooks;
  owner.check(list, page[0]?.id === webhook.id, "the newest page does not begin with the new endpoint");

  owner.step("the list is there with a trailing slash too");
  const headers = { authorization: `Bearer ${owner.key ?? ""}` };
  await owner.send(list, new Request(new URL("/api/webhooks/", owner.baseUrl), { headers }), 200);

  owner.step("it is changed and switched off");
  const changed = (await owner.call(update, { params, body: { active: false, events: ["*"] } })).value().webhook;
  owner.check(update, !changed.active && changed.events.join() === "*", "active or events did not change");
  owner.step("unknown ids, and another account's");
  await owner.call(get, { params: { webhookId: UNKNOWN } }, { expect: "not_found" });
  await stranger?.call(get, { params }, { expect: "not_found" });
  if (covers(api.webhooks.test)) {
    await owner.call(api.webhooks.test, { params: { webhookId: UNKNOWN } }, { expect: "not_found" });
    await stranger?.call(api.webhooks.test, { params }, { expect: "not_found" });
  }
  return webhook.id;
}

type Params = { readonly webhookId: string };

/** The endpoint is off, which is no reason not to be tested. */
async function testDelivery({ owner }: Subject, params: Params): Promise<Delivery> {
  const { test, get, deliveries, delivery: read } = api.webhooks;
  owner.step("a test is one attempt, and its record says how it went");
  const { delivery } = (await owner.call(test, { params })).value();
  const { status, attempts, maxAttempts, httpStatus, lastError, event } = delivery;
  owner.check(test, event === "webhook.test" && delivery.sequence === 0, "it is of another event");
  owner.check(test, attempts === 1 && maxAttempts === 1, "it was not tried exactly once");
  const agrees = status === "success" ? lastError === "" : status === "failed" && lastError !== "";
  owner.check(test, agrees, `status ${status} goes with lastError "${lastError}"`);
  owner.check(
    test,
    status === "success" || httpStatus === 0 || httpStatus >= 300,
    `httpStatus is ${String(httpStatus)}`,
  );
  owner.check(test, delivery.completedAt !== null && delivery.nextAttemptAt === null, "it has not ended");
  const { webhook } = (await owner.call(get, { params })).value();
  owner.check(
    get,
    webhook.lastDeliveryStatus === status && webhook.lastDeliveryAt !== null,
    "the endpoint says otherwise",
  );
  const failures = status === "success" ? 0 : 1;
  owner.check(get, webhook.failureCount === failures, `failureCount is ${webhook.failureCount}, not ${failures}`);

  owner.step("it is among the deliveries, with its attempt");
  const all = (await owner.call(deliveries, { params })).value().deliveries;
  owner.check(
    deliveries,
    all.some(({ id }) => id === delivery.id),
    "it is not listed",
  );
  const others = (await owner.call(deliveries, { params, query: { status: "pending" } })).value().deliveries;
  owner.check(
    deliveries,
    others.every((one) => one.status === "pending"),
    "a list of one status holds others",
  );
  const detail = (await owner.call(read, { params: { ...params, deliveryId: delivery.id } })).value();
  owner.check(read, detail.attempts.length === 1 && detail.attempts[0]?.trigger === "test", "its attempts are others");
  await owner.call(read, { params: { ...params, deliveryId: UNKNOWN } }, { expect: "not_found" });
  return delivery;
}

async function again({ owner }: Subject, params: Params, { id: deliveryId, messageId }: Delivery): Promise<void> {
  const { redeliver, recover, update } = api.webhooks;
  const since = new Date(Date.now() - HOUR).toISOString();
  owner.step("nothing is sent again while the endpoint is off");
  const one = { params: { ...params, deliveryId } };
  await owner.call(redeliver, one, { expect: "webhook_inactive" });
  await owner.call(recover, { params, body: { since } }, { expect: "webhook_inactive" });
  owner.step("and then it is, under the same webhook-id");
  await owner.call(update, { params, body: { active: true, events: ["account.plan_changed"] } });
  const renewed = (await owner.call(redeliver, one)).value().delivery;
  owner.check(redeliver, renewed.messageId === messageId, "the message has another id");
  const { count } = (await owner.call(recover, { params, body: { since } })).value();
  owner.check(recover, count >= 0, `the count is ${String(count)}`);
  await owner.call(redeliver, { params: { ...params, deliveryId: UNKNOWN } }, { expect: "not_found" });
}

async function secrets({ owner }: Subject, params: Params): Promise<void> {
  const { rotateSecret } = api.webhooks;
  owner.step("a rotated secret leaves the old one a day");
  const first = (await owner.call(rotateSecret, { params })).value();
  const second = (await owner.call(rotateSecret, { params })).value();
  owner.check(rotateSecret, first.secret !== second.secret, "it answers the same secret again");
  const hours = (Date.parse(second.previousSecretExpiresAt) - Date.now()) / HOUR;
  owner.check(rotateSecret, Math.abs(hours - 24) < 1, `the old one has ${hours.toFixed(1)} hours`);
}

async function end({ owner, covers }: Subject, params: Params): Promise<void> {
  const { delete: remove, deliveries } = api.webhooks;
  owner.step("it is deleted with its deliveries, once");
  await owner.call(remove, { params });
  await owner.call(remove, { params }, { expect: "not_found" });
  if (covers(deliveries)) await owner.call(deliveries, { params }, { expect: "not_found" });
}

/** What happened is told, in order, from any place on. */
export const eventsFlow: Flow = async ({ owner, vaultId, name }) => {
  const { stream } = api.events;
  owner.step("the feed tells what happened");
  await owner.call(api.folders.create, { body: { name: name("told"), vaultId } });
  const told = eventsIn(await owner.call(stream, { query: { after: 0 } }));
  owner.check(stream, told.length > 0, "it tells nothing");
  for (const { id, kind, data } of told) {
    const problems = isEventKind(kind) ? judgeValue(eventSchema(kind), data) : [];
    owner.check(stream, problems.length === 0, `the data of ${kind}: ${problems.join("; ")}`);
    owner.check(stream, data.type === kind && String(data.data?.sequence) === id, "event, id and data do not agree");
  }
  owner.step("and goes on after the event that was seen last");
  const first = Number(told[0]?.id);
  const headers = { "last-event-id": first };
  const [next] = eventsIn(await owner.call(stream, { query: { after: 0 }, headers }));
  owner.check(stream, Number(next?.id) > first, "it begins again");
  await changesFlow(owner, vaultId);
};

/** The same as a list: every row once and in order, and a cursor at its end for whoever waits. */
async function changesFlow(owner: Subject["owner"], vaultId: string): Promise<void> {
  const { list } = api.changes;
  owner.step("the list of changes tells the same, in pages without gaps");
  const all = (await owner.call(list, { query: { vaultId } })).value().changes;
  owner.check(list, all.length > 0, "it tells nothing");
  const [first, second] = all;
  const page = (await owner.call(list, { query: { vaultId, limit: 1 } })).value();
  owner.check(list, page.changes[0]?.id === first?.id, "the page begins elsewhere");
  const query = { vaultId, limit: 1, ...(page.nextCursor === null ? {} : { cursor: page.nextCursor }) };
  const next = (await owner.call(list, { query })).value();
  owner.check(list, next.changes[0]?.id === second?.id, "the pages do not meet");
  const waited = (await owner.call(list, { query: { wait: 0 } })).value();
  owner.check(list, waited.nextCursor !== null, "who waits has no cursor to go on from");
  owner.step("a place that the log does not have");
  await owner.call(list, { query: { after: Number.MAX_SAFE_INTEGER } }, { expect: "cursor_expired" });
  await owner.call(list, { query: { vaultId: crypto.randomUUID() } }, { expect: "not_found" });
}

interface Told {
  readonly id: string;
  readonly kind: string;
  readonly data: { readonly type?: unknown; readonly data?: { readonly sequence?: unknown } };
}

function eventsIn({ body }: Received): Told[] {
  const blocks = new TextDecoder().decode(body).split("\n\n").slice(0, -1);
  return blocks.flatMap((block) => {
    const field = (name: string): string => new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1] ?? "";
    const data = field("data");
    return data === "" ? [] : [{ id: field("id"), kind: field("event"), data: JSON.parse(data) as Told["data"] }];
  });
}
