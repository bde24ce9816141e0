import { builtObservable, pendingObservable, sharedObservable, type Journey } from "../observable.ts";

const removed: Journey = {
  name: "J10",
  title: "Member removed (the cascade)",
  observables: [
    pendingObservable("cli", "J10-report", "cli", "agents revoke prints what became of each layer"),
    sharedObservable(
      "J10-sdk-report",
      "sdk",
      "agents.revoke reports: key revoked, removed on chain, generation n→n+1 [D0-revoke-agent]",
    ),
    sharedObservable("J10-webhook", "webhook", "vault.member_removed arrives at the sink"),
    sharedObservable(
      "J10-warm-given",
      "sdk",
      "given the bytes of an old file, a warm client still opens it: what a removal does not end",
    ),
    sharedObservable(
      "J10-fresh-client",
      "sdk",
      "a fresh key-server client's key request is refused [D0-chain-sui S1-allowlist]",
    ),
    sharedObservable(
      "J10-warm-new",
      "sdk",
      "a warm client cannot decrypt what was uploaded after the removal: not with a new key, not given the bytes",
    ),
    sharedObservable("J10-warm-old", "api", "old files: the service answers 403 to it at once, with a new key too"),
    pendingObservable("cli", "J10-still-has", "cli", "what it had downloaded it still has; the command says so"),
    sharedObservable("J10-others-read", "sdk", "owner and remaining members read everything"),
    pendingObservable("cli", "J10-killed", "cli", "killed between chain step and key step, a re-run finishes"),
    sharedObservable("J10-sdk-killed", "sdk", "cut off between the chain and the service, a re-run finishes"),
    sharedObservable("J10-reader-loop", "sdk", "no file is unreadable for remaining members at any moment"),
  ],
};

const session: Journey = {
  name: "J11",
  title: "Web session",
  observables: [
    builtObservable("J11-jwt", "api", "sign-in answers an HS256 JWT with exp = +900 s"),
    builtObservable("J11-jwt-expired", "api", "at +901 s it is 401"),
    builtObservable("J11-refresh", "api", "refresh answers a new pair"),
    builtObservable("J11-reuse", "api", "the old refresh token again: the whole family is dead, the newest included"),
    builtObservable("J11-30-days", "api", "after 30 days it is 401"),
    builtObservable(
      "J11-forgot",
      "api",
      "forgot-password: identical body for a known and an unknown e-mail (their time is the benchmark's)",
    ),
    builtObservable("J11-forgot-limit", "api", "the per-IP limit answers 429 with Retry-After"),
    builtObservable("J11-single-use", "api", "reset and verify tokens are single-use"),
  ],
};

const development: Journey = {
  name: "J12",
  title: "Development headers",
  observables: [
    builtObservable("J12-user-id", "api", "X-Dev-User-Id acts as that user"),
    builtObservable("J12-idp-id", "api", "X-Dev-Idp-Id acts as the user with that identity-provider id"),
    builtObservable("J12-first-user", "api", "neither header acts as the first user"),
    builtObservable("J12-idp-signed-in", "api", "so it does for a user who signed in with the provider"),
    builtObservable("J12-production", "api", "in production the same headers are ignored: 401"),
  ],
};

const headless: Journey = {
  name: "J13",
  title: "Headless / CI",
  observables: [
    pendingObservable(
      "cli",
      "J13-one-document",
      "cli",
      "upload dir --json prints exactly one JSON document, progress nowhere",
    ),
    pendingObservable("cli", "J13-partial", "cli", "1 of 10 files unreadable: exit 5, 9 uploaded, the summary says so"),
    pendingObservable("cli", "J13-repeat", "cli", "interrupted, then repeated: the rest only"),
    pendingObservable("cli", "J13-api-down", "cli", "API down: exit 8, no stack trace"),
    pendingObservable("cli", "J13-help", "cli", "every command with --help exits 0 offline"),
  ],
};

export const journeys10to13: readonly Journey[] = [removed, session, development, headless];
