// Made by `npm run generate` from the contract: change packages/contract, not this file.
import type { EventKind, Scope } from "@coffer/contract";

/** One of these words. A later version of the service may add others. */
export type OpenEnum<Word extends string> = Word | (string & Record<never, never>);

/** An account with its plan, its use and its limits. */
export interface Account {
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** E-mail address in lower case. */
  readonly email: string;
  /** Whether the address was verified. Billing needs it; files and vaults do not. */
  readonly emailVerified: boolean;
  /** Name for people to read. null: none was given. */
  readonly name: string | null;
  /**
   * `owner`: may do everything its scopes allow. `agent`: may not manage vaults, keys, members, billing or webhooks.
   */
  readonly accessLevel: OpenEnum<"owner" | "agent">;
  /** Sui address: `0x` and 64 lower-case hex digits. null: none is linked. */
  readonly chainAddress: string | null;
  /** `zklogin`: made by a zkLogin sign-in. `external`: linked with a signature. null: no address. */
  readonly chainAddressSource: OpenEnum<"zklogin" | "external"> | null;
  /** `free` or `pro`. It sets the limits of the account. */
  readonly plan: OpenEnum<"free" | "pro">;
  /** What the account stores now, trash included. */
  readonly usage: AccountUsage;
  /** What the plan allows. */
  readonly limits: AccountLimits;
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  readonly createdAt: string;
}

/** What an account stores. */
export interface AccountUsage {
  /** Stored bytes, trash and kept versions included. */
  readonly bytes: number;
  /** Number of files, trash included. */
  readonly files: number;
  /** Bytes of replaced versions that are kept. They are part of `bytes`. */
  readonly versionBytes: number;
}

/** What the plan of an account allows. */
export interface AccountLimits {
  /** Most bytes the account may store. */
  readonly storageBytes: number;
  /** Most bytes of one file. */
  readonly fileBytes: number;
  /** Most bytes of one plain upload. Larger files use resumable uploads. */
  readonly rawUploadBytes: number;
  /** Most vaults the account may have. */
  readonly vaults: number;
  /** Most active API keys. */
  readonly apiKeys: number;
  /** Most open invites. */
  readonly invites: number;
  /** Most levels of folders inside each other. */
  readonly folderDepth: number;
}

/** The credential of a call, and its rights. */
export interface Credential {
  /** `api-key`, `session` or `development`. */
  readonly kind: OpenEnum<"api-key" | "session" | "development">;
  /** UUID of the API key or session. null: a development header. */
  readonly id: string | null;
  /** Name of the API key. null: the credential has none. */
  readonly name: string | null;
  /** Sui address: `0x` and 64 lower-case hex digits. null: none. */
  readonly chainAddress: string | null;
  /** What it may do, such as `files:read`. null: everything its access level allows. */
  readonly scopes: OpenEnum<Scope>[] | null;
  /** UUIDs of the vaults it may use. null: every vault of the account. */
  readonly vaultIds: string[] | null;
  /** When it ends: RFC 3339 in UTC. null: never. */
  readonly expiresAt: string | null;
  /** How much the key may store, write and ask. null: it has no budgets. */
  readonly budgets: Budgets | null;
  /** What is used and left of each budget that the key has. null: it has none. */
  readonly budgetUse: BudgetUses | null;
}

/** How much a key may store, write and ask. */
export interface Budgets {
  /** Bytes that the key stored and that are in storage now, trash and versions included. Default: no budget. */
  readonly storedBytes?: number | undefined;
  /** Bytes of files and versions that it may write within any 24 hours. Default: no budget. */
  readonly bytesPerDay?: number | undefined;
  /** Files and versions that it may write within any 24 hours, restored versions included. Default: no budget. */
  readonly filesPerDay?: number | undefined;
  /** Requests a minute. Each process of the service counts for itself. Default: no budget. */
  readonly requestsPerMinute?: number | undefined;
}

/** What a key has used of its budgets. */
export interface BudgetUses {
  /** Use of the budget of stored bytes. */
  readonly storedBytes?: BudgetUse | undefined;
  /** Use of the budget of written bytes. Written bytes count for 24 hours, and at most 15 minutes more. */
  readonly bytesPerDay?: BudgetUse | undefined;
  /** Use of the budget of written files and versions. Each counts for 24 hours, and at most 15 minutes more. */
  readonly filesPerDay?: BudgetUse | undefined;
  /** Use of the budget of requests, in the process that answers. */
  readonly requestsPerMinute?: BudgetUse | undefined;
}

/** What is used and left of one budget. */
export interface BudgetUse {
  /** How much is used, unfinished uploads included: bytes, files or requests. */
  readonly used: number;
  /** How much is left now: bytes, files or requests. */
  readonly left: number;
  /** When more is left, if nothing is used meanwhile: RFC 3339 in UTC. null: time changes nothing. */
  readonly renewsAt: string | null;
}

/** Result of `account.get`. */
export interface AccountWithCredential {
  /** The account as it is now. */
  readonly account: Account;
  /** The credential of this call. It never holds the secret. */
  readonly credential: Credential;
}

/** An API key, without the key itself. */
export interface ApiKey {
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** Name that the owner chose. */
  readonly name: string;
  /** First characters of the key, up to its underscore. */
  readonly prefix: string;
  /** Last four characters of the key, to tell keys apart. */
  readonly last4: string;
  /** What it may do, such as `files:read`. null: everything its access level allows. */
  readonly scopes: OpenEnum<Scope>[] | null;
  /** UUIDs of the vaults it may use. null: every vault of the account. */
  readonly vaultIds: string[] | null;
  /** Sui address: `0x` and 64 lower-case hex digits. null: none. */
  readonly chainAddress: string | null;
  /** How much the key may store, write and ask. null: it has no budgets. */
  readonly budgets: Budgets | null;
  /** Ed25519 public key that proved the address: 32 bytes in base64. null: another kind of signer did. */
  readonly chainPublicKey: string | null;
  /**
   * `owner`: may do everything its scopes allow. `agent`: may not manage vaults, keys, members, billing or webhooks.
   */
  readonly accessLevel: OpenEnum<"owner" | "agent">;
  /** What is used and left of each budget that the key has. null: it has none. */
  readonly budgetUse: BudgetUses | null;
  /** When it ends: RFC 3339 in UTC. null: never. */
  readonly expiresAt: string | null;
  /** When it was last used: RFC 3339 in UTC. null: never. */
  readonly lastUsedAt: string | null;
  /** When it was revoked: RFC 3339 in UTC. null: it was not. */
  readonly revokedAt: string | null;
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  readonly createdAt: string;
}

/** A new API key. Only this result holds the key itself. */
export interface CreatedApiKey {
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** Name that the owner chose. */
  readonly name: string;
  /** The full API key. It is a secret and is shown once. */
  readonly key: string;
  /** First characters of the key, up to its underscore. */
  readonly prefix: string;
  /** What it may do, such as `files:read`. null: everything its access level allows. */
  readonly scopes: OpenEnum<Scope>[] | null;
  /** UUIDs of the vaults it may use. null: every vault of the account. */
  readonly vaultIds: string[] | null;
  /** Sui address: `0x` and 64 lower-case hex digits. null: none. */
  readonly chainAddress: string | null;
  /** How much the key may store, write and ask. null: it has no budgets. */
  readonly budgets: Budgets | null;
  /** When it ends: RFC 3339 in UTC. null: never. */
  readonly expiresAt: string | null;
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  readonly createdAt: string;
}

/** A change of an account, as ids. */
export interface Change {
  /** Number of the change in the account. Later changes have higher numbers. 0: a test. */
  readonly sequence: number;
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** The action, such as `file.uploaded`. */
  readonly kind: string;
  /** When it was done: RFC 3339 in UTC. */
  readonly occurredAt: string;
  /** The actor. */
  readonly actor: EventActor;
  /** The object of the change, as ids. */
  readonly object: ChangeObject;
  /** Name of the file or folder as it is now. null: it has none, is gone, or this client cannot read it. */
  readonly name: string | null;
  /** In a shared vault: the actor, if its signature on the object as it is now proves that. null: nothing does. */
  readonly author: Author | null;
}

/** What a change is about. */
export interface ChangeObject {
  /** Kind of the object, such as `file` or `vault`. */
  readonly type: string;
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** UUID of its vault. null: it belongs to none. */
  readonly vaultId: string | null;
  /** UUID of the folder that it was in after the change. null: it was in none. */
  readonly folderId: string | null;
  /** Content of the file after the change. null: it is no file. */
  readonly versionId: string | null;
  /** Bytes of that content. null: it is no file. */
  readonly size: number | null;
}

/** An entry of the audit log, chained to the one before it. */
export interface AuditEvent {
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** The action, such as `api_key.created`. */
  readonly action: string;
  /** When it was done: RFC 3339 in UTC. */
  readonly occurredAt: string;
  /** The actor. */
  readonly actor: AuditActor;
  /** The objects of the action. */
  readonly targets: AuditTarget[];
  /** The request that did it. */
  readonly context: AuditContext;
  /** Place of the entry in the account's chain: 1, 2, 3 … without gaps. */
  readonly sequence: number;
  /** Hash of the entry before: 64 hex digits. 64 zeros: this is the first. */
  readonly previousHash: string;
  /** SHA-256 of this entry's text, which includes the previous hash: 64 lower-case hex digits. */
  readonly hash: string;
}

/** The actor of an audit entry. */
export interface AuditActor {
  /** `api-key`, `session`, `development`, `invite`, `operator` or `system`. */
  readonly type: OpenEnum<"api-key" | "session" | "development" | "invite" | "operator" | "system">;
  /** UUID of the key, session or invite. null: the actor has none. */
  readonly id: string | null;
  /** `owner` or `agent`. null: the actor used no credential of the account. */
  readonly accessLevel: OpenEnum<"owner" | "agent"> | null;
  /** Sui address: `0x` and 64 lower-case hex digits. null: none. */
  readonly chainAddress: string | null;
}

/** What an audit entry is about. */
export interface AuditTarget {
  /** Kind of the target, such as `file` or `vault`. */
  readonly type: string;
  /** Identifier of the target. */
  readonly id: string;
  /** UUID of the vault. */
  readonly vaultId?: string | undefined;
}

/** The request behind an audit entry. */
export interface AuditContext {
  /** The X-Request-Id of the answer. null: no request did it. */
  readonly requestId: string | null;
  /** Network address of the client as the service saw it. null: unknown. */
  readonly location: string | null;
  /** What the client called itself, at most 200 characters. Do not trust it. null: nothing was sent. */
  readonly userAgent: string | null;
}

/** The tokens of a session. */
export interface SessionTokens {
  /** Send it as `Authorization: Bearer …`. It is a secret and lasts 15 minutes. */
  readonly accessToken: string;
  /** Secret that gets the next pair of tokens. Each works once; a second use ends the session. */
  readonly refreshToken: string;
  /** Seconds until the access token ends. */
  readonly expiresIn: number;
  /** Seconds until the refresh token ends: 30 days, less near the end of the session. */
  readonly refreshExpiresIn: number;
}

/** The tokens of a new session, and its account. */
export interface SignedIn {
  /** Send it as `Authorization: Bearer …`. It is a secret and lasts 15 minutes. */
  readonly accessToken: string;
  /** Secret that gets the next pair of tokens. Each works once; a second use ends the session. */
  readonly refreshToken: string;
  /** Seconds until the access token ends. */
  readonly expiresIn: number;
  /** Seconds until the refresh token ends: 30 days, less near the end of the session. */
  readonly refreshExpiresIn: number;
  /** The account that signed in. */
  readonly user: Account;
}

/** A sentence to show to the person. */
export interface AuthMessage {
  /** A sentence for the person. It is the same whether or not an account exists. */
  readonly message: string;
}

/** The plan of an account, and what pays for it. */
export interface Billing {
  /** `free` or `pro`. It sets the limits of the account. */
  readonly plan: OpenEnum<"free" | "pro">;
  /** The subscription with the payment provider. null: nothing is paid for. */
  readonly subscription: Subscription | null;
}

/** A subscription with the payment provider. */
export interface Subscription {
  /** `free` or `pro`. It sets the limits of the account. */
  readonly plan: OpenEnum<"free" | "pro">;
  /** `active`, `ending` or `ended`. */
  readonly status: OpenEnum<"active" | "ending" | "ended">;
  /** When the subscription began: RFC 3339 in UTC. */
  readonly since: string;
}

/** Where to pay for a plan. */
export interface CheckoutPage {
  /** Address to open, as an absolute URL. */
  readonly url: string;
}

/** A new account of a service in development, with its key. */
export interface DevelopmentAccount {
  /** UUID of the new account. */
  readonly id: string;
  /** E-mail address in lower case. */
  readonly email: string;
  /** The full API key. It is a secret and is shown once. */
  readonly apiKey: string;
  /** Reminds you that the key is shown once. */
  readonly warning: string;
}

/**
 * A file's metadata. In a shared vault that this client can open, `name`, `contentType` and `size` are those of
 * the content. If it cannot, `name` is "", `size` is that of the stored bytes, and `unreadable` says why.
 */
export interface File {
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** UUID of the content. Every new content gets a new one. */
  readonly versionId: string;
  /** Raised by every rename, move, trash and restore. A change can name it in `If-Match`, to act on no other. */
  readonly revision: number;
  /** Name of the file. "": only members can read it. */
  readonly name: string;
  /** Bytes of the content. If this client cannot open it: stored bytes, after encryption. */
  readonly size: number;
  /** Media type, such as `text/plain`. */
  readonly contentType: string;
  /** SHA-256 of the stored bytes: 64 lower-case hex digits. */
  readonly sha256: string;
  /** UUID of the vault. */
  readonly vaultId: string;
  /** UUID of the folder. null: the top of the vault. */
  readonly folderId: string | null;
  /** Whether the stored bytes are encrypted by the client. */
  readonly encrypted: boolean;
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  readonly createdAt: string;
  /** When it last changed: RFC 3339 in UTC, with milliseconds. */
  readonly updatedAt: string;
  /**
   * The caller that made it. In a shared vault: the signer of its first entry, as long as no other has followed.
   * null: not noted, or nothing proves it.
   */
  readonly createdBy: Author | null;
  /**
   * The caller that last changed it. In a shared vault: the signer of its current content, name or place. null: not
   * noted, or nothing proves it.
   */
  readonly updatedBy: Author | null;
  /** When it was moved to the trash: RFC 3339 in UTC. null: it is not in the trash. */
  readonly trashedAt: string | null;
  /** Stored bytes of a file in a shared vault that this client can open. Absent: `size` is that number. */
  readonly storedSize?: number;
  /** Why this client cannot open it, as a code such as `not_a_member` or `damaged`. Absent: it is readable. */
  readonly unreadable?: string;
  /** What `ifMatch` of a change names. In a shared vault this client computes it of the signed statements that it shows. Absent: it cannot open them. */
  readonly tag?: string;
}

/**
 * A content that a file has, or had and keeps. In a shared vault `unreadable` says why this client cannot verify
 * it.
 */
export interface FileVersion {
  /** Place in the file's past, from 1. Numbers of versions that are gone are missing. */
  readonly number: number;
  /** UUID of the content. Every new content gets a new one. */
  readonly versionId: string;
  /** Bytes of the content. If this client cannot open it: stored bytes, after encryption. */
  readonly size: number;
  /** Media type, such as `text/plain`. */
  readonly contentType: string;
  /** SHA-256 of the stored bytes: 64 lower-case hex digits. */
  readonly sha256: string;
  /**
   * The caller that made it, with its credential as it was then. A member of another account has its address alone.
   * null: not noted.
   */
  readonly author: Author | null;
  /** How it came: `upload`, `replace` or `restore`. */
  readonly how: OpenEnum<"upload" | "replace" | "restore">;
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  readonly createdAt: string;
  /** When it is deleted: RFC 3339 in UTC. null: the current version, which stays. */
  readonly expiresAt: string | null;
  /** Stored bytes of a version in a shared vault that this client can open. Absent: `size` is that number. */
  readonly storedSize?: number;
  /** Why this client cannot open it, as a code such as `not_a_member` or `damaged`. Absent: it is readable. */
  readonly unreadable?: string;
}

/**
 * A name and place that a file has, or had and keeps. In a shared vault, an entry that this client cannot verify
 * has the name "", and `unreadable` says why.
 */
export interface FileEntry {
  /** Place in the item's past, from 1. Numbers of entries that are gone are missing. */
  readonly number: number;
  /** Name at that time. "": this client cannot read or verify it. */
  readonly name: string;
  /** UUID of the vault. */
  readonly vaultId: string;
  /**
   * The caller that made it, with its credential as it was then. A member of another account has its address alone.
   * null: not noted.
   */
  readonly author: Author | null;
  /**
   * How it came: `create`, `rename`, `move`, `restore`, or `content`: new content under the same name, in shared
   * vaults.
   */
  readonly how: OpenEnum<"create" | "rename" | "move" | "restore" | "content">;
  /** When it got this name or place: RFC 3339 in UTC, with milliseconds. */
  readonly createdAt: string;
  /** When it is forgotten: RFC 3339 in UTC. null: the current entry, which stays. */
  readonly expiresAt: string | null;
  /** UUID of the folder. null: the top of the vault. */
  readonly folderId: string | null;
  /** Why this client cannot open it, as a code such as `not_a_member` or `damaged`. Absent: it is readable. */
  readonly unreadable?: string;
}

/** The same of a folder. */
export interface FolderEntry {
  /** Place in the item's past, from 1. Numbers of entries that are gone are missing. */
  readonly number: number;
  /** Name at that time. "": only members can read it. */
  readonly name: string;
  /** UUID of the vault. */
  readonly vaultId: string;
  /**
   * The caller that made it, with its credential as it was then. A member of another account has its address alone.
   * null: not noted.
   */
  readonly author: Author | null;
  /**
   * How it came: `create`, `rename`, `move`, `restore`, or `content`: new content under the same name, in shared
   * vaults.
   */
  readonly how: OpenEnum<"create" | "rename" | "move" | "restore" | "content">;
  /** When it got this name or place: RFC 3339 in UTC, with milliseconds. */
  readonly createdAt: string;
  /** When it is forgotten: RFC 3339 in UTC. null: the current entry, which stays. */
  readonly expiresAt: string | null;
  /** UUID of the folder that holds it. null: the top of the vault. */
  readonly parentId: string | null;
  /** Why this client cannot open it, as a code such as `not_a_member` or `damaged`. Absent: it is readable. */
  readonly unreadable?: string;
}

/** The caller that made or changed something. */
export interface Author {
  /** Kind of the credential: `api-key`, `session` or `development`. `member`: the signer, in a shared vault. */
  readonly kind: OpenEnum<"api-key" | "session" | "development">;
  /** UUID of the API key or of the session. null: the development rule. */
  readonly id: string | null;
  /** Name of the API key. null: it is no key. */
  readonly name: string | null;
  /** Sui address of the credential: `0x` and 64 lower-case hex digits. null: it has none. */
  readonly chainAddress: string | null;
  /** true: this client has verified the signature of `chainAddress`. Absent: the service says so. */
  readonly verified?: true;
}

/** A folder. In a shared vault that this client cannot open, `name` is "" and `unreadable` says why. */
export interface Folder {
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** Raised by every rename, move, trash and restore. A change can name it in `If-Match`, to act on no other. */
  readonly revision: number;
  /** Name of the folder. "": only members can read it. */
  readonly name: string;
  /** UUID of the vault. */
  readonly vaultId: string;
  /** UUID of the folder that holds it. null: the top of the vault. */
  readonly parentId: string | null;
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  readonly createdAt: string;
  /** When it last changed: RFC 3339 in UTC, with milliseconds. */
  readonly updatedAt: string;
  /**
   * The caller that made it. In a shared vault: the signer of its first entry, as long as no other has followed.
   * null: not noted, or nothing proves it.
   */
  readonly createdBy: Author | null;
  /**
   * The caller that last changed it. In a shared vault: the signer of its current content, name or place. null: not
   * noted, or nothing proves it.
   */
  readonly updatedBy: Author | null;
  /** When it was moved to the trash: RFC 3339 in UTC. null: it is not in the trash. */
  readonly trashedAt: string | null;
  /** Why this client cannot open it, as a code such as `not_a_member` or `damaged`. Absent: it is readable. */
  readonly unreadable?: string;
  /** What `ifMatch` of a change names. In a shared vault this client computes it of the signed statements that it shows. Absent: it cannot open them. */
  readonly tag?: string;
}

/** Where to send the browser for a sign-in. */
export interface Authorization {
  /** Address to open, as an absolute URL. */
  readonly url: string;
  /** Opaque text of this sign-in. The callback must bring the same text. It lasts 10 minutes. */
  readonly state: string;
}

/** The first step's result of a zkLogin sign-in. */
export interface ZkloginTokens {
  /** Signed token of the identity provider (JWT). It is a secret. */
  readonly idToken: string;
  /** The user's Sui address: `0x` and 64 lower-case hex digits. */
  readonly chainAddress: string;
  /** The user's zkLogin salt, a decimal number. Every proof needs it again. Keep it secret. */
  readonly salt: string;
}

/** A session that began with zkLogin. */
export interface ZkloginSession {
  /** Send it as `Authorization: Bearer …`. It is a secret and lasts 15 minutes. */
  readonly accessToken: string;
  /** Secret that gets the next pair of tokens. Each works once; a second use ends the session. */
  readonly refreshToken: string;
  /** Seconds until the access token ends. */
  readonly expiresIn: number;
  /** Seconds until the refresh token ends: 30 days, less near the end of the session. */
  readonly refreshExpiresIn: number;
  /** The user's Sui address: `0x` and 64 lower-case hex digits. */
  readonly chainAddress: string;
  /** The user's zkLogin salt, a decimal number. Every proof needs it again. Keep it secret. */
  readonly salt: string;
  /** The zkLogin proof, as the prover made it. null: none was sent or made. */
  readonly proof: ZkloginProof | null;
}

/** The inputs of a zkLogin signature. */
export interface ZkloginProof {
  /** The three points of the proof, as decimal numbers. */
  readonly proofPoints: ZkloginProofPoints;
  /** Where the issuer is in the token. */
  readonly issBase64Details: ZkloginIssuer;
  /** Header of the token, in base64url. */
  readonly headerBase64: string;
  /** Seed of the chain address, a decimal number. */
  readonly addressSeed: string;
}

/** The points of a zkLogin proof. */
export interface ZkloginProofPoints {
  /** First point of the proof. */
  readonly a: string[];
  /** Second point of the proof: pairs of coordinates. */
  readonly b: string[][];
  /** Third point of the proof. */
  readonly c: string[];
}

/** The issuer in a signed token. */
export interface ZkloginIssuer {
  /** The issuer's part of the token, in base64url. */
  readonly value: string;
  /** Where that part begins in the token, modulo 4. */
  readonly indexMod4: number;
}

/** An invite, without its code. */
export interface Invite {
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** Name that the owner chose. */
  readonly name: string;
  /** `created`, `used`, `revoked` or `expired`. */
  readonly status: OpenEnum<"created" | "used" | "revoked" | "expired">;
  /** What it may do, such as `files:read`. null: everything its access level allows. */
  readonly scopes: OpenEnum<Scope>[] | null;
  /** UUIDs of the vaults it may use. null: every vault of the account. */
  readonly vaultIds: string[] | null;
  /** Budgets of the key that the invite makes. null: it has none. */
  readonly budgets: Budgets | null;
  /** When the key that the invite makes ends, and its memberships: RFC 3339 in UTC. null: never. */
  readonly accessUntil: string | null;
  /** When the invite ends: RFC 3339 in UTC. */
  readonly expiresAt: string;
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  readonly createdAt: string;
  /** When the invite was redeemed: RFC 3339 in UTC. null: it was not. */
  readonly usedAt: string | null;
  /** When it was revoked: RFC 3339 in UTC. null: it was not. */
  readonly revokedAt: string | null;
  /** UUID of the API key that redeeming made. null: not redeemed. */
  readonly keyId: string | null;
  /** Sui address: `0x` and 64 lower-case hex digits. null: none. */
  readonly chainAddress: string | null;
  /** What the redeemer sent to prove its address to you: 64 hex digits. null: nothing. */
  readonly addressProof: string | null;
  /** Ed25519 key that signs the redeemer's statements: 32 bytes in base64. null: its chain key does. */
  readonly signingKey: string | null;
  /** What is used and left of each budget that the key has. null: it has none. */
  readonly budgetUse: BudgetUses | null;
}

/** A new invite. Only this result holds its code. */
export interface CreatedInvite {
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** Name that the owner chose. */
  readonly name: string;
  /** The invite code. It is a secret, works once and is shown once. */
  readonly code: string;
  /** What it may do, such as `files:read`. null: everything its access level allows. */
  readonly scopes: OpenEnum<Scope>[] | null;
  /** UUIDs of the vaults it may use. null: every vault of the account. */
  readonly vaultIds: string[] | null;
  /** How much the key may store, write and ask. null: it has no budgets. */
  readonly budgets: Budgets | null;
  /** When the key that the invite makes ends, and its memberships: RFC 3339 in UTC. null: never. */
  readonly accessUntil: string | null;
  /** When the invite ends: RFC 3339 in UTC. */
  readonly expiresAt: string;
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  readonly createdAt: string;
}

/** The key that an invite gave. Only this result holds it. */
export interface RedeemedInvite {
  /** The full API key. It is a secret and is shown once. */
  readonly key: string;
  /** UUID of the new API key. */
  readonly keyId: string;
  /** UUID of the account that made the invite. */
  readonly accountId: string;
  /** What it may do, such as `files:read`. null: everything its access level allows. */
  readonly scopes: OpenEnum<Scope>[] | null;
  /** UUIDs of the vaults it may use. null: every vault of the account. */
  readonly vaultIds: string[] | null;
  /** How much the key may store, write and ask. null: it has no budgets. */
  readonly budgets: Budgets | null;
  /** Sui address: `0x` and 64 lower-case hex digits. null: none. */
  readonly chainAddress: string;
  /**
   * `owner`: may do everything its scopes allow. `agent`: may not manage vaults, keys, members, billing or webhooks.
   */
  readonly accessLevel: OpenEnum<"agent">;
  /** When it ends: RFC 3339 in UTC. null: never. */
  readonly expiresAt: string | null;
}

/** A web session. */
export interface Session {
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** How the session began: `password`, `idp` or `zklogin`. */
  readonly method: OpenEnum<"password" | "idp" | "zklogin">;
  /** Whether this call was made with this session. */
  readonly current: boolean;
  /** What the client called itself, at most 200 characters. Do not trust it. null: nothing was sent. */
  readonly userAgent: string | null;
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  readonly createdAt: string;
  /** When the session was last refreshed: RFC 3339 in UTC. */
  readonly lastUsedAt: string;
  /** When the newest refresh token ends: RFC 3339 in UTC. */
  readonly expiresAt: string;
}

/** What emptying the trash left alone. */
export interface EmptiedTrash {
  /** Shared vaults whose trash was left alone. Empty each by its id, with the owner's proof. */
  readonly leftVaults: LeftVault[];
}

/** A shared vault whose trash was left alone. */
export interface LeftVault {
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** Name that the owner chose. */
  readonly name: string;
}

/** A vault. */
export interface Vault {
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** Name that the owner chose. */
  readonly name: string;
  /** `public`: the service can read the files. `shared`: only members can. */
  readonly type: OpenEnum<"public" | "shared">;
  /** Sui id of the vault's allowlist: `0x` and 64 lower-case hex digits. null: a public vault. */
  readonly chainObjectId: string | null;
  /** Whether files go here when you name no vault. The default vault cannot be deleted. */
  readonly isDefault: boolean;
  /**
   * `owner`: the vault is yours. `agent`: it is the account's whose agent you are. `member`: it belongs to another
   * account, whose storage it uses.
   */
  readonly role: OpenEnum<"owner" | "agent" | "member">;
  /** Number that rises when the vault changes keys. null: a public vault. */
  readonly generation: number | null;
  /** Whether the service can read file and folder names. Fixed at creation. null: a public vault. */
  readonly plainNames: boolean | null;
  /** Days that replaced versions stay. null: as the service's setting says. */
  readonly keepVersionsDays: number | null;
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  readonly createdAt: string;
  /** When it last changed: RFC 3339 in UTC, with milliseconds. */
  readonly updatedAt: string;
  /** When it was moved to the trash: RFC 3339 in UTC. null: it is not in the trash. */
  readonly trashedAt: string | null;
}

/** A member of a shared vault, as the service and the chain see it. */
export interface VaultMember {
  /** The member's Sui address: `0x` and 64 lower-case hex digits. */
  readonly chainAddress: string;
  /** `owner` or `member` of the vault. */
  readonly role: OpenEnum<"owner" | "member">;
  /** Note of the owner about the member. "": none. */
  readonly label: string;
  /** What the service and the chain each know about the member. */
  readonly layers: VaultMemberLayers;
  /** Generation in which the member joined. null: the chain does not name it. */
  readonly since: number | null;
  /** When access ends or ended by itself: RFC 3339 in UTC. null: no end was set. */
  readonly endsAt: string | null;
  /** When the service recorded the member: RFC 3339 in UTC. null: it did not. */
  readonly addedAt: string | null;
}

/** What the service and the chain know about a member. */
export interface VaultMemberLayers {
  /** Whether the service serves the vault to the address: `active`, `ended` or `none`. */
  readonly service: OpenEnum<"active" | "ended" | "none">;
  /** Whether the allowlist names the address: `active`, `ended` or `none`. `unknown`: the chain did not answer. */
  readonly chain: OpenEnum<"active" | "ended" | "none" | "unknown">;
}

/** A webhook endpoint. */
export interface Webhook {
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** Where deliveries are sent. */
  readonly url: string;
  /** Kinds of events that are sent. `*`: every kind. */
  readonly events: OpenEnum<EventKind | "*">[];
  /** Whether events are delivered. false: the endpoint is paused. */
  readonly active: boolean;
  /** Note for people to read. "": none. */
  readonly description: string;
  /** How the newest delivery went: `none`, `pending`, `success` or `failed`. */
  readonly lastDeliveryStatus: OpenEnum<"none" | "pending" | "success" | "failed">;
  /** When the newest delivery happened: RFC 3339 in UTC. null: none yet. */
  readonly lastDeliveryAt: string | null;
  /** Failed deliveries in a row. A success sets it to 0. */
  readonly failureCount: number;
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  readonly createdAt: string;
  /** When it last changed: RFC 3339 in UTC, with milliseconds. */
  readonly updatedAt: string;
}

/** A new webhook endpoint. Only this result holds its secret. */
export interface CreatedWebhook {
  /** The endpoint as it is now. */
  readonly webhook: Webhook;
  /** Key that signs the deliveries. It is a secret and is shown once. */
  readonly secret: string;
}

/** The new secret of a webhook endpoint. */
export interface RotatedSecret {
  /** Key that signs the deliveries. It is a secret and is shown once. */
  readonly secret: string;
  /** Until when the old secret signs too: RFC 3339 in UTC, 24 hours after the change. */
  readonly previousSecretExpiresAt: string;
}

/** A message to a webhook endpoint, and how it went. */
export interface Delivery {
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** Kind of the event, such as `file.uploaded`. */
  readonly event: string;
  /** The `webhook-id` header of every attempt. Use it to drop repeats. */
  readonly messageId: string;
  /** Number of the change in the account. Later changes have higher numbers. 0: a test. */
  readonly sequence: number;
  /** `pending`, `delivering`, `success` or `failed`. */
  readonly status: OpenEnum<"pending" | "delivering" | "success" | "failed">;
  /** HTTP status of the newest attempt. 0: no answer. */
  readonly httpStatus: number;
  /** Number of attempts so far. */
  readonly attempts: number;
  /** Most attempts: 10 for an event, 1 for a test. */
  readonly maxAttempts: number;
  /** Why the newest attempt failed, such as `timeout` or `HTTP 500`. "": it did not fail. */
  readonly lastError: string;
  /** When the newest attempt began: RFC 3339 in UTC. null: none yet. */
  readonly lastAttemptAt: string | null;
  /** When the next attempt is due: RFC 3339 in UTC. null: there will be none. */
  readonly nextAttemptAt: string | null;
  /** When the delivery succeeded or failed for good: RFC 3339 in UTC. null: not yet. */
  readonly completedAt: string | null;
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  readonly createdAt: string;
}

/** One try to deliver a message. */
export interface DeliveryAttempt {
  /** Number of the attempt, from 1. */
  readonly number: number;
  /** `scheduled`, `manual` after you asked for it again, or `test`. */
  readonly trigger: OpenEnum<"scheduled" | "manual" | "test">;
  /** HTTP status of the answer. 0: no answer. */
  readonly httpStatus: number;
  /** Why the attempt failed. "": it did not. */
  readonly error: string;
  /** How long the attempt took, in milliseconds. */
  readonly duration: number;
  /** What the receiver answered, at most 16 KiB. Do not trust it. */
  readonly responseBody: string;
  /** When the attempt began: RFC 3339 in UTC. */
  readonly at: string;
}

/** A delivery with all of its attempts. */
export interface DeliveryDetails {
  /** The delivery as it is now. */
  readonly delivery: Delivery;
  /** Every attempt of the delivery. */
  readonly attempts: DeliveryAttempt[];
}

/** A kind of event that you can subscribe to. */
export interface EventDescription {
  /** Name of the kind, such as `file.uploaded`. */
  readonly kind: string;
  /** When the event happens. */
  readonly description: string;
  /** JSON Schema 2020-12 of the payload. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** A payload as it would be sent. */
  readonly example: Readonly<Record<string, unknown>>;
}

/** The file of an event. */
export interface FileEventObject {
  /** Kind of the object. */
  readonly type: "file";
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** UUID of the vault. */
  readonly vaultId: string;
  /** UUID of the folder. null: the top of the vault. */
  readonly folderId: string | null;
  /** UUID of the content. Every new content gets a new one. */
  readonly versionId: string;
  /** Stored bytes, after encryption. */
  readonly size: number;
  /** Whether the stored bytes are encrypted by the client. */
  readonly encrypted: boolean;
}

/** The folder of an event. */
export interface FolderEventObject {
  /** Kind of the object. */
  readonly type: "folder";
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** UUID of the vault. */
  readonly vaultId: string;
  /** UUID of the folder that holds it. null: the top of the vault. */
  readonly parentId: string | null;
}

/** The vault of an event. */
export interface VaultEventObject {
  /** Kind of the object. */
  readonly type: "vault";
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** `public` or `shared`. */
  readonly vaultType: OpenEnum<"public" | "shared">;
}

/** The member of an event. */
export interface MemberEventObject {
  /** Kind of the object. */
  readonly type: "vault_member";
  /** Sui address of the member: `0x` and 64 lower-case hex digits. */
  readonly id: string;
  /** UUID of the vault. */
  readonly vaultId: string;
}

/** The member whose access ended. */
export interface EndedMemberEventObject {
  /** Kind of the object. */
  readonly type: "vault_member";
  /** Sui address of the member: `0x` and 64 lower-case hex digits. */
  readonly id: string;
  /** UUID of the vault. */
  readonly vaultId: string;
  /** When access ends or ended by itself: RFC 3339 in UTC. null: no end was set. */
  readonly endsAt: string;
}

/** The API key of an event. */
export interface ApiKeyEventObject {
  /** Kind of the object. */
  readonly type: "api_key";
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** Sui address: `0x` and 64 lower-case hex digits. null: none. */
  readonly chainAddress: string | null;
}

/** The invite of an event. */
export interface InviteEventObject {
  /** Kind of the object. */
  readonly type: "invite";
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
}

/** The invite that was redeemed. */
export interface RedeemedInviteEventObject {
  /** Kind of the object. */
  readonly type: "invite";
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** UUID of the API key that redeeming made. */
  readonly keyId: string;
  /** Sui address: `0x` and 64 lower-case hex digits. null: none. */
  readonly chainAddress: string;
}

/** The account of an event. */
export interface AccountEventObject {
  /** Kind of the object. */
  readonly type: "account";
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
}

/** The account whose plan changed. */
export interface PlanEventObject {
  /** Kind of the object. */
  readonly type: "account";
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
  /** `free` or `pro`. It sets the limits of the account. */
  readonly plan: OpenEnum<"free" | "pro">;
}

/** The endpoint that was tested. */
export interface WebhookEventObject {
  /** Kind of the object. */
  readonly type: "webhook";
  /** Identifier: a UUID in lower case. It never changes. */
  readonly id: string;
}

/** The actor of an event. */
export interface EventActor {
  /** `api-key`, `session`, `development`, `invite`, `operator` or `system`. */
  readonly type: OpenEnum<"api-key" | "session" | "development" | "invite" | "operator" | "system">;
  /** UUID of the key, session or invite. null: the actor has none. */
  readonly id: string | null;
  /** Sui address: `0x` and 64 lower-case hex digits. null: none. */
  readonly chainAddress: string | null;
}

/** What the event of each kind is about. */
export interface EventObjects {
  readonly "file.uploaded": FileEventObject;
  readonly "file.updated": FileEventObject;
  readonly "file.trashed": FileEventObject;
  readonly "file.restored": FileEventObject;
  readonly "file.deleted": FileEventObject;
  readonly "folder.created": FolderEventObject;
  readonly "folder.updated": FolderEventObject;
  readonly "folder.trashed": FolderEventObject;
  readonly "folder.restored": FolderEventObject;
  readonly "folder.deleted": FolderEventObject;
  readonly "vault.created": VaultEventObject;
  readonly "vault.updated": VaultEventObject;
  readonly "vault.trashed": VaultEventObject;
  readonly "vault.restored": VaultEventObject;
  readonly "vault.deleted": VaultEventObject;
  readonly "vault.member_added": MemberEventObject;
  readonly "vault.member_removed": MemberEventObject;
  readonly "vault.member_ended": EndedMemberEventObject;
  readonly "api_key.created": ApiKeyEventObject;
  readonly "api_key.revoked": ApiKeyEventObject;
  readonly "invite.created": InviteEventObject;
  readonly "invite.redeemed": RedeemedInviteEventObject;
  readonly "invite.revoked": InviteEventObject;
  readonly "account.email_verified": AccountEventObject;
  readonly "account.plan_changed": PlanEventObject;
  readonly "webhook.test": WebhookEventObject;
}

/** The list of a page, by its name. */
export interface PageLists<Item> {
  /** API keys, newest first. */
  readonly apiKeys: Item[];
  /** Changes, oldest first. A page may be empty and still have a next one. */
  readonly changes: Item[];
  /** Deliveries, newest first. Each is kept for 30 days. */
  readonly deliveries: Item[];
  /** Entries, newest first. Each is kept for 365 days. */
  readonly events: Item[];
  /** Files, newest first. */
  readonly files: Item[];
  /** Folders, newest first. */
  readonly folders: Item[];
  /** Invites, newest first. */
  readonly invites: Item[];
  /** Sessions, newest first. */
  readonly sessions: Item[];
  /** Vaults, newest first. */
  readonly vaults: Item[];
  /** Names and places, newest first. The first is the current one. */
  readonly entries: Item[];
  /** Versions, newest first. The first is the current one. */
  readonly versions: Item[];
  /** Webhook endpoints, newest first. */
  readonly webhooks: Item[];
}
