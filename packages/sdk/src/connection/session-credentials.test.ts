import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createClient, type Client } from "../client.ts";
import { SessionEndedError } from "../http/errors.ts";
import { Secret } from "../http/secret.ts";
import { VirtualClock } from "../http/transport.test-kit.ts";
import type { Transport } from "../http/transports.ts";
import { sessionCredentials, type SessionCredentials } from "./session-credentials.ts";
import type { SessionOptions, StoredSession } from "./web-session.ts";
import { openSessionService, type SessionService } from "./session-service.test-kit.ts";

const BASE_URL = "http://coffer.test";
const ACCESS_MS = 900_000;

interface Setting {
  readonly service: SessionService;
  readonly clock: VirtualClock;
  /** Path of every request in order. */
  readonly sent: string[];
  readonly tokens: { readonly accessToken: string; readonly refreshToken: string; readonly expiresIn: number };
  /** Lets time pass, for client and service. */
  readonly pass: (ms: number) => void;
  readonly connect: (session: SessionCredentials, transport?: Transport) => Client;
  readonly session: (more?: Partial<SessionOptions>) => SessionCredentials;
}

/** `skewMs`: how far the service's clock is ahead of the client's. */
async function signedIn(skewMs = 0): Promise<Setting> {
  const clock = new VirtualClock();
  let passed = 0;
  const service = await openSessionService(() => Date.now() + skewMs + passed);
  const sent: string[] = [];
  const send: Transport = (request) => {
    sent.push(new URL(request.url).pathname);
    return service.fetch(request);
  };
  const tokens = service.signIn();
  const tick = clock.now.bind(clock);
  clock.now = () => tick() + passed;
  return {
    service,
    clock,
    sent,
    tokens,
    pass: (ms) => (passed += ms),
    connect: (credentials, transport = send) => createClient({ baseUrl: BASE_URL, credentials, transport, clock }),
    session: (more) => sessionCredentials({ ...tokens, ...more }),
  };
}

const refreshes = (sent: readonly string[]): number => sent.filter((path) => path === "/api/auth/refresh").length;

describe("a session renews itself [D3-refresh]", () => {
  it.each([
    ["its end is known", {}],
    ["only the service knows that it is over", { expiresIn: undefined }],
  ])("once for 100 calls at the same time, when %s", async (_name, more) => {
    const { pass, connect, session, sent } = await signedIn();
    const client = connect(session(more));
    await client.account.get();
    pass(ACCESS_MS + 1);
    const answers = await Promise.all(Array.from({ length: 100 }, () => client.account.get()));
    expect(new Set(answers.map(({ credential }) => credential.kind))).toEqual(new Set(["session"]));
    expect(refreshes(sent)).toBe(1);
    await client.account.get();
    expect(refreshes(sent)).toBe(1);
  });

  it.each([0, 86_400_000, -86_400_000])(
    "shortly before the end, with a service whose clock is %i ms off",
    async (skew) => {
      const { pass, connect, session, sent } = await signedIn(skew);
      const client = connect(session());
      await client.account.get();
      pass(ACCESS_MS - 31_000);
      await client.account.get();
      expect(refreshes(sent)).toBe(0);
      pass(2_000);
      await client.account.get();
      expect(sent.slice(-2)).toEqual(["/api/auth/refresh", "/api/account"]);
      pass(ACCESS_MS - 31_000);
      await client.account.get();
      expect(refreshes(sent)).toBe(1);
    },
  );

  it("uses a pair only when it was taken, and offers it again", async () => {
    const { pass, connect, session, sent } = await signedIn();
    const kept: StoredSession[] = [];
    let full = true;
    const onRotated = (pair: StoredSession): void => {
      if (full) throw new Error(`disk full, could not write ${pair.refreshToken.reveal()}`);
      expect(sent.at(-1)).toBe("/api/auth/refresh");
      kept.push(pair);
    };
    const client = connect(session({ onRotated, accessToken: null }));
    pass(ACCESS_MS);
    const error: unknown = await client.account.get().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "configuration" });
    expect(inspect(error, { depth: 9 })).not.toMatch(/could not write [^[]/);
    expect(sent).toEqual(["/api/auth/refresh"]);
    full = false;
    await client.account.get();
    expect([sent, kept.length]).toEqual([["/api/auth/refresh", "/api/account"], 1]);
  });
});

describe("a refresh token is sent once", () => {
  /** Breaks the connection after the service has done the work. */
  const losing =
    ({ service, sent }: Setting): Transport =>
    async (request) => {
      const { pathname } = new URL(request.url);
      sent.push(pathname);
      const answer = await service.fetch(request);
      if (pathname === "/api/auth/refresh") throw new TypeError("fetch failed: socket hang up");
      return answer;
    };

  it("and the session has ended when the answer is lost", async () => {
    const setting = await signedIn();
    const ended: SessionEndedError[] = [];
    const session = setting.session({ onEnded: (error) => ended.push(error) });
    const client = setting.connect(session, losing(setting));
    setting.pass(ACCESS_MS);
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => client.account.get()));
    expect(results.map((result) => (result.status === "rejected" ? result.reason : null))).toEqual(
      results.map(() => expect.any(SessionEndedError)),
    );
    const again: unknown = await client.account.get().catch((reason: unknown) => reason);
    expect(again).toMatchObject({ code: "session_ended", reason: "answer_lost", nextStep: "Sign in again." });
    expect(refreshes(setting.sent)).toBe(1);
    expect(ended).toHaveLength(1);
  });

  it("but a service that cannot be reached has not seen it", async () => {
    const setting = await signedIn();
    let attempts = 0;
    const client = setting.connect(setting.session(), (request) => {
      attempts += 1;
      const cause = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
      if (attempts < 3) throw new TypeError("fetch failed", { cause });
      return setting.service.fetch(request);
    });
    setting.pass(ACCESS_MS);
    expect((await client.account.get()).credential.kind).toBe("session");
    expect(setting.service.ended()).toEqual([false]);
  });

  it("and what the service refuses is the end, told once", async () => {
    const { pass, connect, session, sent, tokens, service } = await signedIn();
    const ended: string[] = [];
    const client = connect(session({ onEnded: ({ reason }) => ended.push(reason), accessToken: null }));
    await createClient({ baseUrl: BASE_URL, transport: service.fetch }).auth.refresh(tokens.refreshToken);
    pass(ACCESS_MS);
    await expect(client.account.get()).rejects.toMatchObject({ code: "session_ended", reason: "refused" });
    await expect(client.vaults.list()).rejects.toBeInstanceOf(SessionEndedError);
    expect([sent, ended]).toEqual([["/api/auth/refresh"], ["refused"]]);
  });
});

describe("a session that several share", () => {
  /** A place to keep a session in, with a lock, as pages of one origin or processes have it. */
  function place(first: StoredSession) {
    let kept = first;
    let last: Promise<unknown> = Promise.resolve();
    const lock = <Value>(work: () => Promise<Value>): Promise<Value> => {
      const mine = last.then(work);
      last = mine.catch(() => undefined);
      return mine;
    };
    const load = (): Promise<StoredSession> => Promise.resolve(kept);
    const save = (session: StoredSession): Promise<void> => Promise.resolve(void (kept = session));
    return { lock, store: { load, save }, read: () => kept };
  }

  async function shared() {
    const setting = await signedIn();
    const { refreshToken } = sessionTokens(setting);
    const kept = place({ refreshToken, accessToken: null, expiresAt: null, presented: false });
    const open = () => setting.connect(setting.session({ ...kept, accessToken: null }));
    return { ...setting, kept, open };
  }

  it("is refreshed when the token that is kept is the one that was refused, read anew as it may be", async () => {
    const { service, sent, tokens, connect, session } = await signedIn();
    const keep = { refreshToken: tokens.refreshToken, accessToken: tokens.accessToken };
    const load = (): Promise<StoredSession> =>
      Promise.resolve({
        refreshToken: new Secret(keep.refreshToken),
        accessToken: new Secret(keep.accessToken),
        expiresAt: Date.now() + ACCESS_MS,
        presented: false,
      });
    const save = ({ refreshToken, accessToken }: StoredSession): Promise<void> => {
      Object.assign(keep, { refreshToken: refreshToken.reveal(), accessToken: accessToken?.reveal() });
      return Promise.resolve();
    };
    const client = connect(session({ store: { load, save }, lock: (work) => work() }));
    service.forget(tokens.accessToken);
    expect((await client.account.get()).credential.kind).toBe("session");
    expect(sent).toEqual(["/api/account", "/api/auth/refresh", "/api/account"]);
    expect(keep.accessToken).not.toBe(tokens.accessToken);
  });

  it("counts on no more than an access token's life, whatever the clock said that wrote its end down", async () => {
    const { sent, tokens, pass, connect, session } = await signedIn();
    const secrets = { refreshToken: new Secret(tokens.refreshToken), accessToken: new Secret(tokens.accessToken) };
    const kept = place({ ...secrets, expiresAt: Date.now() + 10 * ACCESS_MS, presented: false });
    const client = connect(session({ ...kept, accessToken: null }));
    await client.account.get();
    pass(ACCESS_MS);
    await client.account.get();
    expect(sent).toEqual(["/api/account", "/api/auth/refresh", "/api/account"]);
  });

  it("is refreshed once, whoever comes first", async () => {
    const { open, sent } = await shared();
    const [one, two] = [open(), open()];
    await Promise.all([one, two].flatMap((client) => Array.from({ length: 50 }, () => client.account.get())));
    expect(refreshes(sent)).toBe(1);
  });

  it("goes on with what another has put there, over several rounds", async () => {
    const { open, sent, pass } = await shared();
    const [one, two] = [open(), open()];
    await one.account.get();
    pass(ACCESS_MS);
    await two.account.get();
    pass(ACCESS_MS);
    await one.account.get();
    await two.account.get();
    expect(refreshes(sent)).toBe(3);
  });

  it("has ended for all when one died between sending and keeping", async () => {
    const { open, sent, kept } = await shared();
    await kept.store.save({ ...kept.read(), presented: true });
    await expect(open().account.get()).rejects.toMatchObject({ reason: "answer_lost" });
    expect(sent).toEqual([]);
  });

  it("whose place cannot be read sends nothing, and says whose fault it is", async () => {
    const { connect, session, sent } = await signedIn();
    const store = { load: () => Promise.reject(new Error("quota")), save: () => Promise.resolve() };
    const client = connect(session({ store, accessToken: null, lock: (work) => work() }));
    await expect(client.account.get()).rejects.toMatchObject({ code: "configuration", retryable: false });
    expect(sent).toEqual([]);
  });

  it("takes up a sign-in that somebody made elsewhere", async () => {
    const { open, kept, service } = await shared();
    await kept.store.save({ ...kept.read(), presented: true });
    const client = open();
    await expect(client.account.get()).rejects.toBeInstanceOf(SessionEndedError);
    const next = sessionTokens({ tokens: service.signIn() });
    await kept.store.save({ ...next, accessToken: null, expiresAt: null, presented: false });
    expect((await client.account.get()).credential.kind).toBe("session");
  });
});

function sessionTokens({ tokens }: Pick<Setting, "tokens">): Pick<StoredSession, "refreshToken"> {
  return { refreshToken: new Secret(tokens.refreshToken) };
}

it("ends at sign-out, here and at the service", async () => {
  const { connect, session, tokens, service } = await signedIn();
  const client = connect(session());
  await client.auth.logout();
  await expect(client.account.get()).rejects.toMatchObject({ code: "session_ended", reason: "signed_out" });
  const visitor = createClient({ baseUrl: BASE_URL, transport: service.fetch });
  await expect(visitor.auth.refresh(tokens.refreshToken)).rejects.toMatchObject({ code: "session_ended" });
  await expect(visitor.auth.logout()).rejects.toMatchObject({ code: "configuration" });
});

it("never repeats by itself what uses up a token or a code", async () => {
  const { tokens } = await signedIn();
  for (const call of [
    (client: Client) => client.auth.refresh(tokens.refreshToken),
    (client: Client) => client.auth.verifyEmail("a-token"),
    (client: Client) => client.identityProvider.callback({ code: "c", state: "s" }),
  ]) {
    let attempts = 0;
    const transport: Transport = () => {
      attempts += 1;
      return Promise.reject(new TypeError("socket hang up"));
    };
    const client = createClient({ baseUrl: BASE_URL, transport, clock: new VirtualClock() });
    await expect(call(client)).rejects.toMatchObject({ code: "connection_failed" });
    expect(attempts).toBe(1);
  }
});
