import { describe, expect, it } from "vitest";
import { createLimits } from "../../limits/limits.ts";
import { openTestApp, type TestAnswer, type TestApp } from "../../app.test-kit.ts";
import { ServiceError } from "../../service-error.ts";
import { actionsOf, countRows, openAgain, outcomeOf, refresh, tally, tryAccess } from "../auth/accounts.test-kit.ts";
import { endSessions } from "./store.ts";
import { refreshSession } from "./refreshing.ts";
import { addSession, ORIGIN } from "./sessions.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestApp);

const DAY = 86_400_000;
const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const RACES = FULL ? 200 : 5;
const AT_ONCE = 50;

const tokensOf = ({ body }: TestAnswer) => ({
  accessToken: String(body["accessToken"]),
  refreshToken: String(body["refreshToken"]),
});

/** Refreshes, which must succeed. */
async function next(service: TestApp, refreshToken: string) {
  const answer = await refresh(service, refreshToken);
  expect(outcomeOf(answer)).toBe("200");
  return tokensOf(answer);
}

describe("a refresh", () => {
  it("answers a new pair and uses the token up [D3-refresh S3-refresh-rotated S4.2-refresh]", async () => {
    const first = await addSession(service.deps);
    const answer = await refresh(service, first.refreshToken);
    expect(Object.keys(answer.body).sort()).toEqual(["accessToken", "expiresIn", "refreshExpiresIn", "refreshToken"]);
    expect(answer.body).toMatchObject({ expiresIn: 900, refreshExpiresIn: 30 * 86_400 });
    expect(answer.headers["cache-control"]).toBe("no-store");
    const second = tokensOf(answer);
    expect(second.refreshToken).toMatch(/^[\w-]{43}$/);
    expect(second.refreshToken).not.toBe(first.refreshToken);
    // The access token before it lives on for its own 15 minutes: it is the same session.
    expect(await tryAccess(service, first.accessToken)).toBe(200);
    expect(await tryAccess(service, second.accessToken)).toBe(200);
    const { database } = service.deps;
    const kept = JSON.stringify(await database.all(database.build.selectFrom("refresh_tokens").selectAll()));
    expect(kept).not.toContain(second.refreshToken);
  });

  it.each([0, 1, 2])(
    "with a used token ends the family, descendants included: %i generations later [S3-refresh-reuse S5.4-family-reuse]",
    async (generations) => {
      const first = await addSession(service.deps);
      const bystander = await addSession(service.deps, first.accountId);
      let newest = await next(service, first.refreshToken);
      for (let generation = 0; generation < generations; generation += 1) {
        newest = await next(service, newest.refreshToken);
      }
      expect(await tryAccess(service, newest.accessToken)).toBe(200);
      expect(outcomeOf(await refresh(service, first.refreshToken))).toBe("401 session_ended");
      expect(await tryAccess(service, newest.accessToken)).toBe(401);
      expect(await tryAccess(service, first.accessToken)).toBe(401);
      expect(outcomeOf(await refresh(service, newest.refreshToken))).toBe("401 session_ended");
      // Only that family: the account's other session goes on.
      expect(await tryAccess(service, bystander.accessToken)).toBe(200);
      await next(service, bystander.refreshToken);
      const actions = await actionsOf(service, first.accountId);
      expect(actions.filter((action) => action === "session.reuse_detected")).toHaveLength(1);
    },
  );

  it(
    `of one token ${AT_ONCE} times at once mints once, and the family is dead (${RACES} times) [S3-refresh-reuse D3-refresh]`,
    { timeout: 600_000 },
    async () => {
      for (let race = 0; race < RACES; race += 1) {
        const { refreshToken, accessToken, accountId } = await addSession(service.deps);
        const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => refresh(service, refreshToken)));
        expect(tally(answers.map(outcomeOf))).toEqual({ "200": 1, "401 session_ended": AT_ONCE - 1 });
        const winner = answers.find(({ status }) => status === 200);
        const minted = tokensOf(winner as TestAnswer);
        expect(await tryAccess(service, minted.accessToken)).toBe(401);
        expect(await tryAccess(service, accessToken)).toBe(401);
        expect(outcomeOf(await refresh(service, minted.refreshToken))).toBe("401 session_ended");
        const actions = await actionsOf(service, accountId);
        expect(actions.filter((action) => action === "session.reuse_detected")).toHaveLength(1);
      }
      expect(await countRows(service, "refresh_tokens")).toBe(2 * RACES);
    },
  );

  it("of one token by two processes at once mints once", async () => {
    await using database = await openAgain(service);
    const limits = createLimits(service.deps.settings.rates, service.clock);
    for (let race = 0; race < RACES; race += 1) {
      const { refreshToken } = await addSession(service.deps);
      const outcomes = await Promise.all(
        Array.from({ length: AT_ONCE }, async (_, number) => {
          const deps = { ...service.deps, limits, ...(number % 2 === 0 ? {} : { database }) };
          try {
            await refreshSession(deps, refreshToken, ORIGIN);
            return "minted";
          } catch (error) {
            return error instanceof ServiceError ? error.code : "?";
          }
        }),
      );
      expect(tally(outcomes)).toEqual({ minted: 1, session_ended: AT_ONCE - 1 });
    }
  });

  it("against the end of all sessions at the same time leaves nothing alive", async () => {
    const { database, clock } = service.deps;
    for (let race = 0; race < 10; race += 1) {
      const { refreshToken, accountId } = await addSession(service.deps);
      const [answer] = await Promise.all([
        refresh(service, refreshToken),
        database.transaction((transaction) =>
          endSessions(transaction, { accountId, exceptId: null, now: clock.now() }),
        ),
      ]);
      if (answer.status !== 200) continue;
      expect(await tryAccess(service, tokensOf(answer).accessToken)).toBe(401);
      expect(outcomeOf(await refresh(service, tokensOf(answer).refreshToken))).toBe("401 session_ended");
    }
  });

  it("with a token of nobody is refused in the same words", async () => {
    const { refreshToken } = await addSession(service.deps);
    await next(service, refreshToken);
    const [used, unknown] = [await refresh(service, refreshToken), await refresh(service, "x".repeat(43))];
    expect(unknown.text).toBe(used.text);
    expect(outcomeOf(unknown)).toBe("401 session_ended");
    expect(outcomeOf(await service.ask("POST", "/api/auth/refresh", { json: {} }))).toBe("400 validation_failed");
  });

  it("with a used token is noticed also where the family's rate is used up: a thief cannot hide behind it", async () => {
    await using service = await openTestApp({ environment: { SERVICE_RATE_REFRESH: "2" } });
    const first = await addSession(service.deps);
    const stolen = await next(service, (await next(service, first.refreshToken)).refreshToken);
    expect(outcomeOf(await refresh(service, stolen.refreshToken))).toBe("429 rate_limited");
    expect(outcomeOf(await refresh(service, first.refreshToken))).toBe("401 session_ended");
    expect(await tryAccess(service, stolen.accessToken)).toBe(401);
    expect(await actionsOf(service, first.accountId)).toContain("session.reuse_detected");
  });

  it("is limited per family, and a refused one uses nothing up [D2-refresh]", async () => {
    await using service = await openTestApp({ environment: { SERVICE_RATE_REFRESH: "3" } });
    let { refreshToken } = await addSession(service.deps);
    const other = await addSession(service.deps);
    for (let time = 0; time < 3; time += 1) ({ refreshToken } = await next(service, refreshToken));
    expect(outcomeOf(await refresh(service, refreshToken))).toBe("429 rate_limited");
    await next(service, other.refreshToken);
    service.clock.advance(60_000);
    await next(service, refreshToken);
  });
});

describe("time and refresh tokens", () => {
  it("30 days to the millisecond, and a clock that is set back does not bring an expired one back [S3-refresh-ends S8-refresh-token S2.7-refresh-token S5.4-refresh-token]", async () => {
    const [one, two] = [await addSession(service.deps), await addSession(service.deps)];
    service.clock.advance(30 * DAY - 1);
    await next(service, one.refreshToken);
    service.clock.advance(1);
    expect(outcomeOf(await refresh(service, two.refreshToken))).toBe("401 session_ended");
    service.clock.advance(-DAY);
    expect(outcomeOf(await refresh(service, two.refreshToken))).toBe("401 session_ended");
    const actions = await actionsOf(service, two.accountId);
    expect(actions).toContain("session.ended");
    expect(actions).not.toContain("session.reuse_detected");
  });

  it("no refresh goes beyond 90 days from the sign-in, nor does an access token, and the answer says so [D3-session-end D3-refresh-near-end]", async () => {
    let { refreshToken } = await addSession(service.deps);
    for (let time = 0; time < 3; time += 1) {
      service.clock.advance(29 * DAY);
      const answer = await refresh(service, refreshToken);
      // On day 29, 58 and 87 of 90.
      expect(answer.body["refreshExpiresIn"]).toBe((time < 2 ? 30 : 3) * 86_400);
      ({ refreshToken } = tokensOf(answer));
    }
    service.clock.advance(3 * DAY - 60_000);
    const late = await refresh(service, refreshToken);
    expect(late.body).toMatchObject({ expiresIn: 60, refreshExpiresIn: 60 });
    service.clock.advance(60_000 - 1);
    expect(await tryAccess(service, tokensOf(late).accessToken)).toBe(200);
    const last = await next(service, tokensOf(late).refreshToken);
    service.clock.advance(1);
    expect(await tryAccess(service, last.accessToken)).toBe(401);
    expect(outcomeOf(await refresh(service, last.refreshToken))).toBe("401 session_ended");
  });

  it("a used token stays used, and an ended family ended, when the clock is set back", async () => {
    const first = await addSession(service.deps);
    const newest = await next(service, first.refreshToken);
    service.clock.advance(-10 * DAY);
    expect(outcomeOf(await refresh(service, first.refreshToken))).toBe("401 session_ended");
    expect(outcomeOf(await refresh(service, newest.refreshToken))).toBe("401 session_ended");
    service.clock.advance(20 * DAY);
    expect(outcomeOf(await refresh(service, newest.refreshToken))).toBe("401 session_ended");
  });
});
