import { describe, expect, it } from "vitest";
import { countRows, outcomeOf, refresh, signUpWithPassword, tryAccess } from "../features/auth/accounts.test-kit.ts";
import { openTestApp } from "../app.test-kit.ts";
import { expireIdentity } from "./identity-expiry.ts";

const DAY = 86_400_000;
const running = new AbortController().signal;

const tokenOf = ({ body }: { body: Record<string, unknown> }): string => String(body["refreshToken"]);

describe("rows of sign-in that time has ended", () => {
  it("keeps a used refresh token as long as it would have lived: its second use is noticed to the last [S3-refresh-reuse]", async () => {
    await using service = await openTestApp();
    const { refreshToken, accessToken } = await signUpWithPassword(service);
    const next = await refresh(service, refreshToken);
    service.clock.advance(29 * DAY);
    const newest = await refresh(service, tokenOf(next));
    // The first token's 30 days and the day of slack are not over by one millisecond.
    service.clock.advance(2 * DAY - 1);
    expect(await expireIdentity(service.deps, running)).toEqual({ expired: 0 });
    expect(outcomeOf(await refresh(service, refreshToken))).toBe("401 session_ended");
    expect(outcomeOf(await refresh(service, tokenOf(newest)))).toBe("401 session_ended");
    expect(await tryAccess(service, accessToken)).toBe(401);
  });

  it("forgets used tokens after that, and the live session goes on", async () => {
    await using service = await openTestApp();
    const { refreshToken } = await signUpWithPassword(service);
    service.clock.advance(29 * DAY);
    const newest = await refresh(service, refreshToken);
    service.clock.advance(2 * DAY);
    expect(await expireIdentity(service.deps, running)).toEqual({ expired: 1 });
    expect(outcomeOf(await refresh(service, refreshToken))).toBe("401 session_ended");
    expect(outcomeOf(await refresh(service, tokenOf(newest)))).toBe("200");
  });

  it("deletes a session a day after its newest token ended, and not a millisecond before", async () => {
    await using service = await openTestApp();
    const { refreshToken } = await signUpWithPassword(service);
    await service.ask("POST", "/api/auth/logout", { json: { refreshToken } });
    service.clock.advance(31 * DAY - 1);
    expect(await expireIdentity(service.deps, running)).toEqual({ expired: 0 });
    service.clock.advance(1);
    expect(await expireIdentity(service.deps, running)).toEqual({ expired: 2 });
    expect(await countRows(service, "sessions")).toBe(0);
    expect(await countRows(service, "refresh_tokens")).toBe(0);
  });

  it("deletes started sign-ins, challenges and mailed tokens after a day, payment events after thirty", async () => {
    await using service = await openTestApp();
    const { deps, clock } = service;
    const { user } = await signUpWithPassword(service);
    const { build } = deps.database;
    const now = clock.now();
    const ends = { expires_at: now };
    const account = { account_id: user.id };
    for (const query of [
      build.insertInto("sign_ins").values({
        state_hash: "a",
        flow: "idp",
        nonce: "n",
        code_verifier: "v",
        access_code_hash: null,
        ...ends,
      }),
      build.insertInto("chain_challenges").values({ nonce_hash: "a", credential: "session x", ...account, ...ends }),
      build
        .insertInto("mail_tokens")
        .values({ hash: "a", purpose: "verify", email: user.email, used_at: null, ...account, ...ends }),
      build.insertInto("payment_events").values({ id: "a", received_at: now - 29 * DAY }),
    ]) {
      await deps.database.run(query);
    }
    clock.advance(DAY - 1);
    expect(await expireIdentity(deps, running)).toEqual({ expired: 0 });
    clock.advance(1);
    expect(await expireIdentity(deps, running)).toEqual({ expired: 4 });
    for (const table of ["sign_ins", "chain_challenges", "mail_tokens", "payment_events"] as const) {
      expect(await countRows(service, table)).toBe(0);
    }
    expect(await countRows(service, "sessions")).toBe(1);
  });

  it("keeps access codes, used and expired ones too", async () => {
    await using service = await openTestApp();
    await signUpWithPassword(service);
    service.clock.advance(4000 * DAY);
    await expireIdentity(service.deps, running);
    expect(await countRows(service, "access_codes")).toBe(1);
  });

  it("goes through any number in small transactions, and stops when asked to", async () => {
    await using service = await openTestApp();
    const { database } = service.deps;
    await database.transaction(async (transaction) => {
      for (let number = 0; number < 450; number += 1) {
        const row = { id: `event ${number}`, received_at: number };
        await transaction.run(transaction.build.insertInto("payment_events").values(row));
      }
    });
    expect(await expireIdentity(service.deps, AbortSignal.abort())).toEqual({ expired: 0 });
    expect(await expireIdentity(service.deps, running)).toEqual({ expired: 450 });
  });
});
