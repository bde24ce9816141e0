// Made by `npm run generate` from the contract: change packages/contract, not this file.
import type { EventKind, Scope } from "@coffer/contract";
import type { Budgets, ZkloginProof } from "./result-types.ts";

/** Input of `account.update`. */
export interface AccountUpdateInput {
  /** Name for people to read: 1 to 200 characters. null removes it. Default: unchanged. */
  readonly name?: string | null | undefined;
}

/** Input of `auth.signup`. */
export interface AuthSignupInput {
  /** E-mail address, at most 254 characters. Letters are stored in lower case. */
  readonly email: string;
  /** New password: 15 to 256 characters. */
  readonly password: string;
  /** Name for people to read: 1 to 200 characters. Default: none. */
  readonly name?: string | undefined;
  /** Code that lets a new person sign up. Default: none, where the operator asks for none. */
  readonly accessCode?: string | undefined;
}

/** Input of `auth.login`. */
export interface AuthLoginInput {
  /** E-mail address, at most 254 characters. Letters are stored in lower case. */
  readonly email: string;
  /** Password of the account. */
  readonly password: string;
}

/** Input of `auth.changePassword`. */
export interface AuthChangePasswordInput {
  /** The password as it is now. */
  readonly currentPassword: string;
  /** New password: 15 to 256 characters. */
  readonly newPassword: string;
}

/** Input of `auth.resetPassword`. */
export interface AuthResetPasswordInput {
  /** The token from the mailed link. It works once. */
  readonly token: string;
  /** New password: 15 to 256 characters. */
  readonly newPassword: string;
}

/** Input of `sessions.list`. */
export interface SessionListQuery {
  /** Most rows of one page: 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string | undefined;
}

/** Input of `identityProvider.authorize`. */
export interface IdentityProviderAuthorizeQuery {
  /** Code that lets a new person sign up. Default: none, where the operator asks for none. */
  readonly accessCode?: string | undefined;
}

/** Input of `identityProvider.authorizeZklogin`. */
export interface ZkloginAuthorizeFields {
  /** Code that lets a new person sign up. Default: none, where the operator asks for none. */
  readonly accessCode?: string | undefined;
}

/** Input of `identityProvider.callback`. */
export interface IdentityProviderCallbackInput {
  /** Code that the identity provider sent to your page. */
  readonly code: string;
  /** The `state` that the authorization gave. */
  readonly state: string;
}

/** Input of `identityProvider.zkloginToken`. */
export interface IdentityProviderZkloginTokenInput {
  /** Code that the identity provider sent to your page. */
  readonly code: string;
  /** The `state` that the authorization gave. */
  readonly state: string;
}

/** Input of `identityProvider.zkloginAuth`. */
export interface IdentityProviderZkloginAuthInputByCode {
  /** Code that the identity provider sent to your page. */
  readonly code: string;
  /** The `state` that the authorization gave. */
  readonly state: string;
  /** Public key of this sign-in with its flag byte, in base64. */
  readonly ephemeralPublicKey: string;
  /** Last chain epoch in which the ephemeral key may sign. */
  readonly maxEpoch: number;
  /** The random decimal number in the nonce. */
  readonly randomness: string;
}

/** Input of `identityProvider.zkloginAuth`. */
export interface IdentityProviderZkloginAuthInputByIdToken {
  /** Signed token of the identity provider (JWT). */
  readonly idToken: string;
  /** zkLogin proof of your own prover. Default: none is sent. */
  readonly proof?: ZkloginProof | undefined;
  /** Public key of this sign-in with its flag byte, in base64. */
  readonly ephemeralPublicKey: string;
  /** Last chain epoch in which the ephemeral key may sign. */
  readonly maxEpoch: number;
  /** The random decimal number in the nonce. */
  readonly randomness: string;
}

/** Input of `identityProvider.zkloginAuth`. */
export type IdentityProviderZkloginAuthInput =
  IdentityProviderZkloginAuthInputByCode | IdentityProviderZkloginAuthInputByIdToken;

/** Input of `development.signup`. */
export interface DevelopmentSignupInput {
  /** E-mail address, at most 254 characters. Letters are stored in lower case. */
  readonly email: string;
  /** Name for people to read: 1 to 200 characters. Default: none. */
  readonly name?: string | undefined;
}

/** Input of `apiKeys.create`. */
export interface ApiKeyCreateInput {
  /** Name of the key, for people to read: 1 to 200 characters. */
  readonly name: string;
  /** What it may do, such as `files:read`. Default: everything its access level allows. */
  readonly scopes?: Scope[] | undefined;
  /** UUIDs of the vaults it may use, 1 to 1,000. Default: every vault. */
  readonly vaultIds?: string[] | undefined;
  /** Days until the key ends: more than 0, at most 3,650; fractions are allowed. Default: with the credential of this call, or never. */
  readonly expiresInDays?: number | undefined;
  /** How much the key may store, write and ask. Default: the budgets of the credential of this call, counted together with it, or none. */
  readonly budgets?: Budgets | undefined;
}

/** Input of `apiKeys.list`. */
export interface ApiKeyListQuery {
  /** Most rows of one page: 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string | undefined;
}

/** Input of `apiKeys.rotate`. */
export interface ApiKeyRotateInput {
  /** Hours that the old key still works: 0 to 168. Default: 0, it ends at once. */
  readonly overlapHours?: number | undefined;
}

/** Input of `invites.create`. */
export interface InviteCreateInput {
  /** Name of the invite and of the key it makes: 1 to 200 characters. */
  readonly name: string;
  /** What it may do, such as `files:read`. Default: everything its access level allows. */
  readonly scopes?: Scope[] | undefined;
  /** UUIDs of the vaults it may use, 1 to 1,000. Default: every vault. */
  readonly vaultIds?: string[] | undefined;
  /** Hours until the invite ends: more than 0, at most 72; fractions are allowed. Default: 1. */
  readonly expiresInHours?: number | undefined;
  /** When the new key ends, and memberships that the invite leads to: RFC 3339 in UTC, a whole quarter of an hour. Not before the invite ends. Default: never. */
  readonly accessUntil?: string | undefined;
  /** How much the key may store, write and ask. Default: the budgets of the credential of this call, counted together with it, or none. */
  readonly budgets?: Budgets | undefined;
}

/** Input of `invites.list`. */
export interface InviteListQuery {
  /** Most rows of one page: 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string | undefined;
}

/** Input of `vaults.create`. */
export interface VaultFields {
  /** Name: at most 255 bytes of UTF-8. */
  readonly name: string;
  /** `public`: the service can read the files. `shared`: only members can. */
  readonly type: "public" | "shared";
  /** Sui id of the allowlist of a shared vault: `0x` and 64 hex digits. Default: none, for a public vault. */
  readonly chainObjectId?: string | undefined;
}

/** Input of `vaults.list`. */
export interface VaultListQuery {
  /** Most rows of one page: 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string | undefined;
  /** `public` or `shared`. Default: both. */
  readonly type?: "public" | "shared" | undefined;
  /** `true`: vaults of other accounts that have you as a member. Default: `false`. */
  readonly shared?: boolean | undefined;
  /** Lists only ids that begin with these 8 or more hex digits, dashes or not. Default: every id. */
  readonly idPrefix?: string | undefined;
}

/** Input of `vaults.update`. */
export interface VaultUpdateInput {
  /** New name. Default: unchanged. */
  readonly name?: string | undefined;
  /** Days that replaced versions stay, those kept already included: 1 to 365. null: as the service's setting says. Default: unchanged. */
  readonly keepVersionsDays?: number | null | undefined;
}

/** Input of `vaults.restore`. */
export interface VaultRestoreInput {
  /** Another name, if the old one is taken. Default: the old name. */
  readonly name?: string | undefined;
}

/** Input of `folders.create`. */
export interface FolderCreateInput {
  /** Name of the folder. Default: none, in a shared vault with encrypted names. */
  readonly name?: string | undefined;
  /** UUID of the vault. Default: the vault of `parentId`, else your default vault (`isDefault`), which is public. */
  readonly vaultId?: string | undefined;
  /** UUID of the folder to put it in. null or default: the top of the vault. */
  readonly parentId?: string | null | undefined;
}

/** Input of `folders.list`. */
export interface FolderListQuery {
  /** Most rows of one page: 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string | undefined;
  /** UUID of the only vault to list. Default: every vault you may read. */
  readonly vaultId?: string | undefined;
  /** Lists only what this folder holds; `root` is the top of a vault. Default: every folder. */
  readonly parentId?: string | undefined;
  /** `true`: only items in the trash. Default: `false`, only items outside it. */
  readonly trashed?: boolean | undefined;
  /** Lists only this exact name. Default: every name. */
  readonly name?: string | undefined;
  /** Lists only ids that begin with these 8 or more hex digits, dashes or not. Default: every id. */
  readonly idPrefix?: string | undefined;
}

/** Input of `folders.update`. */
export interface FolderUpdateInput {
  /** New name. Default: unchanged. */
  readonly name?: string | undefined;
  /** UUID of the folder to move to. null: the top of the vault. Default: unchanged. */
  readonly parentId?: string | null | undefined;
}

/** Input of `folders.restore`. */
export interface FolderRestoreInput {
  /** Another name, if the old one is taken. Default: the old name. */
  readonly name?: string | undefined;
}

/** Input of `folders.entries`. */
export interface FolderEntriesQuery {
  /** Most rows of one page: 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string | undefined;
}

/** Input of `files.list`. */
export interface FileListQuery {
  /** Most rows of one page: 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string | undefined;
  /** UUID of the only vault to list. Default: every vault you may read. */
  readonly vaultId?: string | undefined;
  /** Lists only this folder; `root` is the top of a vault. Default: every folder. */
  readonly folderId?: string | undefined;
  /** `true`: only items in the trash. Default: `false`, only items outside it. */
  readonly trashed?: boolean | undefined;
  /** Lists only this exact name. Default: every name. */
  readonly name?: string | undefined;
  /** Lists only ids that begin with these 8 or more hex digits, dashes or not. Default: every id. */
  readonly idPrefix?: string | undefined;
}

/** Input of `files.restore`. */
export interface FileRestoreInput {
  /** Another name, if the old one is taken. Default: the old name. */
  readonly name?: string | undefined;
}

/** Input of `files.versions`. */
export interface FileVersionsQuery {
  /** Most rows of one page: 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string | undefined;
}

/** Input of `files.entries`. */
export interface FileEntriesQuery {
  /** Most rows of one page: 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string | undefined;
}

/** Input of `files.search`. */
export interface FileSearchQuery {
  /** Most rows of one page: 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string | undefined;
  /** Words to find in names, at most 16 and 256 characters. Case and accents do not matter. Default: every name. */
  readonly q?: string | undefined;
  /** UUID of the only vault to search. Default: every vault of your account that you may read. */
  readonly vaultId?: string | undefined;
  /** Searches only this folder and all below it. Default: everywhere. */
  readonly folderId?: string | undefined;
  /** Media type such as `image/png`, or its first half such as `image/`. Default: every type. */
  readonly type?: string | undefined;
  /** Fewest stored bytes. Default: 0. */
  readonly minSize?: number | undefined;
  /** Most stored bytes. Default: any number. */
  readonly maxSize?: number | undefined;
  /** Only files made at this time or later: RFC 3339 in UTC. Default: from the first one on. */
  readonly since?: string | undefined;
  /** Only files made before this time: RFC 3339 in UTC. Default: up to now. */
  readonly until?: string | undefined;
  /** Only files of this author: the UUID of a key or session, or a chain address. Default: every author. */
  readonly by?: string | undefined;
  /** `true`: only items in the trash. Default: `false`, only items outside it. */
  readonly trashed?: boolean | undefined;
}

/** Input of `trash.list`. */
export interface TrashListQuery {
  /** Most rows of one page: 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string | undefined;
  /** UUID of the only vault to list. Default: every vault you may read. */
  readonly vaultId?: string | undefined;
}

/** Input of `trash.empty`. */
export interface TrashEmptyQuery {
  /** UUID of the only vault whose trash is emptied. Default: every public vault of yours. */
  readonly vaultId?: string | undefined;
}

/** Input of `billing.checkout`. */
export interface BillingCheckoutInput {
  /** `free` or `pro`. */
  readonly plan: "free" | "pro";
}

/** Input of `billing.changePlan`. */
export interface BillingChangePlanInput {
  /** `free` or `pro`. */
  readonly plan: "free" | "pro";
}

/** Input of `audit.list`. */
export interface AuditListQuery {
  /** Most rows of one page: 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string | undefined;
  /** Lists only this action or group, such as `api_key.created` or `api_key`. Default: every action. */
  readonly action?: string | undefined;
}

/** Input of `webhooks.list`. */
export interface WebhookListQuery {
  /** Most rows of one page: 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string | undefined;
}

/** Input of `webhooks.create`. */
export interface WebhookCreateInput {
  /** Address that receives deliveries: an absolute URL of at most 2,048 characters. */
  readonly url: string;
  /** Kinds of events to send. `*`: every kind. */
  readonly events: (EventKind | "*")[];
  /** Note for people to read, at most 500 characters. Default: empty. */
  readonly description?: string | undefined;
}

/** Input of `webhooks.update`. */
export interface WebhookUpdateInput {
  /** New address: an absolute URL of at most 2,048 characters. Default: unchanged. */
  readonly url?: string | undefined;
  /** Kinds of events to send from now on. `*`: every kind. Default: unchanged. */
  readonly events?: (EventKind | "*")[] | undefined;
  /** New note, at most 500 characters. Default: unchanged. */
  readonly description?: string | undefined;
  /** `false` pauses deliveries, `true` resumes them. Default: unchanged. */
  readonly active?: boolean | undefined;
}

/** Input of `webhooks.deliveries`. */
export interface WebhookDeliveriesQuery {
  /** Most rows of one page: 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string | undefined;
  /** Lists only deliveries with this status. Default: every status. */
  readonly status?: "pending" | "delivering" | "success" | "failed" | undefined;
}

/** Input of `webhooks.recover`. */
export interface WebhookRecoverInput {
  /** Sends failed deliveries again from this time on: RFC 3339 in UTC. */
  readonly since: string;
  /** Up to this time: RFC 3339 in UTC. Default: now. */
  readonly until?: string | undefined;
}

/** Input of `changes.list`. */
export interface ChangeListQuery {
  /** Most rows of one page: 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. Default: the first page. */
  readonly cursor?: string | undefined;
  /** Begins after this sequence number. Default: with the oldest change that is kept. */
  readonly after?: number | undefined;
  /** Lists only changes from this time on: RFC 3339 in UTC. Default: from the beginning. */
  readonly since?: string | undefined;
  /** Lists only changes up to this time: RFC 3339 in UTC. Default: to the end. */
  readonly until?: string | undefined;
  /** Lists only changes by this actor: the UUID of a key or session, or a chain address. Default: every actor. */
  readonly by?: string | undefined;
  /** Lists only changes in this vault. Members of another account need it. Default: every vault. */
  readonly vaultId?: string | undefined;
  /** Lists only changes of what lies in this folder. Default: every folder. */
  readonly folderId?: string | undefined;
  /** Lists only this kind or group, such as `file.uploaded` or `file`. Default: every kind. */
  readonly kind?: string | undefined;
  /** Seconds to wait for a change where there is none yet, 0 to 50. Default: the list ends with null as cursor. */
  readonly wait?: number | undefined;
}
