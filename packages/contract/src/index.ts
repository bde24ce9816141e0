/**
 * `@coffer/contract`: the words and the endpoints of the Coffer service as typed values. No I/O.
 * @packageDocumentation
 */
import { accountGroup } from "./account.ts";
import { apiKeysGroup } from "./api-keys.ts";
import { auditGroup } from "./audit.ts";
import { authGroup } from "./auth.ts";
import { billingGroup } from "./billing.ts";
import { developmentGroup } from "./development.ts";
import { filesGroup } from "./files.ts";
import { foldersGroup } from "./folders.ts";
import { eventsGroup, webhookEventsGroup, webhooksGroup } from "./webhooks.ts";
import { identityProviderGroup } from "./identity-provider.ts";
import { invitesGroup } from "./invites.ts";
import { sessionsGroup } from "./sessions.ts";
import { systemGroup } from "./system.ts";
import { trashGroup } from "./trash.ts";
import { uploadsGroup } from "./uploads.ts";
import { vaultsGroup } from "./vaults.ts";

/** The endpoints that clients carry with them; the others are modules of their own, loaded when they are first used. */
export const clientApi = {
  account: accountGroup,
  auth: authGroup,
  sessions: sessionsGroup,
  identityProvider: identityProviderGroup,
  development: developmentGroup,
  apiKeys: apiKeysGroup,
  invites: invitesGroup,
  vaults: vaultsGroup,
  folders: foldersGroup,
  files: filesGroup,
  uploads: uploadsGroup,
  trash: trashGroup,
  billing: billingGroup,
  audit: auditGroup,
  system: systemGroup,
} as const;

/** Every endpoint of the service, by group and name. */
export const api = {
  ...clientApi,
  webhooks: webhooksGroup,
  webhookEvents: webhookEventsGroup,
  events: eventsGroup,
} as const;

export type CofferApi = typeof api;

export type { Account, Credential } from "./account.ts";
export type { ApiKey, CreatedApiKey } from "./api-keys.ts";
export { AUDIT_DAYS, auditEvent, type AuditEvent } from "./audit.ts";
export {
  ACCESS_TOKEN_SECONDS,
  email,
  PASSWORD_LENGTH,
  REFRESH_TOKEN_DAYS,
  type SessionTokens,
  type SignedIn,
} from "./auth.ts";
export { type Billing, PLANS } from "./billing.ts";
export * from "./endpoint.ts";
export { ERROR_FACTS, isErrorCode, type ErrorCode } from "./error-codes.ts";
export { ERRORS, type ErrorEntry } from "./errors.ts";
export type { File } from "./files.ts";
export { MAX_FOLDER_DEPTH, type Folder } from "./folders.ts";
export { HEADERS, MAX_IDEMPOTENCY_KEY } from "./headers.ts";
export { SIGN_IN_MINUTES, type ZkloginProof } from "./identity-provider.ts";
export { type CreatedInvite, type Invite, INVITE_HOURS, type RedeemedInvite } from "./invites.ts";
export { INVITE_PREFIX, INVITE_SCANNING_REGEX, KEY_PREFIX, KEY_SCANNING_REGEX, LEGACY_KEY_PREFIX } from "./key-form.ts";
export {
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
  SECRET_OVERLAP_HOURS,
  type Webhook,
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
  renderInviteCode,
  renderKey,
  renderKeyAddressText,
  renderLinkText,
  renderRedeemText,
} from "./on-demand.ts";
export { CHAIN_NETWORKS, type ChainNetwork, MAX_CLOCK_SKEW } from "./proofs.ts";
export { AGENT_SCOPES, SCOPES, type AccessLevel, type Scope } from "./scopes.ts";
export type { Session } from "./sessions.ts";
export { TRASH_DAYS } from "./trash.ts";
export { TUS_CHECKSUMS, TUS_EXTENSIONS, TUS_PART_TYPE, TUS_VERSION } from "./uploads.ts";
export { DEFAULT_PAGE, itemName, MAX_NAME_BYTES, MAX_PAGE, mediaType, nameProblem, uuid } from "./values.ts";
export { VAULT_TYPES, type Vault } from "./vaults.ts";
