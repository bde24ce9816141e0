import { describe, expect, it } from "vitest";
import { expectStatus, fieldsAt, textIn, TIMESTAMP } from "../kit/answers.ts";
import { filesHolding, runSql } from "../kit/data-directory.ts";
import { useService, useWebhookSink } from "../kit/service.ts";
import { isSignedBy, type Arrived } from "../kit/webhook-sink.ts";
import { openWebhooks, type NewWebhook, type Webhooks } from "../kit/webhooks.ts";

const service = useService();
const HOUR = 3_600_000;

const sink = useWebhookSink();

const mine = (): Webhooks => openWebhooks(service().server.baseUrl, service().owner.apiKey);
const rotate = async ({ id }: NewWebhook) => fieldsAt(await mine().ask("POST", `/${id}/rotate-secret`), 200);

/** What a test delivery brings. */
async function arrivalOf({ id, webhook }: NewWebhook, receivers: ReadonlyMap<unknown, readonly Arrived[]>) {
  await mine().test(id);
  return receivers.get(webhook["url"])!.at(-1)!;
}

function newReceiver() {
  const receiver = sink.receiver();
  return { receiver, arrivals: new Map([[receiver.url, receiver.arrived]]) };
}

const signatures = ({ headers }: Arrived): string[] => String(headers["webhook-signature"]).split(" ");

describe("rotating a secret", () => {
  it("shows the new one once; for 24 hours both sign, and then the new one alone [D6-rotate-secret D6-headers]", async () => {
    const { receiver, arrivals } = newReceiver();
    const made = await mine().create(receiver.url);
    const before = await arrivalOf(made, arrivals);
    const fields = await rotate(made);
    expect(fields).toEqual({
      secret: expect.stringMatching(/^whsec_[0-9A-Za-z+/]{43}=$/) as string,
      previousSecretExpiresAt: expect.stringMatching(TIMESTAMP) as string,
    });
    const secret = textIn(fields, "secret");
    expect(secret).not.toBe(made.secret);
    const left = Date.parse(textIn(fields, "previousSecretExpiresAt")) - Date.now();
    expect(left).toBeGreaterThan(24 * HOUR - 60_000);
    expect(left).toBeLessThanOrEqual(24 * HOUR);

    const during = await arrivalOf(made, arrivals);
    expect([isSignedBy(during, secret), isSignedBy(during, made.secret)]).toEqual([true, true]);
    expect(signatures(during).length).toBe(2);
    expect(isSignedBy(before, secret)).toBe(false);

    // A day passes: the clock of a running server cannot be moved, so the row is.
    const age = "UPDATE webhooks SET previous_secret_ends_at = ? WHERE id = ?";
    await runSql(service().dataDirectory, age, Date.now(), made.id);
    const after = await arrivalOf(made, arrivals);
    expect([isSignedBy(after, secret), isSignedBy(after, made.secret)]).toEqual([true, false]);
    expect(signatures(after).length).toBe(1);
  });

  it("twice leaves two at most: the oldest ends at once [D6-rotate-secret]", async () => {
    const { receiver, arrivals } = newReceiver();
    const made = await mine().create(receiver.url);
    const second = textIn(await rotate(made), "secret");
    const third = textIn(await rotate(made), "secret");
    const arrived = await arrivalOf(made, arrivals);
    expect([third, second, made.secret].map((secret) => isSignedBy(arrived, secret))).toEqual([true, true, false]);
  });

  it("leaves no secret anywhere, and the endpoint as it was [D1-webhook-secrets D6-rotate-secret]", async () => {
    const { receiver } = newReceiver();
    const made = await mine().create(receiver.url, ["file.uploaded"], { description: "kept" });
    const secret = textIn(await rotate(made), "secret");
    const { updatedAt, ...kept } = await mine().get(made.id);
    expect({ ...kept, updatedAt: made.webhook["updatedAt"] }).toEqual(made.webhook);
    expect(updatedAt).toEqual(expect.stringMatching(TIMESTAMP));
    const { dataDirectory, server } = service();
    for (const text of [made.secret, secret]) {
      for (const form of [
        text.slice("whsec_".length),
        Buffer.from(text.slice("whsec_".length), "base64").toString("hex"),
      ]) {
        expect(await filesHolding(dataDirectory, form)).toEqual([]);
        expect(server.printed()).not.toContain(form);
      }
    }
    expectStatus(await mine().ask("DELETE", `/${made.id}`), 204);
  });

  it("signs each body with its own time and id: nothing of it can be exchanged [D6-headers]", async () => {
    const { receiver, arrivals } = newReceiver();
    const made = await mine().create(receiver.url);
    const [one, two] = [await arrivalOf(made, arrivals), await arrivalOf(made, arrivals)];
    expect(isSignedBy(one, made.secret)).toBe(true);
    expect(isSignedBy({ ...one, body: two.body }, made.secret)).toBe(false);
    for (const name of ["webhook-id", "webhook-timestamp"]) {
      const value = name === "webhook-id" ? two.headers[name] : String(Number(one.headers[name]) + 1);
      expect(isSignedBy({ ...one, headers: { ...one.headers, [name]: value } }, made.secret)).toBe(false);
    }
  });
});
