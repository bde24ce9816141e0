/** TEST ONLY: an app, an owner with a verified e-mail on a plan, and the payment provider's events. */
import { signPaymentEvent } from "../../drivers/payments/recording.ts";
import { type PaymentEvent, type PaymentProvider, PaymentUnavailableError } from "../../ports/payment-provider.ts";
import { openTestApp, type TestAnswer, type TestApp, type TestAppOptions } from "../../app.test-kit.ts";

export const PAYMENT_SECRET = `whsec_${Buffer.from("secret of the tests, 32 bytes ok").toString("base64")}`;

export interface Owner {
  readonly id: string;
  readonly key: string;
}

/** What is sent instead. */
interface Sending {
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

export interface TestBilling extends TestApp {
  addOwner(state?: { plan?: string; verified?: boolean }): Promise<Owner>;
  /** What the provider would send now. The account is the one that is given; everything else has a default. */
  event(more: Partial<PaymentEvent> & { accountId: string }): PaymentEvent;
  send(event: PaymentEvent, more?: Sending): Promise<TestAnswer>;
  /** As `send`, signed at that time, in milliseconds since the Unix epoch. */
  sendSignedAt(event: PaymentEvent, time: number): Promise<TestAnswer>;
  billingOf(owner: Owner): Promise<unknown>;
  /** Actions and actors of the account's changes of plan, oldest first. */
  planChanges(owner: Owner): Promise<{ action: string; actor: string; plan: string }[]>;
  readonly provider: WatchedProvider;
}

/** The embedded provider, and what a test does to it. */
export interface WatchedProvider {
  /** The requests to it, in order. */
  readonly asked: (readonly [request: "checkout" | "change-plan", named: string, plan: string])[];
  down: boolean;
  /** Runs before it answers. */
  meanwhile: () => Promise<void>;
}

export async function openTestBilling(options: TestAppOptions = {}): Promise<TestBilling> {
  const provider: WatchedProvider = { asked: [], down: false, meanwhile: () => Promise.resolve() };
  const app = await openTestApp({
    replace: ({ payments }) => ({ payments: payments === null ? null : watched(payments, provider) }),
    ...options,
    environment: { SERVICE_PAYMENT_SECRET: PAYMENT_SECRET, ...options.environment },
  });
  const { clock, deps } = app;
  const { database } = deps;
  let count = 0;
  const event: TestBilling["event"] = (more) => {
    count += 1;
    const fixed = { kind: "subscription.active", plan: "pro", reference: "sub_1" } as const;
    return { id: `evt_${count}`, ...fixed, occurredAt: clock.now(), ...more };
  };
  const send = (given: PaymentEvent, time: number, more: Sending): Promise<TestAnswer> => {
    const { id, timestamp, signature, body } = signPaymentEvent(PAYMENT_SECRET, given, time);
    const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
    const payload = more.body ?? new TextDecoder().decode(body);
    const all = { "content-type": "application/json", ...headers, ...more.headers };
    return app.ask("POST", "/api/billing/events", { headers: all, payload });
  };
  return {
    ...app,
    event,
    async addOwner({ plan = "free", verified = true } = {}) {
      const owner = await app.signUp();
      const state = { plan, email_verified: verified ? 1 : 0 };
      await database.run(database.build.updateTable("accounts").set(state).where("id", "=", owner.id));
      return owner;
    },
    send: (given, more = {}) => send(given, clock.now(), more),
    sendSignedAt: (given, time) => send(given, time, {}),
    billingOf: async ({ key }) => (await app.ask("GET", "/api/billing", { key })).body["billing"],
    async planChanges({ id }) {
      const query = database.build.selectFrom("changes").selectAll().where("account_id", "=", id).orderBy("sequence");
      const rows = (await database.all(query)).filter(({ action }) => action.startsWith("account.plan_"));
      return rows.map(({ action, actor_json: actor, target_json: target }) => ({
        action,
        actor: (JSON.parse(actor) as { type: string }).type,
        plan: (JSON.parse(target) as { id: string }).id,
      }));
    },
    provider,
  };
}

function watched(payments: PaymentProvider, watch: WatchedProvider): PaymentProvider {
  const note = async (...asked: WatchedProvider["asked"][number]): Promise<void> => {
    watch.asked.push(asked);
    await watch.meanwhile();
    if (watch.down) throw new PaymentUnavailableError("down");
  };
  return {
    async checkout(request) {
      await note("checkout", request.id, request.plan);
      return payments.checkout(request);
    },
    async changePlan(reference, plan) {
      await note("change-plan", reference, plan);
      await payments.changePlan(reference, plan);
    },
    parseEvent: (event, now) => payments.parseEvent(event, now),
  };
}
