/**
 * `@coffer/sdk`: a typed client of the Coffer service for any runtime with `fetch`. Files and configuration of this machine are
 * in `@coffer/sdk/node`, the verification of webhooks in `@coffer/sdk/webhooks`, a fake service in `@coffer/sdk/testing`, handlers for MSW in
 * `@coffer/sdk/testing/msw`.
 * @packageDocumentation
 */
export { isErrorCode, type ChainNetwork, type ErrorCode, type EventKind, type Scope } from "@coffer/contract";
export type { AuditCheck, AuditFault, AuditLink } from "@coffer/contract";
export type { AuditVerdict, AuditVerifyOptions } from "./audit/verify.ts";
export type { ByteBody } from "./byte-body.ts";
export type { Answer, ByteAnswer, CallOutput } from "./call.ts";
export type { CallOptions } from "./options.ts";
export { chainKeySigner, generateChainKey, statementSigner, type ChainKey } from "./chain/chain-key.ts";
export type { Told, ToldVault, ToldVaults } from "./chain/invite-text.ts";
export type { ProvenInvite } from "./chain/proving.ts";
export type { Signer } from "./chain/signer.ts";
export type { StatementSigner } from "@coffer/crypto";
export { createClient, type Client } from "./client.ts";
export type { Clock } from "./clock.ts";
export type { ByteRange } from "./download/content-facts.ts";
export type { Download, DownloadRange } from "./download/download.ts";
export type { DownloadOptions } from "./download/content-facts.ts";
export { BudgetError } from "./budget-error.ts";
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
} from "./errors.ts";
export type { ChangeFollowOptions, ChangeListOptions } from "./events/follow-changes.ts";
export type { ChangeResource } from "./resources/changes.ts";
export type { FollowOptions } from "./events/follow.ts";
export type { FileResource } from "./files.ts";
export type { FileChanges } from "./file.ts";
export type {
  AccountOptions,
  ConditionedItem,
  ConditionOptions,
  FileDeletion,
  PlaceOptions,
  UpdateOptions,
  VaultDeletion,
} from "./options.ts";
export { type SharedVaultOptions, type SharedVaults, type TimeLimits } from "./options.ts";
export {
  developmentCredentials,
  SDK_VERSION,
  type ClientOptions,
  type Credentials,
  type DevelopmentCredentials,
} from "./open-connection.ts";
export { PagePromise, type Page } from "./pages.ts";
export { redactText } from "./redaction.ts";
export type {
  AccountResource,
  ApiKeyResource,
  AuditResource,
  BillingResource,
  BoundApiKeyCreateInput,
  DevelopmentResource,
} from "./resources/account.ts";
export type * from "./resources/input-types.ts";
export type * from "./resources/result-types.ts";
export type { InviteResource } from "./resources/invites.ts";
export type { NewInvite, RedeemedAgent, RedeemOptions } from "./vaults/members/inviting.ts";
export type {
  AuthResource,
  IdentityProviderAuthorizeZkloginQuery,
  IdentityProviderResource,
  SessionResource,
} from "./resources/sign-in.ts";
export type {
  AgentResource,
  FolderResource,
  MemberResource,
  TrashedVaultsQuery,
  TrashResource,
  VaultCreateInput,
  VaultResource,
} from "./resources/storage.ts";
export type { EventResource, WebhookResource } from "./resources/webhooks.ts";
export type { RetryPolicy } from "./retry.ts";
export { Secret } from "./secret.ts";
export { sessionCredentials, type SessionCredentials } from "./session/credentials.ts";
export { type SessionLock, type SessionOptions, type SessionStore, type StoredSession } from "./session/state.ts";
export { inProcessTransport, kyTransport, type AttemptContext, type Middleware, type Transport } from "./transports.ts";
export type { ItemOutcome } from "./part-error.ts";
export type { UploadOutcome, UploadResult } from "./upload/target.ts";
export type {
  ManyProgress,
  Progress,
  ReplaceInput,
  UploadInput,
  UploadManyOptions,
  UploadOptions,
} from "./upload/input.ts";
export type { AccessCheck } from "./vaults/keys/check-access.ts";
export type { LayerCheck } from "./vaults/keys/layers.ts";
export type { CreatedVault, NewSharedVault } from "./vaults/create.ts";
export type { CreationJournal } from "./journals.ts";
export type { ExportOptions, ExportProgress, ExportResult } from "./vaults/export/export.ts";
export type { ExportStore } from "./vaults/export/export-layout.ts";
export type { Until } from "./vaults/members/ends.ts";
export type {
  AddedMember,
  AddMemberOptions,
  AgentOfInvite,
  EndedMember,
  RemovedMember,
} from "./vaults/members/members.ts";
export type { FormerReader, VaultReaders } from "./vaults/members/readers.ts";
export type { ActWarning } from "@coffer/chain";
export type { AcceptOptions, ActResult, ClosingActResult } from "./vaults/members/owner-acts.ts";
export {
  memoryPins,
  type Candidate,
  type GivenRight,
  type Highest,
  type PinStore,
  type VaultPin,
} from "./vaults/memory/pins.ts";
export type { ForgetSeenOptions } from "./vaults/memory/forget-seen.ts";
export type { FoundFacts, FoundFile, NameSearchOptions, UnsearchedVault } from "./search/found.ts";
export type { NameStore } from "./search/name-store.ts";
export type { SeenKind, SeenMemory, SeenStore } from "./vaults/memory/seen.ts";
export type { NotResealed, ResealResult } from "./vaults/keys/reseal.ts";
export type { NamePlace, Rewind, RewindInput, RewindLeft, RewindOptions, RewindStep } from "./rewind/report.ts";
export type { RevokedAgent, RevokedMembership, RevokeOptions } from "./vaults/members/revoke-agent.ts";
export type { ToldOfVault } from "./vaults/memory/trusting.ts";
export type { NotRotated, RotationOptions, RotationProgress, RotationResult } from "./vaults/rotation/rotate.ts";
export type { KeptUpload, SourceIdentity, UploadJournals } from "./journals.ts";
export type { VaultErrorCode, VaultErrorFacts } from "./errors.ts";
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
