import fc from "fast-check";
import { expect, it } from "vitest";
import { openTestApp, type TestApp } from "../../app.test-kit.ts";
import { refresh, tryAccess } from "../auth/accounts.test-kit.ts";
import { expireIdentity } from "../../jobs/identity-expiry.ts";
import { addAccount, addSession } from "./sessions.test-kit.ts";

const RUNS = process.env["COFFER_TEST_COUNTS"] === "full" ? 400 : 60;
const MINUTE = 60_000;
const DAY = 86_400_000;

interface Token {
  readonly text: string;
  readonly expiresAt: number;
  used: boolean;
}

/** What must be true of a session, kept beside the service. */
interface Life {
  readonly tokens: Token[];
  readonly accessTokens: { readonly text: string; readonly iat: number; readonly exp: number; over: boolean }[];
  readonly endsAt: number;
  /** Once true, true for ever. */
  dead: boolean;
}

type Step =
  | { readonly kind: "sign in"; readonly at: number }
  | { readonly kind: "log out"; readonly at: number }
  | { readonly kind: "refresh" | "access"; readonly at: number; readonly token: number }
  | { readonly kind: "time"; readonly by: number };

const at = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("sign in" as const), at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("log out" as const), at }) },
  // Mostly the newest, sometimes any older one.
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("refresh" as const), at, token: fc.oneof(fc.constant(0), fc.nat(5)) }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("access" as const), at, token: fc.nat(2) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("time" as const),
      by: fc.constantFrom(1, 15 * MINUTE - 1, 15 * MINUTE, 13 * DAY, 30 * DAY, -1, -4_000, -2 * DAY),
    }),
  },
);

it(
  "whatever happens to sessions in whatever order, they live and die as the specification says [S3-refresh-rotated S3-refresh-reuse S3-refresh-ends]",
  { timeout: 600_000 },
  async () => {
    await using service = await openTestApp();
    const accountId = await addAccount(service.deps);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const lives = [await begin(service, accountId)];
        for (const one of steps) {
          if (one.kind === "time") service.clock.advance(one.by);
          else if (one.kind === "sign in") lives.push(await begin(service, accountId));
          else await act(service, lives[one.at % lives.length] as Life, one);
        }
        // What is dead stays dead, also after the clean-up and at an earlier time.
        await expireIdentity(service.deps, new AbortController().signal);
        service.clock.advance(-3 * DAY);
        for (const life of lives.filter(({ dead }) => dead)) await expectDead(service, life);
      }),
      { numRuns: RUNS },
    );
  },
);

async function begin(service: TestApp, accountId: string): Promise<Life> {
  const { refreshToken, accessToken } = await addSession(service.deps, accountId);
  const life: Life = { tokens: [], accessTokens: [], endsAt: service.clock.now() + 90 * DAY, dead: false };
  learn(service, life, refreshToken, accessToken);
  return life;
}

function learn(service: TestApp, life: Life, refreshToken: string, accessToken: string): void {
  const now = service.clock.now();
  life.tokens.unshift({ text: refreshToken, expiresAt: Math.min(now + 30 * DAY, life.endsAt), used: false });
  const iat = Math.floor(now / 1000);
  const exp = Math.min(iat + 900, Math.floor((life.tokens[0]?.expiresAt ?? 0) / 1000));
  life.accessTokens.unshift({ text: accessToken, iat, exp, over: false });
}

async function act(service: TestApp, life: Life, one: Exclude<Step, { kind: "time" | "sign in" }>): Promise<void> {
  const now = service.clock.now();
  const newest = life.tokens[0] as Token;
  if (one.kind === "log out") {
    const { status } = await service.ask("POST", "/api/auth/logout", { json: { refreshToken: newest.text } });
    expect(status).toBe(204);
    life.dead = true;
  } else if (one.kind === "access") {
    const token = life.accessTokens[one.token % life.accessTokens.length] as Life["accessTokens"][number];
    const early = token.iat * 1000 > now + 5_000;
    if (!early && now >= token.exp * 1000) token.over = true;
    const good = !early && !token.over && !life.dead && newest.expiresAt > now;
    expect(await tryAccess(service, token.text)).toBe(good ? 200 : 401);
  } else {
    const token = life.tokens[one.token % life.tokens.length] as Token;
    const good = !life.dead && !token.used && token.expiresAt > now;
    const answer = await refresh(service, token.text);
    expect(answer.status).toBe(good ? 200 : 401);
    if (!good) life.dead = true;
    else {
      token.used = true;
      learn(service, life, String(answer.body["refreshToken"]), String(answer.body["accessToken"]));
    }
  }
}

async function expectDead(service: TestApp, { tokens, accessTokens }: Life): Promise<void> {
  for (const { text } of accessTokens) expect(await tryAccess(service, text)).toBe(401);
  for (const { text } of tokens) expect((await refresh(service, text)).status).toBe(401);
}
