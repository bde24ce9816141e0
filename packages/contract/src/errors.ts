/**
 * The error catalogue: the one place where a code gets its status, whether a repeat can help, and what to do about it.
 * On the wire the body is exactly `{ error: string }` (specification §7); the code travels in `X-Error-Code`.
 */

interface ErrorEntry {
  readonly status: number;
  /** The same request may succeed later without any change. */
  readonly retryable: boolean;
  /** Used when the thrower has nothing more exact to say. */
  readonly message: string;
  /** What the caller does about it, one sentence. */
  readonly nextStep: string;
}

const entry = (status: number, retryable: boolean, message: string, nextStep: string): ErrorEntry => ({
  status,
  retryable,
  message,
  nextStep,
});

export const ERRORS = {
  validation_failed: entry(400, false, "The request is not valid", "Correct the field that the message names."),
  malformed_json: entry(400, false, "The body is not valid JSON", "Send one JSON document in UTF-8."),
  malformed_request: entry(
    400,
    false,
    "The request is not valid HTTP",
    "Check headers, framing and the request target.",
  ),
  body_truncated: entry(400, true, "The body ended early", "Send the whole body again."),
  digest_mismatch: entry(400, true, "The bytes do not match the digest that was sent", "Send the bytes again."),
  vault_required: entry(400, false, "vaultId is required for this key", "Name one of the key's vaults in vaultId."),
  shared_vaults_unavailable: entry(
    400,
    false,
    "shared vaults are not available on this server",
    "Create a public vault, or use a server with shared vaults.",
  ),
  different_vault: entry(400, false, "Folders do not cross vaults", "Name a folder of the same vault."),
  too_deep: entry(400, false, "The folder would be nested too deeply", "Choose a parent nearer to the root."),
  scope_too_wide: entry(400, false, "A key cannot mint a wider key", "Ask for no more than the calling key holds."),
  scope_owner_only: entry(
    400,
    false,
    "An agent cannot hold a scope of the owner",
    "Leave out the scopes that only owners have.",
  ),
  weak_password: entry(
    400,
    false,
    "The password is too easy to guess",
    "Choose 15 characters or more that are not a common phrase; a few unrelated words do well.",
  ),
  token_invalid: entry(400, false, "The token is unknown, used or expired", "Ask for a new one."),
  clock_skew: entry(400, false, "The signature's time is more than 5 minutes off", "Set the clock and sign again."),
  signature_invalid: entry(
    400,
    false,
    "The signature does not prove the address",
    "Sign the text for this service, network and address with the address's key.",
  ),
  state_invalid: entry(400, false, "The sign-in is unknown, used or expired", "Begin the sign-in again."),
  provider_refused: entry(400, false, "The identity provider refused the sign-in", "Begin the sign-in again."),
  proof_invalid: entry(
    400,
    false,
    "The zkLogin values do not belong together",
    "Begin the sign-in again with one ephemeral key and its own nonce.",
  ),
  invalid_credential: entry(
    401,
    false,
    "Missing or invalid credential",
    "Sign in, or set SERVICE_API_KEY to a live key.",
  ),
  wrong_credentials: entry(401, false, "Wrong e-mail or password", "Correct them, or reset the password."),
  session_ended: entry(401, false, "The session has ended", "Sign in again."),
  wrong_password: entry(403, false, "The current password is wrong", "Correct it, or reset the password."),
  access_code_invalid: entry(
    403,
    false,
    "A valid access code is needed to sign up",
    "Ask the operator for an access code.",
  ),
  email_unverified: entry(
    403,
    false,
    "Email verification required",
    "Follow the link in the verification mail, or ask for a new one.",
  ),
  owner_only: entry(403, false, "Only the account owner may do this", "Ask the owner, or use an owner's key."),
  missing_scope: entry(403, false, "The key lacks a scope", "Use a key that holds the scope the message names."),
  vault_limited_key: entry(403, false, "A key limited to vaults may not do this", "Use a key without vault limits."),
  development_origin: entry(
    403,
    false,
    "Development access needs a loopback Host and no cross-site origin",
    "Send a credential, or call from this machine without a browser origin.",
  ),
  storage_quota: entry(403, false, "Storage quota exceeded", "Empty the trash, delete files, or change the plan."),
  limit_reached: entry(403, false, "The account has reached a limit", "Delete what is no longer needed."),
  not_found: entry(404, false, "Not found", "Check the id and the key's vaults."),
  method_not_allowed: entry(405, false, "Method not allowed", "Use a method that the Allow header lists."),
  request_timeout: entry(408, true, "The request took too long to arrive", "Send it again."),
  name_exists: entry(
    409,
    false,
    "The name is taken",
    "Choose another name, or write a new version of the existing item.",
  ),
  email_exists: entry(409, false, "An account with this e-mail exists", "Sign in, or use another e-mail."),
  offset_mismatch: entry(
    409,
    false,
    "The offset is not where the upload stands",
    "Ask for the offset with HEAD and go on there.",
  ),
  vault_not_empty: entry(409, false, "The vault is not empty", "Delete its content first, or pass force=true."),
  default_vault: entry(409, false, "The account's default vault cannot be deleted", "Delete its files instead."),
  folder_cycle: entry(409, false, "A folder cannot move into itself", "Choose a parent outside the folder."),
  not_trashed: entry(409, false, "The item is not in the trash", "Nothing needs to be restored."),
  trashed: entry(409, false, "The item is in the trash", "Restore it first."),
  key_inactive: entry(409, false, "The key is revoked or expired", "Create a new key."),
  address_conflict: entry(
    409,
    false,
    "The chain address is in use",
    "Use another address, or revoke the key that holds this one.",
  ),
  plan_unchanged: entry(409, false, "The account is on this plan", "Nothing needs to be paid."),
  subscription_required: entry(409, false, "There is no subscription to change", "Check out first."),
  usage_above_plan: entry(
    409,
    false,
    "The account holds more than that plan allows",
    "Delete files and empty the trash first.",
  ),
  already_created: entry(
    409,
    false,
    "This key was used for a creation whose secret is shown only once",
    "Use the id in the message, or create another.",
  ),
  idempotency_in_progress: entry(
    409,
    true,
    "A request with this Idempotency-Key is still running",
    "Wait and repeat the request.",
  ),
  invite_ended: entry(410, false, "The invite is used, expired or revoked", "Ask the owner for a new invite."),
  upload_expired: entry(410, false, "The upload has expired", "Start a new upload."),
  precondition_failed: entry(
    412,
    false,
    "The item is not in the state that was asked for",
    "Read it again and decide.",
  ),
  unsupported_tus_version: entry(412, false, "Unsupported tus version", "Send Tus-Resumable: 1.0.0."),
  body_too_large: entry(413, false, "The body is too large", "Send less at once."),
  file_too_large: entry(
    413,
    false,
    "The file is larger than the plan allows",
    "Use a resumable upload, a smaller file, or another plan.",
  ),
  unsupported_media_type: entry(415, false, "Unsupported media type", "Send the media type that the message names."),
  range_not_satisfiable: entry(
    416,
    false,
    "The range lies outside the file",
    "Ask for bytes inside the size in Content-Range.",
  ),
  idempotency_mismatch: entry(
    422,
    false,
    "This Idempotency-Key belongs to another request",
    "Use a new Idempotency-Key.",
  ),
  upload_locked: entry(
    423,
    true,
    "Another request is writing to this upload",
    "Wait for it, ask for the offset with HEAD and go on there.",
  ),
  rate_limited: entry(429, true, "Too many requests", "Wait for the time in Retry-After."),
  headers_too_large: entry(431, false, "The headers are too large", "Send smaller headers."),
  checksum_mismatch: entry(460, true, "The bytes do not match Upload-Checksum", "Send the same part again."),
  internal: entry(500, true, "Internal error", "Repeat it; if it stays, report the X-Request-Id."),
  not_configured: entry(
    501,
    false,
    "This server is not set up for that",
    "Use another way, or ask the operator to set it up.",
  ),
  provider_unavailable: entry(503, true, "An external provider does not answer", "Wait and repeat the request."),
  unavailable: entry(503, true, "The service is not ready", "Wait for the time in Retry-After."),
  disk_full: entry(507, true, "The server has no space left", "Wait, and tell the operator."),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text);
}
