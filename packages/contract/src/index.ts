/**
 * `@coffer/contract`: the words and the endpoints of the Coffer service as typed values. No I/O.
 * @packageDocumentation
 */
export { accountGroup, type Account, type AccountLimits, type AccountUsage, type Credential } from "./account.ts";
export { apiKeysGroup, type ApiKey, type CreatedApiKey } from "./api-keys.ts";
export { api, type CofferApi } from "./api.ts";
export {
  checkAuditChain,
  type AuditCheck,
  type AuditFault,
  type AuditExpectation,
  type AuditLink,
} from "./audit-chain.ts";
export { FIRST_PREVIOUS_HASH, renderAuditText } from "./audit-text.ts";
export {
  AUDIT_DAYS,
  auditEvent,
  auditGroup,
  type AuditActor,
  type AuditContext,
  type AuditEvent,
  type AuditTarget,
} from "./audit.ts";
export {
  ACCESS_TOKEN_SECONDS,
  PASSWORD_LENGTH,
  REFRESH_TOKEN_DAYS,
  SESSION_DAYS,
  authGroup,
  type SessionTokens,
  type SignedIn,
} from "./auth.ts";
export {
  batchesGroup,
  batchPart,
  MAX_BATCH_BYTES,
  MAX_BATCH_FILES,
  MAX_PART_HEADER,
  PART_HEADER,
  type PartError,
  type BatchPart,
} from "./batches.ts";
export { PLANS, billingGroup, type Billing, type Subscription } from "./billing.ts";
export type { BudgetName, Budgets, BudgetUse, BudgetUses } from "./budgets.ts";
export { changesGroup, MAX_WAIT, type Change, type ChangeObject, type EventActor } from "./changes.ts";
export { CONTENT_ORIGINS_HEADER } from "./content-redirects.ts";
export { DELETION_MINUTES, deletionGroup, restoringGroup, type DeletionAct } from "./deletion.ts";
export { developmentGroup } from "./development.ts";
export * from "./endpoint.ts";
export { END_STEP, endProblem, membershipEnd } from "./membership-ends.ts";
export { fileEntriesGroup, folderEntriesGroup, type FileEntry, type FolderEntry } from "./entries.ts";
export { ERROR_FACTS, fitsStatus, isErrorCode, type ErrorCode } from "./error-codes.ts";
export { ERROR_TEXTS } from "./error-texts.ts";
export { ERRORS, type ErrorEntry } from "./errors.ts";
export { EVENT_KINDS, EVERY_EVENT, isEventKind, isSubscribed, type EventKind } from "./event-kinds.ts";
export {
  eventSchema,
  type AccountEventObject,
  type ApiKeyEventObject,
  type EndedMemberEventObject,
  type EventObjects,
  type FileEventObject,
  type FolderEventObject,
  type InviteEventObject,
  type MemberEventObject,
  type PlanEventObject,
  type RedeemedInviteEventObject,
  type VaultEventObject,
  type WebhookEventObject,
  type EventObject,
  type WebhookEvent,
} from "./events.ts";
export { fileSchema, filesGroup, type File } from "./files.ts";
export { folderSchema, MAX_FOLDER_DEPTH, foldersGroup, type Folder } from "./folders.ts";
export { HEADERS, MAX_IDEMPOTENCY_KEY } from "./headers.ts";
export {
  SIGN_IN_MINUTES,
  identityProviderGroup,
  type ZkloginIssuer,
  type ZkloginProof,
  type ZkloginProofPoints,
} from "./identity-provider.ts";
export { INVITE_HOURS, invitesGroup, type CreatedInvite, type Invite, type RedeemedInvite } from "./invites.ts";
export { isError } from "./is-error.ts";
export { describeIssues } from "./issue-texts.ts";
export { fileCommitGroup, MAX_COMMIT_BYTES, MAX_COMMIT_CHANGES } from "./file-commit.ts";
export { itemActsGroup } from "./item-acts.ts";
export { INVITE_PREFIX, INVITE_SCANNING_REGEX, KEY_PREFIX, KEY_SCANNING_REGEX, LEGACY_KEY_PREFIX } from "./key-form.ts";
export { KEY_REFUSALS, keyRefusalOf, stepOfRefusedKey, type KeyRefusal } from "./key-refusals.ts";
export { isInviteCode, isKeyText, renderInviteCode, renderKey } from "./key-text.ts";
export type { Named, Parsed } from "./object.ts";
export {
  renderDeletionText,
  renderKeyAddressText,
  renderLinkText,
  renderRedeemText,
  type DeletionOf,
} from "./proof-texts.ts";
export { CHAIN_NETWORKS, MAX_CLOCK_SKEW, type ChainNetwork } from "./proofs.ts";
export { AGENT_SCOPES, SCOPES, type AccessLevel, type Scope } from "./scopes.ts";
export { bareType, foldText, isAuthor, isOfType, isShortWord, rankName, searchWords } from "./search-words.ts";
export { searchGroup } from "./search.ts";
export { sessionsGroup, type Session } from "./sessions.ts";
export { sharedHeaders, type SharedEntry, type SharedFile } from "./shared-entries.ts";
export {
  ENTRY_KINDS,
  ENTRY_STATEMENT,
  EXPORT_STATEMENT,
  FILE_MAGIC,
  KEY_RECORD,
  SIBLING_BYTES,
  SIGNATURE_BYTES,
  UPLOAD_TITLE,
  VERSION_STATEMENT,
  LADDER_STEP,
  type Field,
} from "./shared-statements.ts";
export {
  MAX_MEMBERS,
  MAX_STAGED,
  folderNamesGroup,
  MAX_STEPS,
  membersGroup,
  ownershipGroup,
  vaultKeysGroup,
  type VaultMemberLayers,
  type VaultKeyRecord,
  type VaultMember,
} from "./shared-vaults.ts";
export { systemGroup } from "./system.ts";
export { plainTag, SIGNED_TAG_TITLE, signedTag } from "./tags.ts";
export { TRASH_DAYS, trashGroup, type LeftVault } from "./trash.ts";
export { TUS_CHECKSUMS, TUS_EXTENSIONS, TUS_PART_TYPE, TUS_VERSION, uploadsGroup } from "./uploads.ts";
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
  type Author,
  type OpenEnum,
  type PageQuery,
} from "./values.ts";
export {
  decodeVaultObject,
  NO_END_ON_CHAIN,
  VAULT_OBJECT_LIMITS,
  vaultObjectType,
  VAULT_OBJECT_FIELDS,
  type VaultObjectFields,
  type VaultObjectFormer,
  type VaultObjectMember,
} from "./vault-object.ts";
export { VAULT_TYPES, vaultsGroup, type Vault } from "./vaults.ts";
export { versionsGroup, type FileVersion } from "./versions.ts";
export {
  DELIVERY_DAYS,
  MAX_ATTEMPTS,
  MAX_WEBHOOK_URL,
  SECRET_OVERLAP_HOURS,
  eventsGroup,
  webhookEventsGroup,
  webhooksGroup,
  type EventDescription,
  type Delivery,
  type DeliveryAttempt,
  type Webhook,
} from "./webhooks.ts";
