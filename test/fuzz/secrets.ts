/** What makes requests about people and secrets succeed: codes and tokens that were given out, a known password, signed events. */
import type { EndpointDefinition } from "@coffer/contract";
import { delivery } from "../journeys/kit/payments.ts";
import type { Kind, Fields, Sources } from "./pool.ts";

const HOUR = 3_600_000;

/** Of every account that the run signs up. */
export const PASSWORD = "granite otter 71 lanterns";

/** What a development server takes for the payment provider's secret when none is set. */
const PAYMENT_SECRET = `whsec_${Buffer.from("coffer development payments").toString("base64")}`;

/** Field of an endpoint → where its value comes from. `PASSWORD` stands for the known one. */
const TELLING: Readonly<Record<string, Readonly<Record<string, Kind | typeof PASSWORD>>>> = {
  "auth.signup": { accessCode: "accessCode", password: PASSWORD },
  "auth.login": { email: "email", password: PASSWORD },
  "auth.refresh": { refreshToken: "refreshToken" },
  "auth.logout": { refreshToken: "refreshToken" },
  "auth.changePassword": { currentPassword: PASSWORD, newPassword: PASSWORD },
  "auth.forgotPassword": { email: "email" },
  "auth.resendVerification": { email: "email" },
  "auth.resetPassword": { token: "resetToken", newPassword: PASSWORD },
  "auth.verifyEmail": { token: "verifyToken" },
  "auth.checkAccessCode": { code: "accessCode" },
  "identityProvider.authorize": { accessCode: "accessCode" },
  "identityProvider.authorizeZklogin": { accessCode: "accessCode" },
  "identityProvider.callback": { state: "state" },
  "identityProvider.zkloginToken": { state: "state" },
  "identityProvider.zkloginAuth": { state: "state" },
  "invites.redeem": { code: "inviteCode" },
  "account.linkChain": { nonce: "nonce" },
  "webhooks.create": { url: "webhookUrl" },
  "webhooks.update": { url: "webhookUrl" },
};

/** Puts in what leads somewhere, more often than not. */
export function telling(e: EndpointDefinition, fields: Fields, { draw, pool, now }: Sources): Fields {
  const told: Fields = { ...fields };
  for (const [name, kind] of Object.entries(TELLING[e.id] ?? {})) {
    if (draw.chance(0.2)) continue;
    const value = kind === PASSWORD ? PASSWORD : pool.draw(kind, draw);
    if (value !== undefined) told[name] = value;
  }
  // The service waives signatures in a fuzz run; one that is there must still be right.
  if (e.id === "invites.redeem" && draw.chance(0.6)) {
    delete told["signature"];
    delete told["signedAt"];
  }
  if (e.id === "apiKeys.create" && draw.chance(0.7)) {
    delete told["chainAddress"];
    delete told["addressProof"];
  }
  if (e.id === "webhooks.recover" && draw.chance(0.7)) return { since: new Date(now - HOUR).toISOString() };
  return told;
}

const KINDS = ["subscription.active", "subscription.active", "subscription.ending", "subscription.ended"] as const;

export function drawEvent({ draw, pool, now }: Sources): Buffer {
  const accountId = pool.draw("accountId", draw) ?? "nobody";
  const occurredAt = new Date(now).toISOString();
  return Buffer.from(
    JSON.stringify({
      kind: draw.pick(KINDS),
      accountId,
      plan: draw.pick(["free", "pro"]),
      reference: "sub",
      occurredAt,
    }),
  );
}

/** The headers of an event as the provider sends it. */
export function signEvent(body: Buffer | null, { draw, now }: Sources): Readonly<Record<string, string>> {
  const signing = { id: `event-${String(draw.int(500))}`, secret: PAYMENT_SECRET, at: now };
  const { headers = {} } = delivery(body ?? Buffer.alloc(0), signing);
  return headers;
}
