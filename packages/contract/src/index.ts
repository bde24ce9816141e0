/**
 * `@coffer/contract`: the words and the endpoints of the Coffer service as typed values. No I/O.
 * @packageDocumentation
 */
export { api, type CofferApi } from "./api.ts";
export type { SessionTokens, SignedIn } from "./auth.ts";
export type { Account, AccountLimits, AccountUsage, Credential } from "./account.ts";
export type { ApiKey, CreatedApiKey } from "./api-keys.ts";
export type { AuditActor, AuditContext, AuditEvent, AuditTarget } from "./audit.ts";
export type { Billing, Subscription } from "./billing.ts";
export type { Change, ChangeObject, EventActor } from "./changes.ts";
export type { BudgetName, Budgets, BudgetUse, BudgetUses } from "./budgets.ts";
export type { ZkloginIssuer, ZkloginProof, ZkloginProofPoints } from "./identity-provider.ts";
export type { LeftVault } from "./trash.ts";
export type { PartError } from "./batches.ts";
export type { Named, Parsed } from "./object.ts";
export type { Author, OpenEnum, PageQuery } from "./values.ts";
export type {
  AccountEventObject,
  ApiKeyEventObject,
  EndedMemberEventObject,
  EventObjects,
  FileEventObject,
  FolderEventObject,
  InviteEventObject,
  MemberEventObject,
  PlanEventObject,
  RedeemedInviteEventObject,
  VaultEventObject,
  WebhookEventObject,
} from "./events.ts";
export type { EventDescription } from "./webhooks.ts";
export type { VaultMemberLayers } from "./shared-vaults.ts";
export { clientApi } from "./client-api.ts";
export * from "./endpoint.ts";
export type { FileEntry, FolderEntry } from "./entries.ts";
export { plainTag, SIGNED_TAG_TITLE, signedTag } from "./tags.ts";
export { ERROR_FACTS, fitsStatus, isErrorCode, type ErrorCode } from "./error-codes.ts";
export { ERRORS, type ErrorEntry } from "./errors.ts";
export { fileSchema, type File } from "./files.ts";
export { folderSchema, MAX_FOLDER_DEPTH, type Folder } from "./folders.ts";
export { HEADERS, MAX_IDEMPOTENCY_KEY } from "./headers.ts";
export type { CreatedInvite, Invite, RedeemedInvite } from "./invites.ts";
export { KEY_REFUSALS, keyRefusalOf, type KeyRefusal } from "./key-refusals.ts";
export { INVITE_PREFIX, INVITE_SCANNING_REGEX, KEY_PREFIX, KEY_SCANNING_REGEX, LEGACY_KEY_PREFIX } from "./key-form.ts";
export {
  ACCESS_TOKEN_SECONDS,
  AUDIT_DAYS,
  DELETION_MINUTES,
  auditEvent,
  PASSWORD_LENGTH,
  REFRESH_TOKEN_DAYS,
  SESSION_DAYS,
  type Delivery,
  DELIVERY_DAYS,
  type DeliveryAttempt,
  EVENT_KINDS,
  type EventKind,
  type EventObject,
  eventSchema,
  EVERY_EVENT,
  isEventKind,
  isSubscribed,
  MAX_ATTEMPTS,
  MAX_WEBHOOK_URL,
  INVITE_HOURS,
  PLANS,
  SECRET_OVERLAP_HOURS,
  SIGN_IN_MINUTES,
  TRASH_DAYS,
  TUS_CHECKSUMS,
  TUS_EXTENSIONS,
  TUS_PART_TYPE,
  TUS_VERSION,
  type Webhook,
  type SharedEntry,
  type SharedFile,
  type VaultKeyRecord,
  type VaultMember,
  ENTRY_KINDS,
  ENTRY_STATEMENT,
  EXPORT_STATEMENT,
  FILE_MAGIC,
  KEY_RECORD,
  MAX_MEMBERS,
  MAX_STAGED,
  SIBLING_BYTES,
  SIGNATURE_BYTES,
  UPLOAD_TITLE,
  VERSION_STATEMENT,
  type WebhookEvent,
  type AuditCheck,
  type AuditFault,
  type AuditKnown,
  type AuditLink,
  checkAuditChain,
  FIRST_PREVIOUS_HASH,
  isInviteCode,
  isKeyText,
  renderAuditText,
  renderDeletionText,
  renderInviteCode,
  renderKey,
  renderKeyAddressText,
  renderLinkText,
  renderRedeemText,
} from "./on-demand.ts";
export { CHAIN_NETWORKS, type ChainNetwork, MAX_CLOCK_SKEW } from "./proofs.ts";
export type { DeletionAct } from "./deletion.ts";
export type { DeletionOf } from "./proof-texts.ts";
export { AGENT_SCOPES, SCOPES, type AccessLevel, type Scope } from "./scopes.ts";
export type { Session } from "./sessions.ts";
export { sharedHeaders } from "./shared-entries.ts";
export {
  DEFAULT_PAGE,
  email,
  itemName,
  MAX_NAME_BYTES,
  MAX_PAGE,
  mediaType,
  nameProblem,
  newNameProblem,
  uuid,
} from "./values.ts";
export { VAULT_TYPES, type Vault } from "./vaults.ts";
export type { FileVersion } from "./versions.ts";
