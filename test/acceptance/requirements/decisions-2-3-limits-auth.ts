import { built, pending, section } from "../requirement.ts";

export const decisionsLimitsAndAuth = [
  ...section("decisions §2", [
    pending(
      "identity",
      "D2-mail-operations",
      "forgot-password, resend-verification: 5 / 15 min per IP, silently 3 / h per address.",
    ),
    pending(
      "identity",
      "D2-login",
      "login: 10 / min per IP; 5 failures per account, then a delay of 1…60 s, no lock-out.",
    ),
    pending("identity", "D2-signup", "signup, check-access-code, invite redeem: 10 / min per IP."),
    pending("identity", "D2-refresh", "refresh: 30 / min per family."),
    pending("identity", "D2-general", "API key or session: 6,000 / min, burst 1,000."),
    pending("webhooks", "D2-webhook-test", "webhook test: 10 / min per endpoint."),
    built("D2-json-body", "A JSON body is at most 1 MiB."),
    built("D2-file-sizes", "A raw upload is at most 5 GiB, a tus upload 50 GiB."),
    built("D2-plans", "Plan free: file 100 MiB, account 10 GiB; pro: 5 GiB / 1 TiB."),
    built("D2-dev-plan", "dev-signup accounts have plan pro."),
    built("D2-environment", "Limits are configured by environment."),
    pending("webhooks", "D2-webhook-endpoints", "At most 20 webhook endpoints an account."),
    built("D2-api-keys", "At most 100 API keys an account."),
    pending("invites", "D2-live-invites", "At most 100 live invites an account."),
    built("D2-vaults", "At most 1,000 vaults an account."),
    built("D2-folder-depth", "Folders nest at most 32 deep."),
    built("D2-names", "A name is at most 255 bytes of UTF-8 in NFC."),
  ]),
  ...section("decisions §3", [
    pending(
      "identity",
      "D3-signup",
      "POST /api/auth/signup answers 201 { user, accessToken, refreshToken, expiresIn: 900 }.",
    ),
    pending("identity", "D3-login", "POST /api/auth/login answers 200 with the same."),
    pending("identity", "D3-refresh", "POST /api/auth/refresh answers 200 with new tokens, 401 on reuse or expiry."),
    pending("identity", "D3-logout", "POST /api/auth/logout is 204 and revokes the family."),
    pending("identity", "D3-sessions", "GET and DELETE /api/auth/sessions list and end sessions."),
    pending("identity", "D3-change-password", "POST /api/auth/change-password is 204 and revokes other families."),
    pending(
      "identity",
      "D3-forgot-password",
      "forgot-password answers 200 { message } always, in the same latency class.",
    ),
    pending(
      "identity",
      "D3-reset-password",
      "reset-password: 400 for a bad token, revokes all families, 1 h, single use.",
    ),
    pending("identity", "D3-verify-email", "verify-email: token 24 h, single use."),
    pending("identity", "D3-check-access-code", "check-access-code answers 200 { valid } and does not consume."),
    pending("identity", "D3-idp-url", "GET idp answers { url, state } with PKCE S256, state and nonce kept 10 min."),
    pending(
      "identity",
      "D3-idp-access-code",
      "?accessCode= is kept with the state and needed when the callback would create a user (403 before any row).",
    ),
    pending("identity", "D3-zklogin-nonce", "zklogin takes the client's nonce, recomputed at the callback."),
    pending(
      "identity",
      "D3-idp-callback",
      "POST idp/callback, zklogin-auth: 200 tokens; zklogin adds { chainAddress, salt }.",
    ),
    pending(
      "identity",
      "D3-two-step",
      "zklogin-token and zklogin-auth are served bare and under /api/auth, one handler tells the forms apart.",
    ),
    pending("identity", "D3-passwords", "Passwords: 15 to 256 characters, no composition rules, common list refused."),
    pending(
      "identity",
      "D3-access-codes",
      "Access codes are single use unless made with a count, by an operator command.",
    ),
    built("D3-account-update", "PATCH /api/account { name? }."),
    pending(
      "identity",
      "D3-jwt-claims",
      "JWT claims sub, sid, iat, exp, jti, typ; kid for rotation; sid checked on each request.",
    ),
  ]),
];
