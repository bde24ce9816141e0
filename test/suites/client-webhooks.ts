import { expect, it } from "vitest";
import type { Accounts } from "./client-subject.ts";

const NOBODY = "https://receiver.invalid/hook";

/** Webhooks whose receiver does not exist, and the feed of events. */
export function webhooksSuite(accounts: () => Accounts): void {
  it("tests, turns off and renews a webhook [D6-rotate-secret] [D6-recover]", async () => {
    const { client } = await accounts().signup();
    const { webhook, secret } = await client.webhooks.create({ url: NOBODY, events: ["file.uploaded"] });
    const tested = await client.webhooks.test(webhook.id);
    expect(tested).toMatchObject({ event: "webhook.test", status: "failed", attempts: 1, maxAttempts: 1 });
    expect((await client.webhooks.deliveries(webhook.id)).items.map(({ id }) => id)).toEqual([tested.id]);
    const { attempts } = await client.webhooks.delivery(webhook.id, tested.id);
    expect(attempts.map(({ number, trigger }) => [number, trigger])).toEqual([[1, "test"]]);
    expect(await client.webhooks.redeliver(webhook.id, tested.id)).toMatchObject({ messageId: tested.messageId });
    expect(await client.webhooks.recover(webhook.id, { since: webhook.createdAt })).toBe(0);
    const rotated = await client.webhooks.rotateSecret(webhook.id);
    expect(rotated.secret).not.toBe(secret);
    expect(Date.parse(rotated.previousSecretExpiresAt)).toBeGreaterThan(Date.now() + 23 * 3_600_000);
    await client.webhooks.update(webhook.id, { active: false });
    const refused = client.webhooks.redeliver(webhook.id, tested.id);
    await expect(refused).rejects.toMatchObject({ code: "webhook_inactive" });
  });

  it("describes every kind of event by an example", async () => {
    const { client } = await accounts().signup();
    const kinds = await client.webhooks.eventKinds();
    expect(kinds.map(({ kind }) => kind)).toContain("vault.member_added");
    expect(kinds.find(({ kind }) => kind === "file.uploaded")?.example).toMatchObject({
      data: { object: { type: "file" } },
    });
  });

  it("follows the account's events from a place on, and no other account's", async () => {
    const { client } = await accounts().signup();
    const feed = client.events.follow({ after: 0, signal: AbortSignal.timeout(20_000) });
    expect((await feed.next()).value).toMatchObject({ type: "vault.created" });
    expect((await feed.next()).value).toMatchObject({ type: "api_key.created" });
    await accounts().signup();
    const vault = await client.vaults.create({ name: "Mine", type: "public" });
    expect((await feed.next()).value).toMatchObject({ type: "vault.created", data: { object: { id: vault.id } } });
    await feed.return();
  });
}
