import { api } from "@coffer/contract";
import { refusedWith } from "../conversation.ts";
import type { Flow } from "../subject.ts";

/** Plans: nobody pays in a conformance run, and nobody's plan is changed by an event that the provider did not sign. */
export const billingFlow: Flow = async ({ owner }) => {
  const { get, checkout, changePlan, events } = api.billing;
  owner.step("the plan, and checkout without a verified e-mail");
  const { billing } = (await owner.call(get, {})).value();
  const { account } = (await owner.call(api.account.get, {})).value();
  owner.check(get, billing.plan === account.plan, "the account says another plan");
  if (account.emailVerified) {
    owner.note("checkout was not tried: the account's e-mail is verified, and somebody might have to pay");
    const same = billing.plan === "pro" ? "pro" : "free";
    await owner.call(checkout, { body: { plan: same } }, { expect: "any" });
    await owner.call(changePlan, { body: { plan: same } }, { expect: "any" });
  } else {
    const ask = { body: { plan: "pro" as const } };
    const refused = await owner.call(checkout, ask, { expect: "email_unverified" });
    const said = new TextDecoder().decode(refused.body);
    owner.check(checkout, said === '{"error":"Email verification required"}', "the refusal has other words");
    await owner.call(changePlan, ask, { expect: "email_unverified" });
  }
  owner.step("an event that nobody signed");
  const headers = { "webhook-id": "made-up", "webhook-timestamp": "1", "webhook-signature": "v1,AAAA" };
  const event = new TextEncoder().encode("{}");
  const unsigned = await owner.as(null).call(events, { headers, body: event }, { expect: "any" });
  const refusal = refusedWith(unsigned) ?? "";
  owner.check(events, ["signature_invalid", "not_configured"].includes(refusal), `it is answered ${refusal}`);
};
