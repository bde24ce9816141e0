import { PLANS, type api, type Billing } from "@coffer/contract";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import * as z from "zod/mini";
import { toBase64 } from "../../digest.ts";
import { Failure, type GroupHandlers, type Input } from "../handlers.ts";
import { limitsOf, readAccount } from "./accounts.ts";
import { record } from "./audit.ts";
import type { SubscriptionRow } from "./identity-state.ts";
import { timestamp, type Caller, type State, type Visitor } from "./state.ts";

/** The bytes with which the fake's payment provider signs; 32 of ASCII. */
export const PAYMENT_SECRET = new TextEncoder().encode("secret of the fake's own provider");
const SKEW_SECONDS = 300;

const paymentEvent = z.object({
  kind: z.enum(["subscription.active", "subscription.ending", "subscription.ended"]),
  accountId: z.string(),
  plan: z.enum(PLANS),
  /** Which subscription, when an account has had several. */
  reference: z._default(z.string(), "subscription"),
  /** Absent: when it comes. */
  occurredAt: z.optional(z.iso.datetime({ offset: true })),
});

type Status = SubscriptionRow["status"];
/** In the order of a subscription's life. */
const STATUSES: readonly Status[] = ["active", "ending", "ended"];

export function billingHandlers(state: State) {
  return { ...planHandlers(state), ...eventHandlers(state) } satisfies GroupHandlers<typeof api.billing, never>;
}

function planHandlers(state: State) {
  return {
    get: (_input, { accountId }) => ({ billing: readBilling(state, accountId) }),
    checkout: ({ body }, { accountId }) => {
      requireVerified(state, accountId);
      if (readAccount(state, accountId).plan === body.plan) throw new Failure("plan_unchanged");
      if (body.plan === "free") throw new Failure("validation_failed", "body.plan: the free plan is not paid for");
      return { url: `https://pay.fake.test/checkout/${crypto.randomUUID()}` };
    },
    changePlan: ({ body }, caller) => {
      requireVerified(state, caller.accountId);
      changePlan(state, caller, body.plan);
      return { billing: readBilling(state, caller.accountId) };
    },
  } satisfies Partial<GroupHandlers<typeof api.billing, Caller>>;
}

function readBilling(state: State, accountId: string): Billing {
  const { plan } = readAccount(state, accountId);
  const row = state.subscriptions.get(accountId);
  if (row === undefined) return { plan, subscription: null };
  return {
    plan,
    subscription: { plan: row.plan, status: row.status, since: timestamp(state, row.since - state.now()) },
  };
}

/** A paid plan stays until the provider reports its end; a plan that nobody pays for can be left at once. */
function changePlan(state: State, caller: Caller, plan: Billing["plan"]): void {
  const { accountId } = caller;
  const account = readAccount(state, accountId);
  const row = state.subscriptions.get(accountId);
  const paid = row === undefined || row.status === "ended" ? null : row;
  const next = paid === null ? account.plan : paid.status === "ending" ? "free" : paid.plan;
  if (plan === next) return;
  if (paid === null && plan !== "free") throw new Failure("subscription_required");
  if (plan === "free" && account.usage.bytes > limitsOf(plan).storageBytes) throw new Failure("usage_above_plan");
  if (paid === null) return setPlan(state, caller, accountId, plan);
  state.subscriptions.set(accountId, { ...paid, status: plan === "free" ? "ending" : "active" });
  record(state, caller, accountId, "account.plan_change_requested", { type: "plan", id: plan });
}

function eventHandlers(state: State) {
  return {
    events: (input, visitor) => {
      const { kind, accountId, plan, reference, occurredAt } = parseEvent(state, input);
      const id = input.headers["webhook-id"];
      if (state.paymentEvents.has(id) || !state.accounts.has(accountId)) return;
      state.paymentEvents.add(id);
      const status = kind === "subscription.active" ? "active" : kind === "subscription.ending" ? "ending" : "ended";
      const eventAt = occurredAt === undefined ? state.now() : Date.parse(occurredAt);
      const old = state.subscriptions.get(accountId);
      if (old !== undefined && !counts(old, { status, reference, eventAt })) return;
      const goesOn = old !== undefined && old.reference === reference && old.status !== "ended";
      state.subscriptions.set(accountId, { plan, status, reference, eventAt, since: goesOn ? old.since : eventAt });
      setPlan(state, visitor, accountId, status === "ended" ? "free" : plan);
    },
  } satisfies Partial<GroupHandlers<typeof api.billing, Visitor>>;
}

/** An older event never undoes a newer one. The end of another subscription means nothing for the current one. */
function counts(old: SubscriptionRow, told: Pick<SubscriptionRow, "status" | "reference" | "eventAt">): boolean {
  const isSame = told.reference === old.reference;
  const isLaterState = !isSame || STATUSES.indexOf(told.status) >= STATUSES.indexOf(old.status);
  const isNewer = told.eventAt > old.eventAt || (told.eventAt === old.eventAt && isLaterState);
  return isNewer && (isSame || old.status === "ended" || told.status === "active");
}

/** Standard Webhooks: HMAC-SHA-256 over `id.timestamp.body`. */
function parseEvent(state: State, { headers, body }: Input<typeof api.billing.events>): z.infer<typeof paymentEvent> {
  const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signature } = headers;
  if (!signature.split(" ").includes(signPayment(id, time, body))) throw new Failure("signature_invalid");
  if (Math.abs(state.now() / 1000 - Number(time)) > SKEW_SECONDS) throw new Failure("clock_skew");
  try {
    const parsed = z.safeParse(paymentEvent, JSON.parse(new TextDecoder().decode(body)));
    if (parsed.success) return parsed.data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Failure("malformed_json");
}

/** The `webhook-signature` of an event of the fake's payment provider. */
export function signPayment(id: string, time: string, body: Uint8Array): string {
  const mac = hmac
    .create(sha256, PAYMENT_SECRET)
    .update(new TextEncoder().encode(`${id}.${time}.`))
    .update(body);
  return `v1,${toBase64(mac.digest())}`;
}

function setPlan(state: State, visitor: Visitor | Caller, accountId: string, plan: Billing["plan"]): void {
  const account = readAccount(state, accountId);
  if (account.plan === plan) return;
  state.accounts.set(accountId, { ...account, plan });
  record(state, visitor, accountId, "account.plan_changed", { type: "plan", id: plan });
}

function requireVerified(state: State, accountId: string): void {
  if (!readAccount(state, accountId).emailVerified) throw new Failure("email_unverified");
}
