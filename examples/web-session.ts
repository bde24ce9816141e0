/**
 * A person signs up with an access code and works in a web session that renews itself, shared by two pages, until
 * they sign out.
 * Run it: `npm run example -- web-session`, or copy it into a project of yours. The program checks each claim and
 * ends with 1 at the first that does not hold.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import {
  createClient,
  SdkError,
  Secret,
  sessionCredentials,
  type SessionEndedError,
  type Middleware,
  type StoredSession,
} from "@coffer/sdk";
import { resolveSettings } from "@coffer/sdk/node";

// The operator makes the access code: `npm run server -- access-codes create`.
const { ACCESS_CODE: accessCode } = process.env;
const { baseUrl: address } = await resolveSettings();
if (address === null || accessCode === undefined) throw new Error("Set SERVICE_BASE_URL and ACCESS_CODE.");
const baseUrl: string = address;
const email = `${randomUUID()}@example.com`;
const password = `${randomUUID()} ${randomUUID()}`;

const visitor = createClient({ baseUrl });
claim("the code can be used", await visitor.auth.checkAccessCode(accessCode));
const signedIn = await visitor.auth.signup({ email, password, accessCode });
claim("and is used up by the sign-up", !(await visitor.auth.checkAccessCode(accessCode)));

// A web application keeps this in its storage; here it is a variable. Two pages share it under one lock.
let kept: StoredSession = {
  refreshToken: new Secret(signedIn.refreshToken),
  // The state after a night: the access token has ended, the refresh token has not.
  accessToken: null,
  expiresAt: null,
  presented: false,
};
let turns: Promise<unknown> = Promise.resolve();
const ended: SessionEndedError[] = [];
const refreshes: string[] = [];
const [page, otherPage] = [openPage(), openPage()];

const answers = await Promise.all(
  [page, otherPage].flatMap((each) => Array.from({ length: 20 }, () => each.account.get())),
);
claim(
  "forty calls of two pages succeed",
  answers.every(({ account }) => account.email === email),
);
claim("and needed one refresh between them", refreshes.length === 1);
claim("a session's rights are the owner's", answers[0]?.credential.kind === "session");
claim("no token shows in a log", !/eyJ|[\w-]{43}/.test(JSON.stringify(kept)));

const { sessions } = await page.sessions.list();
claim("the session is listed, as this one", sessions.length === 1 && sessions[0]?.current === true);

await page.auth.logout();
claim("the next call after signing out asks for a new sign-in", (await endOf(page.vaults.list())) === "Sign in again.");
claim("on the other page, too", (await endOf(otherPage.vaults.list())) === "Sign in again.");
claim("which learns it once", ended.length === 1);

const again = await visitor.auth.login({ email, password });
const next = createClient({ baseUrl, credentials: sessionCredentials(again) });
claim("signing in begins another session", (await next.account.get()).account.id === signedIn.user.id);
console.log("every claim holds");

function openPage() {
  const count: Middleware = (request, send, { endpointId }) => {
    if (endpointId === "auth.refresh") refreshes.push(endpointId);
    return send(request);
  };
  const load = () => Promise.resolve(kept);
  const save = (session: StoredSession) => Promise.resolve(void (kept = session));
  const credentials = sessionCredentials({
    refreshToken: signedIn.refreshToken,
    store: { load, save },
    lock,
    onEnded: (error: SessionEndedError) => ended.push(error),
  });
  return createClient({ baseUrl, credentials, middleware: [count] });
}

/** One page at a time. A browser has Web Locks for it, which a session with a store uses by itself. */
function lock<Value>(work: () => Promise<Value>): Promise<Value> {
  const mine = turns.then(work);
  turns = mine.catch(() => undefined);
  return mine;
}

/** What the page shows when the session has ended; null when it has not. */
async function endOf(call: PromiseLike<unknown>): Promise<string | null> {
  try {
    await call;
    return null;
  } catch (error) {
    if (error instanceof SdkError && error.code === "session_ended") return error.nextStep;
    throw error;
  }
}

function claim(sentence: string, holds: boolean): void {
  assert.ok(holds, sentence);
  console.log(`ok  ${sentence}`);
}
