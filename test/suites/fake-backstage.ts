import type { Fake } from "@coffer/sdk/testing";
import { randomUUID } from "node:crypto";
import type { Backstage } from "./client-subject.ts";

/** What the fake lets a test do besides its API. */
export function backstageOf(fake: Fake, baseUrl: string): Backstage {
  return {
    accessCode: () => Promise.resolve(fake.addAccessCode()),
    mailedToken: (to, purpose) => {
      const mail = fake.mails.findLast((each) => each.to === to && each.purpose === purpose);
      return mail === undefined ? Promise.reject(new Error("no such mail")) : Promise.resolve(mail.token);
    },
    pay: (event, forged) => {
      const [id, time] = [randomUUID(), String(Math.floor(Date.now() / 1000))];
      const body = new TextEncoder().encode(JSON.stringify(event));
      const headers = {
        ...{ "content-type": "application/json", "webhook-id": id, "webhook-timestamp": time },
        "webhook-signature": forged === undefined ? fake.signPayment(id, time, body) : "v1,AAAA",
      };
      return fake.fetch(new Request(`${baseUrl}/api/billing/events`, { method: "POST", headers, body }));
    },
  };
}
