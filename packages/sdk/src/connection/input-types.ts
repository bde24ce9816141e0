/** What the methods take: the fields and their texts are those of the contract's endpoints. */
import type { api, EndpointDefinition, PageQuery } from "@coffer/contract";
import type { Body, Query } from "./call-fields.ts";

/** The query of a list. */
type List<E extends EndpointDefinition> = PageQuery & Omit<Query<E>, keyof PageQuery>;

/** Input of `account.update`. */
export interface AccountUpdateInput extends Body<typeof api.account.update> {}

/** Input of `auth.signup`. */
export interface AuthSignupInput extends Body<typeof api.auth.signup> {}

/** Input of `auth.login`. */
export interface AuthLoginInput extends Body<typeof api.auth.login> {}

/** Input of `auth.changePassword`. */
export interface AuthChangePasswordInput extends Body<typeof api.auth.changePassword> {}

/** Input of `auth.resetPassword`. */
export interface AuthResetPasswordInput extends Body<typeof api.auth.resetPassword> {}

/** Input of `sessions.list`. */
export interface SessionListQuery extends List<typeof api.sessions.list> {}

/** Input of `identityProvider.authorize`. */
export interface IdentityProviderAuthorizeQuery extends Query<typeof api.identityProvider.authorize> {}

/** Input of `identityProvider.authorizeZklogin`. */
export interface ZkloginAuthorizeFields extends Omit<Query<typeof api.identityProvider.authorizeZklogin>, "nonce"> {}

/** Input of `identityProvider.callback`. */
export interface IdentityProviderCallbackInput extends Body<typeof api.identityProvider.callback> {}

/** Input of `identityProvider.zkloginToken`. */
export interface IdentityProviderZkloginTokenInput extends Body<typeof api.identityProvider.zkloginToken> {}

/** Input of `identityProvider.zkloginAuth`. */
export interface IdentityProviderZkloginAuthInputByCode extends Extract<
  Body<typeof api.identityProvider.zkloginAuth>,
  { readonly code: string }
> {}

/** Input of `identityProvider.zkloginAuth`. */
export interface IdentityProviderZkloginAuthInputByIdToken extends Extract<
  Body<typeof api.identityProvider.zkloginAuth>,
  { readonly idToken: string }
> {}

/** Input of `identityProvider.zkloginAuth`. */
export type IdentityProviderZkloginAuthInput =
  | IdentityProviderZkloginAuthInputByCode
  | IdentityProviderZkloginAuthInputByIdToken;

/** Input of `development.signup`. */
export interface DevelopmentSignupInput extends Body<typeof api.development.signup> {}

/** Input of `apiKeys.create`. */
export interface ApiKeyCreateInput extends Omit<Body<typeof api.apiKeys.create>, "chainAddress" | "addressProof"> {}

/** Input of `apiKeys.list`. */
export interface ApiKeyListQuery extends List<typeof api.apiKeys.list> {}

/** Input of `apiKeys.rotate`. */
export interface ApiKeyRotateInput extends Body<typeof api.apiKeys.rotate> {}

/** Input of `invites.create`. */
export interface InviteCreateInput extends Body<typeof api.invites.create> {}

/** Input of `invites.list`. */
export interface InviteListQuery extends List<typeof api.invites.list> {}

/** Input of `vaults.create`. */
export interface VaultFields extends Body<typeof api.vaults.create> {}

/** Input of `vaults.list`. */
export interface VaultListQuery extends List<typeof api.vaults.list> {}

/** Input of `vaults.update`. */
export interface VaultUpdateInput extends Body<typeof api.vaults.update> {}

/** Input of `vaults.restore`. */
export interface VaultRestoreInput extends Body<typeof api.vaults.restore> {}

/** Input of `folders.create`. */
export interface FolderCreateInput extends Omit<Body<typeof api.folders.create>, "shared"> {}

/** Input of `folders.list`. */
export interface FolderListQuery extends Omit<List<typeof api.folders.list>, "nameIndex"> {}

/** Input of `folders.update`. */
export interface FolderUpdateInput extends Omit<Body<typeof api.folders.update>, "shared"> {}

/** Input of `folders.restore`. */
export interface FolderRestoreInput extends Omit<Body<typeof api.folders.restore>, "shared"> {}

/** Input of `folders.entries`. */
export interface FolderEntriesQuery extends List<typeof api.folders.entries> {}

/** Input of `files.list`. */
export interface FileListQuery extends Omit<List<typeof api.files.list>, "nameIndex"> {}

/** Input of `files.restore`. */
export interface FileRestoreInput extends Omit<Body<typeof api.files.restore>, "shared"> {}

/** Input of `files.versions`. */
export interface FileVersionsQuery extends List<typeof api.files.versions> {}

/** Input of `files.entries`. */
export interface FileEntriesQuery extends List<typeof api.files.entries> {}

/** Input of `files.search`. */
export interface FileSearchQuery extends List<typeof api.files.search> {}

/** Input of `trash.list`. */
export interface TrashListQuery extends Omit<List<typeof api.trash.list>, "kind"> {}

/** Input of `trash.empty`. */
export interface TrashEmptyQuery extends Query<typeof api.trash.empty> {}

/** Input of `billing.checkout`. */
export interface BillingCheckoutInput extends Body<typeof api.billing.checkout> {}

/** Input of `billing.changePlan`. */
export interface BillingChangePlanInput extends Body<typeof api.billing.changePlan> {}

/** Input of `audit.list`. */
export interface AuditListQuery extends List<typeof api.audit.list> {}

/** Input of `webhooks.list`. */
export interface WebhookListQuery extends List<typeof api.webhooks.list> {}

/** Input of `webhooks.create`. */
export interface WebhookCreateInput extends Body<typeof api.webhooks.create> {}

/** Input of `webhooks.update`. */
export interface WebhookUpdateInput extends Body<typeof api.webhooks.update> {}

/** Input of `webhooks.deliveries`. */
export interface WebhookDeliveriesQuery extends List<typeof api.webhooks.deliveries> {}

/** Input of `webhooks.recover`. */
export interface WebhookRecoverInput extends Body<typeof api.webhooks.recover> {}

/** Input of `changes.list`. */
export interface ChangeListQuery extends List<typeof api.changes.list> {}
