import { PLANS, type api, type Billing } from "@coffer/contract";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import * as z from "zod/mini";
import { toBase64 } from "../../digest.ts";
import { Failure, type GroupHandlers, type Input } from "../handlers.ts";
import { limitsOf, readAccount } from "./accounts.ts";
import { record } from "./audit.ts";
import { timestamp, type Caller, type State, type Visitor } from "./state.ts";

/** The bytes with which the fake's payment provider signs; 32 of ASCII. */
export const PAYMENT_SECRET = new TextEncoder().encode("secret of the fake's own provider");
const SKEW_SECONDS = 300;

const paymentEvent = z.object({
  kind: z.enum(["subscription.active", "subscription.ending", "subscription.ended"]),
  accountId: z.string(),
  plan: z.enum(PLANS),
});

export function billingHandlers(state: State) {
  return { ...planHandlers(state), ...eventHandlers(state) } satisfies GroupHandlers<typeof api.billing, never>;
}

function planHandlers(state: State) {
  const read = (accountId: string): Billing => ({
    plan: readAccount(state, accountId).plan,
    subscription: state.subscriptions.get(accountId) ?? null,
  });
  return {
    get: (_input, { accountId }) => ({ billing: read(accountId) }),
    checkout: ({ body }, { accountId }) => {
      requireVerified(state, accountId);
      if (read(accountId).plan === body.plan) throw new Failure("plan_unchanged");
      return { url: `https://pay.fake.test/checkout/${crypto.randomUUID()}` };
    },
    changePlan: ({ body }, caller) => {
      const { accountId } = caller;
      requireVerified(state, accountId);
      const { subscription } = read(accountId);
      if (subscription === null || subscription.status === "ended") throw new Failure("subscription_required");
      if (readAccount(state, accountId).usage.bytes > limitsOf(body.plan).storageBytes)
        throw new Failure("usage_above_plan");
      state.subscriptions.set(accountId, { ...subscription, plan: body.plan });
      setPlan(state, caller, accountId, body.plan);
      return { billing: read(accountId) };
    },
  } satisfies Partial<GroupHandlers<typeof api.billing, Caller>>;
}

function eventHandlers(state: State) {
  return {
    events: (input, visitor) => {
      const { kind, accountId, plan } = parseEvent(state, input);
      const id = input.headers["webhook-id"];
      if (state.paymentEvents.has(id) || !state.accounts.has(accountId)) return;
      state.paymentEvents.add(id);
      const status = kind === "subscription.active" ? "active" : kind === "subscription.ending" ? "ending" : "ended";
      const since = state.subscriptions.get(accountId)?.since ?? timestamp(state);
      state.subscriptions.set(accountId, { plan, status, since });
      setPlan(state, visitor, accountId, status === "ended" ? "free" : plan);
    },
  } satisfies Partial<GroupHandlers<typeof api.billing, Visitor>>;
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
  record(state, visitor, accountId, "account.plan_changed", { type: "account", id: accountId });
}

function requireVerified(state: State, accountId: string): void {
  if (!readAccount(state, accountId).emailVerified) throw new Failure("email_unverified");
}
