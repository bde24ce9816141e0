/** J11: a web session, from the sign-in to its end. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { agedToken, DEVELOPMENT_JWT_KEY, readToken } from "../kit/access-token.ts";
import { assertError, freshEmail } from "../kit/account.ts";
import { operatorVariables, runSql } from "../kit/data-directory.ts";
import { send, type Answer } from "../kit/http.ts";
import { logIn, makeAccessCode, OTHER_PASSWORD, refresh, signUpWithCode, tokensIn } from "../kit/identity.ts";
import type { SignedUp, Tokens } from "../kit/identity.ts";
import { readMailedToken } from "../kit/outbox.ts";
import { productionSecrets } from "../kit/production.ts";
import { startServerProcess } from "../kit/server-process.ts";
import type { Stack } from "../kit/stack.ts";
import { signsInByCommand } from "./commands-session.ts";
import type { Checks, World } from "./run.ts";

export async function webSession(world: World): Promise<Checks> {
  const { stack, scratch } = world;
  const { baseUrl, dataDirectory } = stack;
  const user = await signUpWithCode(baseUrl, await makeAccessCode(await operatorVariables(dataDirectory)));
  const signedIn = await logIn(baseUrl, user.email);
  const ask = (key: string): Promise<Answer> => send(baseUrl, "/api/account", { key });
  const first = tokensIn(signedIn);
  let second: Tokens;
  return {
    "J11-jwt": async () => {
      assert.equal(signedIn.status, 200);
      const { header, claims } = readToken(first.accessToken);
      assert.equal(header["alg"], "HS256");
      assert.equal(Number(claims["exp"]) - Number(claims["iat"]), 900);
      assert.equal((await ask(first.accessToken)).status, 200);
    },
    "J11-jwt-expired": async () => {
      assertError(await ask(agedToken(first.accessToken, 901, DEVELOPMENT_JWT_KEY)), 401);
      assert.equal((await ask(agedToken(first.accessToken, 850, DEVELOPMENT_JWT_KEY))).status, 200);
    },
    "J11-refresh": async () => {
      const answer = await refresh(baseUrl, first.refreshToken);
      assert.equal(answer.status, 200);
      second = tokensIn(answer);
      assert.notEqual(second.refreshToken, first.refreshToken);
      assert.equal((await ask(second.accessToken)).status, 200);
    },
    "J11-reuse": async () => {
      assertError(await refresh(baseUrl, first.refreshToken), 401);
      assertError(await refresh(baseUrl, second.refreshToken), 401);
      assertError(await ask(second.accessToken), 401);
      assertError(await ask(first.accessToken), 401);
    },
    "J11-30-days": async () => {
      const { refreshToken } = tokensIn(await logIn(baseUrl, user.email));
      const hash = createHash("sha256").update(refreshToken).digest("hex");
      // Thirty days pass: the clock of a running stack cannot be moved, so its row is.
      const age = "UPDATE refresh_tokens SET expires_at = expires_at - ? WHERE hash = ?";
      await runSql(dataDirectory, age, 30 * 86_400_000, hash);
      assertError(await refresh(baseUrl, refreshToken), 401);
    },
    ...mailedTokens(stack, user),
    ...(await signsInByCommand(world)),
    "J11-forgot-limit": () => checkLimit(scratch),
  };
}

function mailedTokens({ baseUrl, dataDirectory }: Stack, user: SignedUp): Checks {
  const post = (path: string, body: object): Promise<Answer> =>
    send(baseUrl, `/api/auth/${path}`, { method: "POST", body });
  return {
    "J11-forgot": async () => {
      const known = await post("forgot-password", { email: user.email });
      const unknown = await post("forgot-password", { email: freshEmail() });
      assert.deepEqual([known.status, unknown.status], [200, 200]);
      assert.deepEqual(known.bytes, unknown.bytes);
    },
    "J11-single-use": async () => {
      const verification = await readMailedToken(dataDirectory, user.email, "verify");
      assert.equal((await post("verify-email", { token: verification })).status, 200);
      assertError(await post("verify-email", { token: verification }), 400);
      const body = { token: await readMailedToken(dataDirectory, user.email, "reset"), newPassword: OTHER_PASSWORD };
      assert.equal((await post("reset-password", body)).status, 200);
      assertError(await post("reset-password", body), 400);
      assert.equal((await logIn(baseUrl, user.email, OTHER_PASSWORD)).status, 200);
    },
  };
}

/** Development has no limits worth the name: this is production as it comes. */
async function checkLimit(scratch: string): Promise<void> {
  const variables = { ...productionSecrets(), SERVICE_DATA_DIR: join(scratch, "production") };
  await using server = await startServerProcess(variables);
  const ask = (): Promise<Answer> =>
    send(server.baseUrl, "/api/auth/forgot-password", { method: "POST", body: { email: freshEmail() } });
  for (let times = 0; times < 5; times += 1) assert.equal((await ask()).status, 200);
  const refused = await ask();
  assertError(refused, 429);
  assert.match(refused.headers.get("retry-after") ?? "", /^\d+$/);
}
