import { section } from "../requirement.ts";

const KEYS = [
  "D4-keys-create: POST /api/auth/api-keys { name, scopes?, vaultIds?, expiresInDays? (above 0, up to 3650) } answers 201 with the flat key.",
  "D4-expiry-fraction: expiresInDays is a number: a key of half a day lives twelve hours.",
  "D4-keys-create-chain: A chain address other than the account's linked one needs its proof of possession.",
  "D4-keys-list: GET /api/auth/api-keys answers { apiKeys: [{ id, name, prefix, last4, … }] }.",
  "D4-keys-get: GET /api/auth/api-keys/{keyId} answers { apiKey }.",
  "D4-keys-revoke: DELETE /api/auth/api-keys/{keyId} is 204, sets revoked_at and keeps the row.",
  "D4-keys-rotate: POST …/rotate { overlapHours? 0–168, default 0 } answers 201: a new id, the same rights, owner only.",
  "D4-key-text: A key is the prefix, 43 base62 digits (256 bit) and 6 base62 digits of CRC32.",
  "D4-key-legacy: The legacy prefix is accepted without a checksum.",
  "D4-key-scanning: A scanning regex is published.",
  "D4-scopes: The eighteen scopes are these.",
  "D4-scope-free: GET account and GET vaults need no scope.",
  "D4-scopes-absent: Absent scopes mean everything the access level allows.",
  "D4-effective-rights: Effective rights are matrix ∩ scopes ∩ vaultIds.",
  "D4-no-wider-key: A key can never mint a wider key (vaults, scopes, expiry).",
  "D4-vault-limited-key: A key limited to vaults creates and lists no others.",
  "D4-invite-owner-scope: An invite that asks for an owner-only scope is 400.",
  "D4-invite-no-wider: Nor can it mint a wider invite.",
];

const LATER = [
  "D4-key-budgets: An API key takes budgets.",
  "D4-invite-budgets: An invite takes budgets for its key.",
  "D4-access-until: accessUntil of an invite: when its key, and a membership made by it, end.",
];

const LEVELS = [
  "D4-owner-only-key-list: The key list is owner only.",
  "D4-owner-only-permanent: Permanent delete is owner only.",
  "D4-owner-only-invites: Invites are owner only.",
  "D4-owner-only-audit: The audit log is owner only.",
  "D4-owner-only-feed: The event feed shows agents, and keys with a limit, only what lies in their vaults.",
  "D4-owner-only-sessions: link-chain and sessions are owner only.",
  "D4-owner-only-members: Member changes are owner only; owner and agent see the member list.",
  "D4-restore-both: Restore from the trash: owner and agent.",
  "D4-level-owner: A key without a chain address, or with the owner's, is owner.",
  "D4-level-agent-for-ever: An invite-redeemed key stays agent: linking the account to an address that a live key holds is 409.",
  "D4-link-other-account: Linking an address that another account linked is 409.",
  "D4-chain-null: chainAddress and chainAddressSource are null until linked.",
  "D4-relink: Relinking needs every shared vault transferred first (409).",
  "D4-in-flight-recheck: The key is checked again before the row is written.",
  "D4-in-flight-cut: Long streams re-check the key every 5 s or 64 MiB and are cut.",
];

const INVITES_AND_ACCOUNT = [
  "D4-invite-create: POST /api/auth/invites answers 201 { id, name, code, scopes, vaultIds, expiresAt, createdAt }.",
  "D4-invites-list: GET /api/auth/invites lists with status created, used, revoked or expired.",
  "D4-invite-revoke: DELETE /api/auth/invites/{inviteId} is 204.",
  "D4-invite-redeem: POST /api/auth/invites/redeem, no credential: 201 { key, keyId, accountId, scopes, vaultIds, chainAddress, accessLevel }.",
  "D4-redeem-refusals: 404 unknown, 410 used, expired or revoked, 409 the owner's address, 400 clock_skew beyond ±5 min.",
  "D4-redeem-signature: The signature is a Sui personal message over a fixed text.",
  "D4-signed-at: signedAt is RFC 3339, in the request and in the text that is signed.",
  "D4-redeem-waiver: The signature is waived by a setting in development only.",
  "D4-invite-secret: The client prints codes as <code>.<secret>; the secret never reaches the service.",
  "D4-link-chain: link-chain/challenge and link-chain: nonce 10 min, single use, bound; answers { account }, source external.",
  "D4-account-shape: GET /api/account answers { account: { id, email, …, plan, usage: { bytes, files }, limits, createdAt } }.",
  "D4-audit-log: GET /api/audit-log: owner; { events, nextCursor }; hash-chained rows.",
  "D4-audit-365: Its entries are kept 365 days.",
];

export const decisionsKeysAndAccount = section("decisions §4", [...KEYS, ...LEVELS, ...INVITES_AND_ACCOUNT, ...LATER]);
