/** What every driver of the payment-provider port must do. How events are made and requests are seen is the driver's. */
import {
  type PaymentEvent,
  PaymentEventError,
  type PaymentProvider,
  type SignedEvent,
} from "@coffer/server/ports/payment-provider";
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

export interface PaymentSubject extends AsyncDisposable {
  readonly provider: PaymentProvider;
  /** The event as the provider would send it at `now`, in milliseconds since the Unix epoch. */
  sign(event: PaymentEvent, now: number): SignedEvent;
  /** A body of the provider's that is not one of the port's events, signed. */
  signBody(body: string, now: number): SignedEvent;
  /** How many checkouts the provider has opened. */
  checkouts(): Promise<number>;
  /** The changes of plan it was asked for, oldest first. */
  planChanges(): Promise<readonly { readonly reference: string; readonly plan: string }[]>;
}

const NOW = Date.UTC(2026, 10, 20, 12);
const SKEW = 5 * 60_000;

const paid: PaymentEvent = {
  id: "evt_1",
  kind: "subscription.active",
  accountId: randomUUID(),
  plan: "pro",
  reference: "sub_1",
  occurredAt: NOW - 1000,
};

export function describePaymentProvider(name: string, open: () => Promise<PaymentSubject>): void {
  describe(`payment provider: ${name} [D0-billing]`, () => {
    let subject: PaymentSubject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject[Symbol.asyncDispose]());

    const request = (id: string) => ({ id, accountId: paid.accountId, email: "a@example.test", plan: "pro" }) as const;
    const reasonOf = (event: SignedEvent, now = NOW): string => {
      try {
        subject.provider.parseEvent(event, now);
        return "taken";
      } catch (error) {
        if (error instanceof PaymentEventError) return error.reason;
        throw error;
      }
    };

    it("opens a checkout at an address, and none for an id it has seen", async () => {
      const first = await subject.provider.checkout(request("c-1"));
      expect(URL.canParse(first.url)).toBe(true);
      expect(await subject.provider.checkout(request("c-1"))).toEqual(first);
      expect(await subject.checkouts()).toBe(1);
      expect((await subject.provider.checkout(request("c-2"))).url).not.toBe(first.url);
      expect(await subject.checkouts()).toBe(2);
    });

    it("opens one checkout of an id for 20 requests at the same time", async () => {
      await Promise.all(Array.from({ length: 20 }, () => subject.provider.checkout(request("c-1"))));
      expect(await subject.checkouts()).toBe(1);
    });

    it("changes the plan of a subscription", async () => {
      await subject.provider.changePlan("sub_1", "free");
      await subject.provider.changePlan("sub_1", "pro");
      expect(await subject.planChanges()).toEqual([
        { reference: "sub_1", plan: "free" },
        { reference: "sub_1", plan: "pro" },
      ]);
    });

    it.each(["subscription.active", "subscription.ending", "subscription.ended"] as const)(
      "reads its own %s event",
      (kind) => {
        expect(subject.provider.parseEvent(subject.sign({ ...paid, kind }, NOW), NOW)).toEqual({ ...paid, kind });
      },
    );

    it("refuses an event of which anything signed was altered", () => {
      const event = subject.sign(paid, NOW);
      const text = new TextDecoder().decode(event.body);
      const body = (altered: string) => new TextEncoder().encode(altered);
      const other = subject.sign({ ...paid, id: "evt_2" }, NOW);
      const forged: Partial<SignedEvent>[] = [
        { id: "evt_2" },
        { timestamp: String(Number(event.timestamp) + 1) },
        { timestamp: `0${event.timestamp}` },
        { body: body(text.replace("pro", "free")) },
        { body: body(`${text} `) },
        { body: new Uint8Array() },
        { signature: other.signature },
        { signature: "" },
        { signature: event.signature.toUpperCase() },
        { signature: event.signature.slice(0, -1) },
        { signature: `${event.signature}=` },
      ];
      for (const each of forged) expect(reasonOf({ ...event, ...each }), JSON.stringify(each)).toBe("signature");
      expect(reasonOf(event)).toBe("taken");
    });

    it("refuses what was signed more than 5 minutes ago or ahead, and nothing nearer", () => {
      const event = subject.sign(paid, NOW);
      for (const now of [NOW + SKEW, NOW - SKEW]) expect(reasonOf(event, now)).toBe("taken");
      for (const now of [NOW + SKEW + 1, NOW - SKEW - 1]) expect(reasonOf(event, now)).toBe("clock");
    });

    it("says of an altered event that it is not signed, also when its time is off", () => {
      const event = subject.sign(paid, NOW - 2 * SKEW);
      expect(reasonOf({ ...event, id: "evt_2" })).toBe("signature");
    });

    it("refuses an event that would have happened in the future: it would silence later ones", () => {
      expect(reasonOf(subject.sign({ ...paid, occurredAt: NOW + SKEW + 1 }, NOW))).toBe("clock");
    });

    it.each(["", "{", "null", "[]", "{}", '{"kind":"subscription.active"}', "\u0000"])(
      "refuses the signed body %j",
      (body) => {
        expect(reasonOf(subject.signBody(body, NOW))).toBe("body");
      },
    );
  });
}
