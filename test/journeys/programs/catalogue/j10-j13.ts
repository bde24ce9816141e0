import { journey, type Journey } from "../observable.ts";

const removed = journey("J10", "Member removed (the cascade)", [
  "J10-report cli (shared): agents revoke prints what became of each layer",
  "J10-sdk-report sdk (shared): agents.revoke reports: key revoked, removed on chain, generation n→n+1 [D0-revoke-agent C3 E3]",
  "J10-webhook webhook (shared): vault.member_removed arrives at the sink",
  "J10-warm-given sdk (shared): given the bytes of an old file, a warm client still opens it: what a removal does not end [R3 E2 E3]",
  "J10-fresh-client sdk (shared): a fresh key-server client's key request is refused [D0-chain-sui S1-allowlist W4 W5 R2 R4]",
  "J10-warm-new sdk (shared): a warm client cannot decrypt what was uploaded after the removal: not with a new key, not given the bytes [R2 E2]",
  "J10-warm-old api (shared): old files: the service answers 403 to it at once, with a new key too [R1]",
  "J10-still-has cli (shared): what it had downloaded it still has; the command says so",
  "J10-others-read sdk (shared): owner and remaining members read everything [W0 W1 M1]",
  "J10-tools mcp (shared): access_revoke ends key and membership; the agent's tools are signed out, and with a new key refused as no member",
  "J10-killed cli (shared): killed between chain step and key step, a re-run finishes",
  "J10-sdk-killed sdk (shared): cut off between the chain and the service, a re-run finishes [E9]",
  "J10-reader-loop sdk (shared): no file is unreadable for remaining members at any moment [E9]",
]);

const session = journey("J11", "Web session", [
  "J11-jwt api: sign-in answers an HS256 JWT with exp = +900 s",
  "J11-jwt-expired api: at +901 s it is 401",
  "J11-refresh api: refresh answers a new pair",
  "J11-reuse api: the old refresh token again: the whole family is dead, the newest included",
  "J11-30-days api: after 30 days it is 401",
  "J11-forgot api: forgot-password: identical body for a known and an unknown e-mail (their time is compared in test/security/attack/sign-in-timing.test.ts)",
  "J11-forgot-limit api: the per-IP limit answers 429 with Retry-After",
  "J11-single-use api: reset and verify tokens are single-use",
  "J11-cli cli: login keeps a session that renews itself; once its token was used twice, and after logout, the exit code is 4",
  "J11-cli-mailed cli: email verify and password reset take the token of a mail, once, and show neither token nor password",
]);

const development = journey("J12", "Development headers", [
  "J12-user-id api: X-Dev-User-Id acts as that user",
  "J12-idp-id api: X-Dev-Idp-Id acts as the user with that identity-provider id",
  "J12-first-user api: neither header acts as the first user",
  "J12-idp-signed-in api: so it does for a user who signed in with the provider",
  "J12-production api: in production the same headers are ignored: 401",
]);

const headless = journey("J13", "Headless / CI", [
  "J13-one-document cli: upload dir --json prints exactly one JSON document, progress nowhere",
  "J13-partial cli: 1 of 10 files unreadable: exit 5, 9 uploaded, the summary says so",
  "J13-repeat cli: interrupted, then repeated: the rest only",
  "J13-api-down cli: API down: exit 8, no stack trace",
  "J13-help cli: every command with --help exits 0 offline",
]);

export const journeys10to13: readonly Journey[] = [removed, session, development, headless];
