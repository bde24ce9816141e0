/** What the methods give back. The fields and their texts are the contract's, where this client does not change or add any. */
import type { api, EndpointDefinition, Output } from "@coffer/contract";
import type * as contract from "@coffer/contract";

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

/** The answer of an endpoint. */
type Answer<E extends EndpointDefinition> = Readonly<Output<E, never>>;

/** Result of `account.get`. */
export interface AccountWithCredential extends Answer<typeof api.account.get> {}

/** The tokens of a new session, and its account. */
export interface SignedIn
  extends contract.SessionTokens, Omit<Answer<typeof api.auth.login>, keyof contract.SessionTokens> {}

/** A sentence to show to the person. */
export interface AuthMessage extends Answer<typeof api.auth.forgotPassword> {}

/** Where to pay for a plan. */
export interface CheckoutPage extends Answer<typeof api.billing.checkout> {}

/** A new account of a service in development, with its key. */
export interface DevelopmentAccount extends Answer<typeof api.development.signup> {}

/** Where to send the browser for a sign-in. */
export interface Authorization extends Answer<typeof api.identityProvider.authorize> {}

/** The first step's result of a zkLogin sign-in. */
export interface ZkloginTokens extends Answer<typeof api.identityProvider.zkloginToken> {}

/** A session that began with zkLogin. */
export interface ZkloginSession
  extends contract.SessionTokens, Omit<Answer<typeof api.identityProvider.zkloginAuth>, keyof contract.SessionTokens> {}

/** What emptying the trash left alone. */
export interface EmptiedTrash extends Answer<typeof api.trash.empty> {}

/** A new webhook endpoint. Only this result holds its secret. */
export interface CreatedWebhook extends Answer<typeof api.webhooks.create> {}

/** The new secret of a webhook endpoint. */
export interface RotatedSecret extends Answer<typeof api.webhooks.rotateSecret> {}

/** A delivery with all of its attempts. */
export interface DeliveryDetails extends Answer<typeof api.webhooks.delivery> {}

/** The caller that made or changed something. */
export interface Author extends Omit<contract.Author, "kind"> {
  /** Kind of the credential: `api-key`, `session` or `development`. `member`: the signer, in a shared vault. */
  readonly kind: contract.OpenEnum<"api-key" | "session" | "development">;
  /** true: this client has verified the signature of `chainAddress`. Absent: the service says so. */
  readonly verified?: true;
}

/** What this client says of an item that it cannot open. */
interface Unreadable {
  /** Why this client cannot open it, as a code such as `not_a_member` or `damaged`. Absent: it is readable. */
  readonly unreadable?: string;
}

/** Sizes of a content that this client may be able to open. */
interface ContentSize {
  /** Bytes of the content. If this client cannot open it: stored bytes, after encryption. */
  readonly size: number;
  /** Stored bytes of a content in a shared vault that this client can open. Absent: `size` is that number. */
  readonly storedSize?: number;
}

/** A file or folder as this client shows it. */
interface Item extends Unreadable {
  /** The caller that made it. In a shared vault: the signer of its first entry, as long as no other has followed. null: not noted, or nothing proves it. */
  readonly createdBy: Author | null;
  /** The caller that last changed it. In a shared vault: the signer of its current content, name or place. null: not noted, or nothing proves it. */
  readonly updatedBy: Author | null;
  /** What `ifMatch` of a change names. In a shared vault this client computes it of the signed statements that it shows. Absent: it cannot open them. */
  readonly tag?: string;
}

/**
 * A file's metadata. In a shared vault that this client can open, `name`, `contentType` and `size` are those of the content. If it
 * cannot, `name` is "", `size` is that of the stored bytes, and `unreadable` says why.
 */
export interface File extends Item, ContentSize, Omit<contract.File, "shared" | keyof Item | keyof ContentSize> {}

/** A folder. In a shared vault that this client cannot open, `name` is "" and `unreadable` says why. */
export interface Folder extends Item, Omit<contract.Folder, "shared" | keyof Item> {}

/** A content that a file has, or had and keeps. In a shared vault `unreadable` says why this client cannot verify it. */
export interface FileVersion
  extends Unreadable, ContentSize, Omit<contract.FileVersion, "shared" | "author" | keyof ContentSize> {
  /** The caller that made it, as in `createdBy` of a file. null: not noted. */
  readonly author: Author | null;
}

/** What the entries of files and folders have in common. */
interface Entry extends Unreadable {
  /** Name at that time. "": this client cannot read or verify it. */
  readonly name: string;
  /** The caller that made it, as in `createdBy` of a file. null: not noted. */
  readonly author: Author | null;
}

/**
 * A name and place that a file has, or had and keeps. In a shared vault, an entry that this client cannot verify has the name "", and
 * `unreadable` says why.
 */
export interface FileEntry extends Entry, Omit<contract.FileEntry, "shared" | keyof Entry> {}

/** The same of a folder. */
export interface FolderEntry extends Entry, Omit<contract.FolderEntry, "shared" | keyof Entry> {}

/** A change of an account, as ids. */
export interface Change extends Readonly<contract.Change> {
  /** Name of the file or folder as it is now. null: it has none, is gone, or this client cannot read it. */
  readonly name: string | null;
  /** In a shared vault: the actor, if its signature on the object as it is now proves that. null: nothing does. */
  readonly author: Author | null;
}

type Lists = Pick<Answer<typeof api.apiKeys.list>, "apiKeys"> &
  Pick<Answer<typeof api.changes.list>, "changes"> &
  Pick<Answer<typeof api.webhooks.deliveries>, "deliveries"> &
  Pick<Answer<typeof api.files.entries>, "entries"> &
  Pick<Answer<typeof api.audit.list>, "events"> &
  Pick<Answer<typeof api.files.list>, "files"> &
  Pick<Answer<typeof api.folders.list>, "folders"> &
  Pick<Answer<typeof api.invites.list>, "invites"> &
  Pick<Answer<typeof api.sessions.list>, "sessions"> &
  Pick<Answer<typeof api.vaults.list>, "vaults"> &
  Pick<Answer<typeof api.files.versions>, "versions"> &
  Pick<Answer<typeof api.webhooks.list>, "webhooks">;

/** The list of a page, by its name. */
export type PageLists<Item> = { readonly [Name in keyof Lists]: Item[] };
