import { describe, expect, it } from "vitest";
import { openTestApp, type TestApp } from "../../app.test-kit.ts";
import { actionsOf, openAgain, outcomeOf, refresh, tryAccess } from "../auth/accounts.test-kit.ts";
import { logOut } from "./ending.ts";
import { addAccount, addSession, ORIGIN } from "./sessions.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestApp);

interface Listed {
  readonly id: string;
  readonly current: boolean;
  readonly method: string;
  readonly expiresAt: string;
  readonly lastUsedAt: string;
}

async function list(key: string, query = "") {
  const { status, body } = await service.ask("GET", `/api/auth/sessions${query}`, { key });
  expect(status).toBe(200);
  return body as { sessions: Listed[]; nextCursor: string | null };
}

const end = (key: string, id: string) => service.ask("DELETE", `/api/auth/sessions/${id}`, { key });

const logOutBy = (service: TestApp, refreshToken: string) =>
  service.ask("POST", "/api/auth/logout", { json: { refreshToken } });

describe("a log-out", () => {
  it("ends the session at once, by its newest token or a used one, and is 204 for any text [D3-logout S3-refresh-ends]", async () => {
    const first = await addSession(service.deps);
    const newest = (await refresh(service, first.refreshToken)).body;
    for (const refreshToken of [first.refreshToken, first.refreshToken, "nobody's", String(newest["refreshToken"])]) {
      expect((await logOutBy(service, refreshToken)).status).toBe(204);
    }
    expect(await tryAccess(service, first.accessToken)).toBe(401);
    expect(await tryAccess(service, String(newest["accessToken"]))).toBe(401);
    expect(outcomeOf(await refresh(service, String(newest["refreshToken"])))).toBe("401 session_ended");
    const actions = await actionsOf(service, first.accountId);
    expect(actions.filter((action) => action.startsWith("session."))).toEqual(["session.created", "session.ended"]);
  });

  it("with a token of nobody waits for no writer: who makes tokens up holds up nobody who writes", async () => {
    await service.app.ready();
    await using another = await openAgain(service);
    await another.transaction(async () => {
      expect((await logOutBy(service, "nobody's")).status).toBe(204);
    });
  });

  it("holds on the next request when another process did it, also for tokens seen before [D3-jwt-session]", async () => {
    const { accessToken, refreshToken } = await addSession(service.deps);
    for (let time = 0; time < 3; time += 1) expect(await tryAccess(service, accessToken)).toBe(200);
    await using database = await openAgain(service);
    await logOut({ ...service.deps, database }, refreshToken, ORIGIN);
    expect(await tryAccess(service, accessToken)).toBe(401);
  });

  it("does not come undone when the clock is set back", async () => {
    const { accessToken, refreshToken } = await addSession(service.deps);
    service.clock.advance(4_000);
    await logOutBy(service, refreshToken);
    service.clock.advance(-4_000);
    expect(await tryAccess(service, accessToken)).toBe(401);
  });

  it("cuts a download that is running [D4-in-flight-cut]", async () => {
    await using service = await openTestApp({
      replace: ({ settings }) => ({ settings: { ...settings, timing: { ...settings.timing, recheck: 10 } } }),
    });
    const { accessToken, refreshToken } = await addSession(service.deps);
    const uploaded = await service.ask("POST", "/api/files?name=long.bin", {
      key: accessToken,
      headers: { "content-type": "application/octet-stream" },
      payload: "x".repeat(48 * 1024 * 1024),
    });
    const { id } = uploaded.body["file"] as { id: string };
    const cut = new Promise((resolve) => {
      service.app.server.once("connection", (socket) => socket.once("close", resolve));
    });
    const origin = await service.app.listen({ host: "127.0.0.1", port: 0 });
    const headers = { authorization: `Bearer ${accessToken}`, connection: "close" };
    const answer = await fetch(`${origin}/api/files/${id}/content`, { headers });
    expect(answer.status).toBe(200);
    // Nothing is read until the server has cut it: what is on its way fits in no buffer.
    expect((await logOutBy(service, refreshToken)).status).toBe(204);
    await cut;
    await expect(answer.arrayBuffer()).rejects.toThrow();
    // The log says why it was cut, and of no fault.
    expect(service.logged()).toMatch(/"event":"cut",[^\n]*"endpoint":"files.content","errorCode":"invalid_credential"/);
    expect(service.logged()).not.toContain('"fault"');
  });
});

describe("the list of sessions", () => {
  it("holds the live ones, newest first, and marks the caller's [D3-sessions]", async () => {
    const accountId = await addAccount(service.deps);
    const [old, middle, newest] = [
      await addSession(service.deps, accountId),
      (service.clock.advance(1_000), await addSession(service.deps, accountId)),
      (service.clock.advance(1_000), await addSession(service.deps, accountId)),
    ];
    await addSession(service.deps);
    const { sessions, nextCursor } = await list(middle.accessToken);
    expect(sessions.map(({ id, current }) => [id, current])).toEqual([
      [newest.sessionId, false],
      [middle.sessionId, true],
      [old.sessionId, false],
    ]);
    expect(sessions[0]).toMatchObject({ method: "password", userAgent: "test" });
    expect(nextCursor).toBeNull();
    await end(middle.accessToken, old.sessionId);
    expect((await list(middle.accessToken)).sessions).toHaveLength(2);
  });

  it("says when each was used and how long it lasts, and forgets it when that time has come", async () => {
    const accountId = await addAccount(service.deps);
    const first = await addSession(service.deps, accountId);
    const day = 86_400_000;
    service.clock.advance(20 * day);
    const used = await refresh(service, first.refreshToken);
    const { sessions } = await list(String(used.body["accessToken"]));
    const now = service.clock.now();
    expect(sessions).toMatchObject([
      { lastUsedAt: new Date(now).toISOString(), expiresAt: new Date(now + 30 * day).toISOString() },
    ]);
    service.clock.advance(30 * day - 1);
    const second = await addSession(service.deps, accountId);
    expect((await list(second.accessToken)).sessions).toHaveLength(2);
    service.clock.advance(1);
    expect((await list(second.accessToken)).sessions.map(({ id }) => id)).toEqual([second.sessionId]);
  });

  it("comes in pages", async () => {
    const accountId = await addAccount(service.deps);
    const made = [];
    for (let number = 0; number < 5; number += 1) made.push(await addSession(service.deps, accountId));
    const key = made[0]?.accessToken ?? "";
    const seen: string[] = [];
    let cursor = "";
    for (let page = 0; page < 3; page += 1) {
      const { sessions, nextCursor } = await list(key, `?limit=2${cursor}`);
      seen.push(...sessions.map(({ id }) => id));
      cursor = nextCursor === null ? "" : `&cursor=${nextCursor}`;
    }
    expect(cursor).toBe("");
    expect(seen.toSorted()).toEqual(made.map(({ sessionId }) => sessionId).toSorted());
  });
});

describe("ending a session by its id", () => {
  it("holds at once; a second time is 204 and changes nothing [D3-sessions D1-second-delete-kept-more]", async () => {
    const mine = await addSession(service.deps);
    const other = await addSession(service.deps, mine.accountId);
    expect((await end(mine.accessToken, other.sessionId)).status).toBe(204);
    expect(await tryAccess(service, other.accessToken)).toBe(401);
    expect(outcomeOf(await refresh(service, other.refreshToken))).toBe("401 session_ended");
    const actions = await actionsOf(service, mine.accountId);
    expect((await end(mine.accessToken, other.sessionId)).status).toBe(204);
    expect(await actionsOf(service, mine.accountId)).toEqual(actions);
    // The caller's own: the next request is refused.
    expect((await end(mine.accessToken, mine.sessionId)).status).toBe(204);
    expect(await tryAccess(service, mine.accessToken)).toBe(401);
  });

  it("of another account, or of nobody, is 404 and ends nothing [D1-foreign-object-404]", async () => {
    const [mine, theirs] = [await addSession(service.deps), await addSession(service.deps)];
    const answers = [
      await end(mine.accessToken, theirs.sessionId),
      await end(mine.accessToken, service.deps.random.uuid()),
    ];
    expect(answers.map(outcomeOf)).toEqual(["404 not_found", "404 not_found"]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
    expect(await tryAccess(service, theirs.accessToken)).toBe(200);
  });
});
