import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { freshEmail } from "../kit/account.ts";
import { expectError, expectStatus, fieldsAt } from "../kit/answers.ts";
import { querySql, runSql } from "../kit/data-directory.ts";
import { type SignedUp } from "../kit/identity.ts";
import { readMailedToken, readOutbox } from "../kit/outbox.ts";
import { useService } from "../kit/service.ts";

const HOUR = 3_600_000;
const APP_URL = "https://app.coffer.example";
const service = useService({ SERVICE_APP_URL: APP_URL, SERVICE_RATE_MAIL_ADDRESS: "3" });

const post = (path: string, body: object) => service().ask("POST", `/api/auth/${path}`, { key: "", body });
const verify = (token: string) => post("verify-email", { token });
const resend = (email: string) => post("resend-verification", { email });
const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");
const isVerified = async ({ accessToken }: SignedUp): Promise<unknown> =>
  (await service().account(accessToken))["emailVerified"];

describe("an e-mail address", () => {
  it("is verified by the token mailed at sign-up, once [S3-email-verified S4.2-verify-email S4.2-verify-token-mailed D3-verify-email S5.5-tokens D1-open-sign-in]", async () => {
    const user = await service().join();
    expect(await isVerified(user)).toBe(false);
    const token = await readMailedToken(service().dataDirectory, user.email, "verify");
    expect(Object.keys(fieldsAt(await verify(token), 200))).toEqual(["message"]);
    expect(await isVerified(user)).toBe(true);
    expectError(await verify(token), 400, "token_invalid");
    expect(await isVerified(user)).toBe(true);
  });

  it("is mailed a link to the web application [D0-app-url S4.2-verify-token-mailed]", async () => {
    const user = await service().join();
    const token = await readMailedToken(service().dataDirectory, user.email, "verify");
    const [mail] = await readOutbox(service().dataDirectory, user.email);
    expect(mail?.text).toContain(`${APP_URL}/verify-email?token=${token}`);
  });

  it("stays unverified by a token that is of nobody, expired after 24 hours, or for passwords [D3-verify-email S5.5-tokens]", async () => {
    const user = await service().join();
    const { dataDirectory } = service();
    const token = await readMailedToken(dataDirectory, user.email, "verify");
    expectError(await verify("A".repeat(43)), 400, "token_invalid");
    expectStatus(await post("forgot-password", { email: user.email }), 200);
    expectError(await verify(await readMailedToken(dataDirectory, user.email, "reset")), 400, "token_invalid");
    const [row] = await querySql(dataDirectory, "SELECT * FROM mail_tokens WHERE hash = ?", hashOf(token));
    const left = Number(row?.["expires_at"]) - Date.now();
    expect(left).toBeLessThanOrEqual(24 * HOUR);
    expect(left).toBeGreaterThan(24 * HOUR - 60_000);
    await runSql(dataDirectory, "UPDATE mail_tokens SET expires_at = ? WHERE hash = ?", Date.now() - 1, hashOf(token));
    expectError(await verify(token), 400, "token_invalid");
    expect(await isVerified(user)).toBe(false);
  });

  it("is verified once by ten uses of a token at once [S5.5-tokens]", async () => {
    const user = await service().join();
    const token = await readMailedToken(service().dataDirectory, user.email, "verify");
    const answers = await Promise.all(Array.from({ length: 10 }, () => verify(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
  });
});

describe("asking for another verification mail", () => {
  it("is answered alike whoever asks, and mails a new token where there is something to verify [S4.2-resend-verification]", async () => {
    const user = await service().join();
    const { dataDirectory } = service();
    const first = await readMailedToken(dataDirectory, user.email, "verify");
    const [known, unknown] = [await resend(user.email), await resend(freshEmail())];
    expect(Object.keys(fieldsAt(known, 200))).toEqual(["message"]);
    expect(new TextDecoder().decode(known.bytes)).toBe(new TextDecoder().decode(unknown.bytes));
    const second = await readMailedToken(dataDirectory, user.email, "verify", { after: 1 });
    expect(second).not.toBe(first);
    expectStatus(await verify(second), 200);
    expectStatus(await resend(user.email), 200);
    expectError(await verify(second), 400, "token_invalid");
  });

  it("mails one address 3 times an hour at most, and does not say so [D2-mail-operations]", async () => {
    const user = await service().join();
    const { dataDirectory } = service();
    for (let times = 0; times < 6; times += 1) expectStatus(await resend(user.email), 200);
    // A mail to somebody else that was asked for later has arrived: those before it have, too.
    const later = await service().join();
    await readMailedToken(dataDirectory, later.email, "verify");
    const mails = await readOutbox(dataDirectory, user.email);
    expect(mails.length).toBeGreaterThanOrEqual(1);
    expect(mails.length).toBeLessThanOrEqual(4);
  });
});
