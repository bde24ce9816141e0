/** Events of the payment provider: it reports what was paid for. */
import type { Deps } from "../../deps.ts";
import type { IncomingBytes, RequestOrigin } from "../../handler.ts";
import { JsonBounds } from "../../json-bounds.ts";
import {
  type PaymentEvent,
  PaymentEventError,
  type PaymentProvider,
  type SignedEvent,
} from "../../ports/payment-provider.ts";
import { ServiceError } from "../../service-error.ts";
import { actOn } from "../account/act.ts";
import { findAccount } from "../account/store.ts";
import { recordPlanChange } from "./recording.ts";
import { planAfter, statusAfter } from "./rules.ts";
import { applySubscription, claimEvent } from "./store.ts";

/** An event is a few hundred bytes. */
const MAX_EVENT_BYTES = 64 * 1024;

type Needs = Pick<Deps, "database" | "clock" | "random">;

/** Rejects with `body_too_large`, and with what {@link JsonBounds} throws; the rest of the body is then unread. */
export async function collectEvent({ stream, length }: IncomingBytes): Promise<Uint8Array> {
  const tooLarge = (): ServiceError =>
    new ServiceError("body_too_large", `An event has at most ${MAX_EVENT_BYTES} bytes`);
  if (length !== null && length > MAX_EVENT_BYTES) throw tooLarge();
  const bounds = new JsonBounds();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > MAX_EVENT_BYTES) throw tooLarge();
    // A chunk is valid until the next one is asked for.
    const copy = Buffer.from(chunk);
    bounds.add(copy);
    chunks.push(copy);
  }
  return Buffer.concat(chunks);
}

/** Throws `signature_invalid`, `clock_skew` or `malformed_json`; null for an event that means nothing to this service. */
export function readEvent(payments: PaymentProvider, event: SignedEvent, now: number): PaymentEvent | null {
  try {
    return payments.parseEvent(event, now);
  } catch (error) {
    if (!(error instanceof PaymentEventError)) throw error;
    switch (error.reason) {
      case "signature":
        throw new ServiceError("signature_invalid", "The event is not signed with this service's payment secret", {
          cause: error,
        });
      case "clock":
        throw new ServiceError("clock_skew", "The event's time is more than 5 minutes off: sign it again", {
          cause: error,
        });
      case "body":
        throw new ServiceError("malformed_json", "The event is not one of the payment provider's", { cause: error });
    }
  }
}

/** Takes an event once, whatever order events come in. One of an account that does not exist changes nothing. */
export async function applyEvent(deps: Needs, event: PaymentEvent, origin: RequestOrigin): Promise<void> {
  const { accountId, reference, occurredAt } = event;
  const now = deps.clock.now();
  if ((await deps.database.first(findAccount(deps.database, { id: accountId }))) === null) return;
  await actOn(deps, accountId, async (act) => {
    if (!(await claimEvent(act, event.id, now))) return;
    const applied = await applySubscription(act, {
      account_id: accountId,
      plan: event.plan,
      status: statusAfter(event.kind),
      reference,
      since: occurredAt,
      event_at: occurredAt,
    });
    const plan = planAfter(event);
    if (!applied || act.account.plan === plan) return;
    act.change({ plan, updated_at: now });
    await recordPlanChange(act, { plan, actor: null, origin });
  });
}
