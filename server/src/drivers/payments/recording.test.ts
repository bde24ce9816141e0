import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { describePaymentProvider } from "../../../../test/suites/payment-provider.ts";
import { type PaymentProvider, PaymentUnavailableError } from "../../ports/payment-provider.ts";
import { openTestPayments, signPaymentEvent } from "./recording.ts";
import { isSigned, signParts } from "./standard-webhooks.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const secret = `whsec_${Buffer.from("secret of the tests, 32 bytes ok").toString("base64")}`;
const NOW = Date.UTC(2026, 10, 20, 12);

const directory = ofEachTest(async () => ({ path: makeDirectory() }));

const path = () => join(directory.path, "payments", "requests.jsonl");
const open = (): PaymentProvider =>
  openTestPayments({ kind: "test", secret, directory: join(directory.path, "payments") }, "http://app.test");
function recorded(): Record<string, string>[] {
  const lines = readFileSync(path(), "utf8")
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Record<string, string>);
}

describePaymentProvider("the embedded one, which records", () => {
  const provider = open();
  return Promise.resolve({
    provider,
    sign: (event, now) => signPaymentEvent(secret, event, now),
    signBody(text, now) {
      const parts = { id: "evt", timestamp: String(Math.floor(now / 1000)), body: new TextEncoder().encode(text) };
      return { ...parts, signature: signParts(secret, parts) };
    },
    checkouts: () => Promise.resolve(recorded().filter(({ request }) => request === "checkout").length),
    planChanges: () =>
      Promise.resolve(
        recorded()
          .filter(({ request }) => request === "change-plan")
          .map(({ reference = "", plan = "" }) => ({ reference, plan })),
      ),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
});

const request = (id: string) => ({ id, accountId: "a", email: "a@example.test", plan: "pro" }) as const;

describe("[D0-billing-test-provider] the embedded payment provider", () => {
  it("writes what it was asked, and no secret, for its own user alone", async () => {
    const provider = open();
    const { url } = await provider.checkout(request("c-1"));
    await provider.changePlan("sub_1", "free");
    expect(url).toBe("http://app.test/billing/test-checkout/c-1");
    expect(recorded()).toEqual([
      { request: "checkout", ...request("c-1") },
      { request: "change-plan", reference: "sub_1", plan: "free" },
    ]);
    expect(readFileSync(path(), "utf8")).not.toContain(secret.slice(6));
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory.path, "payments")).mode & 0o777).toBe(0o700);
  });

  it("knows after a restart which checkouts it has opened, also past half a line that a crash left", async () => {
    await open().checkout(request("c-1"));
    appendFileSync(path(), '{"request":"checkout","id":"c-');
    const again = open();
    await again.checkout(request("c-1"));
    await again.checkout(request("c-2"));
    const lines = readFileSync(path(), "utf8").trim().split("\n");
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[2] ?? "")).toMatchObject({ id: "c-2" });
  });

  it("does not answer when it cannot write, and does once it can", async () => {
    writeFileSync(join(directory.path, "payments"), "in the way");
    const provider = open();
    await expect(provider.checkout(request("c-1"))).rejects.toBeInstanceOf(PaymentUnavailableError);
    rmSync(join(directory.path, "payments"));
    await provider.checkout(request("c-1"));
    expect(recorded()).toHaveLength(1);
  });

  it("lets events about other things pass", () => {
    const body = new TextEncoder().encode('{"kind":"invoice.paid"}');
    const parts = { id: "evt", timestamp: String(NOW / 1000), body };
    expect(open().parseEvent({ ...parts, signature: signParts(secret, parts) }, NOW)).toBeNull();
  });

  it("has no checkout address that an id could bend", async () => {
    const { url } = await open().checkout(request("../../elsewhere?x"));
    expect(new URL(url).pathname).toBe("/billing/test-checkout/..%2F..%2Felsewhere%3Fx");
  });
});

describe("a signature of Standard Webhooks", () => {
  const parts = {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    timestamp: "1614265330",
    body: Buffer.from('{"test": 2432232314}'),
  };

  it("is the one of the specification's own example", () => {
    expect(signParts("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", parts)).toBe(
      "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    );
  });

  it("may stand among others, as while a secret is changed", () => {
    const mine = signParts(secret, parts);
    const others = ["v1,AAAA", "v1a,bm8=", "nonsense", signParts("whsec_b3RoZXI=", parts)];
    expect(isSigned(secret, parts, [...others, mine].join(" "))).toBe(true);
    expect(isSigned(secret, parts, others.join(" "))).toBe(false);
    expect(isSigned(secret, parts, mine.replace("v1,", "v2,"))).toBe(false);
    expect(isSigned(secret, parts, mine.replace("v1,", ""))).toBe(false);
  });
});
