/**
 * The codes of the error catalogue, each with its status and whether a repeat can help. The sentences for people are
 * in error-texts.ts, which a client loads when it has an error to show.
 */

/**
 * Status; true: the same request may succeed later without any change; and the status that the code has when the fault is the
 * service's own.
 */
export const ERROR_FACTS = {
  validation_failed: [400, false],
  malformed_json: [400, false],
  malformed_request: [400, false],
  body_truncated: [400, true],
  digest_mismatch: [400, true],
  vault_required: [400, false],
  shared_vaults_unavailable: [400, false],
  different_vault: [400, false],
  too_deep: [400, false],
  scope_too_wide: [400, false],
  url_refused: [400, false],
  scope_owner_only: [400, false],
  weak_password: [400, false],
  token_invalid: [400, false],
  // With 503 too: a clock stays wrong until somebody sets it (decision 0043).
  clock_skew: [400, false, 503],
  signature_invalid: [400, false],
  state_invalid: [400, false],
  statement_invalid: [400, false],
  not_encrypted: [400, false],
  chain_object_invalid: [400, false],
  provider_refused: [400, false],
  proof_invalid: [400, false],
  invalid_credential: [401, false],
  wrong_credentials: [401, false],
  session_ended: [401, false],
  wrong_password: [403, false],
  access_code_invalid: [403, false],
  email_unverified: [403, false],
  owner_only: [403, false],
  owner_proof_required: [403, false],
  missing_scope: [403, false],
  vault_limited_key: [403, false],
  development_origin: [403, false],
  form_origin: [403, false],
  storage_quota: [403, false],
  budget_storage: [403, false],
  limit_reached: [403, false],
  not_a_member: [403, false],
  membership_ended: [403, false],
  not_found: [404, false],
  method_not_allowed: [405, false],
  request_timeout: [408, true],
  name_exists: [409, false],
  email_exists: [409, false],
  offset_mismatch: [409, false],
  vault_not_empty: [409, false],
  default_vault: [409, false],
  current_version: [409, false],
  folder_cycle: [409, false],
  not_trashed: [409, false],
  trashed: [409, false],
  key_inactive: [409, false],
  webhook_inactive: [409, false],
  address_conflict: [409, false],
  address_required: [409, false],
  chain_object_taken: [409, false],
  public_vault: [409, false],
  not_on_allowlist: [409, false],
  still_on_allowlist: [409, false],
  generation_moved: [409, false],
  names_outdated: [409, false],
  key_exists: [409, false],
  plan_unchanged: [409, false],
  subscription_required: [409, false],
  usage_above_plan: [409, false],
  already_created: [409, false],
  idempotency_in_progress: [409, true],
  invite_ended: [410, false],
  upload_expired: [410, false],
  cursor_expired: [410, false],
  precondition_failed: [412, false],
  unsupported_tus_version: [412, false],
  body_too_large: [413, false],
  file_too_large: [413, false],
  unsupported_media_type: [415, false],
  range_not_satisfiable: [416, false],
  idempotency_mismatch: [422, false],
  upload_locked: [423, true],
  tree_busy: [423, true],
  rate_limited: [429, true],
  budget_exceeded: [429, true],
  headers_too_large: [431, false],
  checksum_mismatch: [460, true],
  internal: [500, true],
  not_configured: [501, false],
  chain_unavailable: [503, true],
  provider_unavailable: [503, true],
  unavailable: [503, true],
  disk_full: [507, true],
} as const satisfies Record<string, readonly [status: number, retryable: boolean, ownFault?: number]>;

export type ErrorCode = keyof typeof ERROR_FACTS;

/** Whether the code goes with that status. */
export function fitsStatus(code: ErrorCode, status: number): boolean {
  const facts: readonly unknown[] = ERROR_FACTS[code];
  return facts.includes(status);
}

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERROR_FACTS, text);
}
