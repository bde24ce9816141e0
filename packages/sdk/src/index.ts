/**
 * `@coffer/sdk`: a typed client of the Coffer service for any runtime with `fetch`. Files and configuration of this machine are
 * in `@coffer/sdk/node`, the verification of webhooks in `@coffer/sdk/webhooks`, a fake service in `@coffer/sdk/testing`, handlers for MSW in
 * `@coffer/sdk/testing/msw`.
 * @packageDocumentation
 */
export { isErrorCode, type ChainNetwork, type ErrorCode, type EventKind, type Scope } from "@coffer/contract";
export type { AuditCheck, AuditFault, AuditLink } from "@coffer/contract";
export type {
  Account,
  AccountEventObject,
  AccountLimits,
  AccountUsage,
  ApiKey,
  ApiKeyEventObject,
  AuditActor,
  AuditContext,
  AuditEvent,
  AuditTarget,
  Billing,
  Budgets,
  BudgetUse,
  BudgetUses,
  ChangeObject,
  CreatedApiKey,
  CreatedInvite,
  Credential,
  Delivery,
  DeliveryAttempt,
  EndedMemberEventObject,
  EventActor,
  EventDescription,
  EventObjects,
  FileEventObject,
  FolderEventObject,
  Invite,
  InviteEventObject,
  LeftVault,
  MemberEventObject,
  OpenEnum,
  PlanEventObject,
  RedeemedInvite,
  RedeemedInviteEventObject,
  Session,
  SessionTokens,
  Subscription,
  Vault,
  VaultEventObject,
  VaultMember,
  VaultMemberLayers,
  Webhook,
  WebhookEventObject,
  ZkloginIssuer,
  ZkloginProof,
  ZkloginProofPoints,
} from "@coffer/contract";
export type { AuditVerdict, AuditVerifyOptions } from "./account/audit-chain.ts";
export type { ByteBody } from "./http/accepted-bytes.ts";
export type { Answer, ByteAnswer, CallOutput } from "./http/call.ts";
export type { CallOptions } from "./connection/options.ts";
export { chainKeySigner, generateChainKey, statementSigner, type ChainKey } from "./signers/chain-key.ts";
export type { Told, ToldVault, ToldVaults } from "./agents/invite-text.ts";
export type { ProvenInvite } from "./account/address-proof.ts";
export type { Signer } from "./signers/signer.ts";
export type { StatementSigner } from "@coffer/crypto";
export { createClient, type Client } from "./client.ts";
export type { Clock } from "./http/clock.ts";
export type { ByteRange } from "./transfer/content-headers.ts";
export type { Download, DownloadRange } from "./transfer/stored-download.ts";
export type { DownloadOptions } from "./transfer/content-headers.ts";
export { BudgetError } from "./http/budget-error.ts";
export {
  AbortError,
  ApiError,
  type AnswerFacts,
  type ApiErrorCode,
  type BudgetErrorCode,
  type BudgetFacts,
  ConnectionError,
  ContractError,
  failureOf,
  IntegrityError,
  SdkError,
  SessionEndedError,
  TimeoutError,
  VaultError,
  type ApiErrorFacts,
  type ClientErrorCode,
  type EndpointError,
  type EndpointErrorCode,
  type ErrorFacts,
} from "./http/errors.ts";
export type {
  AccountOptions,
  ConditionedItem,
  ConditionOptions,
  FileDeletion,
  PlaceOptions,
  UpdateOptions,
  VaultDeletion,
} from "./connection/options.ts";
export { type SharedVaultOptions, type SharedVaults, type TimeLimits } from "./connection/options.ts";
export {
  developmentCredentials,
  SDK_VERSION,
  type ClientOptions,
  type Credentials,
  type DevelopmentCredentials,
} from "./connection/open-connection.ts";
export { PagePromise, type Page, type PageLists } from "./http/pages.ts";
export { redactText } from "./http/redaction.ts";
export type { Author, File, FileEntry, FileVersion, Folder, FolderEntry } from "./storage/item-types.ts";
export type { NewInvite, RedeemedAgent, RedeemOptions } from "./shared-vaults/members/vault-invites.ts";
export type { AccountResource, AccountUpdateInput, AccountWithCredential } from "./account/account.ts";
export type {
  ApiKeyCreateInput,
  ApiKeyListQuery,
  ApiKeyResource,
  ApiKeyRotateInput,
  BoundApiKeyCreateInput,
} from "./account/api-keys.ts";
export type { AuditListQuery, AuditResource } from "./account/audit.ts";
export type {
  AuthChangePasswordInput,
  AuthLoginInput,
  AuthMessage,
  AuthResetPasswordInput,
  AuthResource,
  AuthSignupInput,
  SignedIn,
} from "./account/auth.ts";
export type { BillingChangePlanInput, BillingCheckoutInput, BillingResource, CheckoutPage } from "./account/billing.ts";
export type { DevelopmentAccount, DevelopmentResource, DevelopmentSignupInput } from "./account/development.ts";
export type {
  Authorization,
  IdentityProviderAuthorizeQuery,
  IdentityProviderAuthorizeZkloginQuery,
  IdentityProviderCallbackInput,
  IdentityProviderResource,
  IdentityProviderZkloginAuthInput,
  IdentityProviderZkloginAuthInputByCode,
  IdentityProviderZkloginAuthInputByIdToken,
  IdentityProviderZkloginTokenInput,
  ZkloginAuthorizeFields,
  ZkloginSession,
  ZkloginTokens,
} from "./account/identity-providers.ts";
export type { SessionListQuery, SessionResource } from "./account/sessions.ts";
export type { AgentResource } from "./agents/agents.ts";
export type { InviteCreateInput, InviteListQuery, InviteResource } from "./agents/invites.ts";
export type {
  Change,
  ChangeFollowOptions,
  ChangeListOptions,
  ChangeListQuery,
  ChangeResource,
} from "./events/changes.ts";
export type { EventResource, FollowOptions } from "./events/events.ts";
export type {
  FileChanges,
  FileEntriesQuery,
  FileListQuery,
  FileResource,
  FileRestoreInput,
  FileVersionsQuery,
  SearchFacts,
} from "./storage/files.ts";
export type {
  FolderCreateInput,
  FolderEntriesQuery,
  FolderListQuery,
  FolderResource,
  FolderRestoreInput,
  FolderUpdateInput,
} from "./storage/folders.ts";
export { appendText, replaceText, type EditOptions, type TextReplacement } from "./storage/text-edits.ts";
export type { MemberResource } from "./storage/members.ts";
export type {
  EmptiedTrash,
  TrashEmptyQuery,
  TrashListQuery,
  TrashResource,
  TrashedVaultsQuery,
} from "./storage/trash.ts";
export type {
  VaultCreateInput,
  VaultFields,
  VaultListQuery,
  VaultResource,
  VaultRestoreInput,
  VaultUpdateInput,
} from "./storage/vaults.ts";
export type {
  CreatedWebhook,
  DeliveryDetails,
  RotatedSecret,
  WebhookCreateInput,
  WebhookDeliveriesQuery,
  WebhookListQuery,
  WebhookRecoverInput,
  WebhookResource,
  WebhookUpdateInput,
} from "./webhooks/webhooks.ts";
export type { RetryPolicy } from "./http/retry.ts";
export { Secret } from "./http/secret.ts";
export { sessionCredentials, type SessionCredentials } from "./connection/session-credentials.ts";
export {
  type SessionLock,
  type SessionOptions,
  type SessionStore,
  type StoredSession,
} from "./connection/web-session.ts";
export {
  inProcessTransport,
  kyTransport,
  type AttemptContext,
  toRequest,
  type Middleware,
  type Transport,
  type TransportRequest,
} from "./http/transports.ts";
export type { ItemOutcome } from "./http/part-error.ts";
export type { CommittedFile, FileCommitChange, FileCommitOptions } from "./transfer/commit-changes.ts";
export type { UploadOutcome, UploadResult } from "./transfer/upload-codec.ts";
export type {
  ManyProgress,
  Progress,
  ReplaceInput,
  UploadInput,
  UploadManyOptions,
  UploadOptions,
} from "./transfer/upload-options.ts";
export type { AccessCheck } from "./shared-vaults/keys/check-access.ts";
export type { LayerCheck } from "./shared-vaults/keys/layer-check.ts";
export type { CreatedVault, NewSharedVault } from "./shared-vaults/create-vault.ts";
export type { CreationJournal } from "./transfer/journals.ts";
export type { ExportOptions, ExportProgress, ExportResult } from "./shared-vaults/export/export.ts";
export type { ExportStore } from "./shared-vaults/export/export-layout.ts";
export type { Until } from "./shared-vaults/members/membership-end.ts";
export type {
  AddedMember,
  AddMemberOptions,
  AgentOfInvite,
  EndedMember,
  RemovedMember,
} from "./shared-vaults/members/members.ts";
export type { FormerReader, VaultReaders } from "./shared-vaults/members/readers.ts";
export type { ActWarning } from "@coffer/chain";
export type { AcceptOptions, ActResult, ClosingActResult } from "./shared-vaults/members/owner-acts.ts";
export {
  memoryPins,
  type Candidate,
  type GivenRight,
  type Highest,
  type PinStore,
  type VaultPin,
} from "./shared-vaults/trust/pins.ts";
export { forgetKeys } from "./shared-vaults/forget-keys.ts";
export type { ForgetSeenOptions } from "./shared-vaults/trust/forget-seen.ts";
export type {
  FileSearchQuery,
  FoundFacts,
  FoundFile,
  NameSearchOptions,
  UnsearchedVault,
} from "./search/search-types.ts";
export type { NameStore } from "./search/name-store.ts";
export type { SeenKind, SeenMemory, SeenStore } from "./shared-vaults/trust/seen-memory.ts";
export type {
  KeyRange,
  ProfileStore,
  Row,
  RowChange,
  RowChanges,
  RowPage,
  Rows,
  Table,
  TableUpdate,
  WriteOptions,
} from "./store/profile-store.ts";
export type { NotResealed, ResealResult } from "./shared-vaults/keys/reseal.ts";
export type { NamePlace, Rewind, RewindInput, RewindLeft, RewindOptions, RewindStep } from "./rewind/report.ts";
export type { RevokedAgent, RevokedMembership, RevokeOptions } from "./shared-vaults/members/revoke-agent.ts";
export type { ToldOfVault } from "./shared-vaults/trust/trust-acts.ts";
export type { NotRotated, RotationOptions, RotationProgress, RotationResult } from "./shared-vaults/rotation/rotate.ts";
export type { KeptUpload, SourceIdentity, UploadJournals } from "./transfer/journals.ts";
export type { VaultErrorCode, VaultErrorFacts } from "./http/errors.ts";
export type {
  EventData,
  EventObject,
  EventOf,
  KnownEvent,
  ReceivedEvent,
  UnknownEvent,
  UnknownEventObject,
  WebhookEvent,
} from "./webhooks/received-event.ts";
