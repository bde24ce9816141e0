/** The account, its plan, its keys and its log. */
import { callingOn } from "../http/call.ts";
import type { AuditVerdict, AuditVerifyOptions } from "./audit-chain.ts";
import type { Signer } from "../signers/signer.ts";
import type { AccountOptions, Connection, CallOptions } from "../connection/options.ts";
import { paged, type PagePromise } from "../http/pages.ts";
import { createBoundKey } from "./address-proof.ts";
import { accountCalls, developmentCalls } from "./account-calls.ts";
import { auditCalls } from "./audit-calls.ts";
import { billingCalls } from "./billing-calls.ts";
import { keyCalls } from "./key-calls.ts";
import type {
  AccountUpdateInput,
  ApiKeyCreateInput,
  ApiKeyListQuery,
  ApiKeyRotateInput,
  AuditListQuery,
  BillingChangePlanInput,
  BillingCheckoutInput,
  DevelopmentSignupInput,
} from "../connection/input-types.ts";
import type {
  Account,
  AccountWithCredential,
  ApiKey,
  AuditEvent,
  Billing,
  CheckoutPage,
  CreatedApiKey,
  DevelopmentAccount,
} from "../connection/result-types.ts";

export interface AccountResource {
  /** Reads the account, and the rights of this client's credential. */
  get(options?: CallOptions): Promise<AccountWithCredential>;
  /** Changes the account's name. */
  update(changes: AccountUpdateInput, options?: CallOptions): Promise<Account>;
  /**
   * Links the signer's chain address to the account: gets a challenge, signs a text made here, and sends it. Without
   * `accountId` it asks the service for the account's id.
   */
  linkChain(signer: Signer, options?: AccountOptions): Promise<Account>;
}

export function accountResource(connection: Connection): AccountResource {
  return accountCalls(callingOn(connection), connection);
}

/** The fields of a new API key. */
export interface BoundApiKeyCreateInput extends ApiKeyCreateInput {
  /** Sui address of the key: `0x` and 64 hex digits. Default: that of `signer`, or none. */
  readonly chainAddress?: string | undefined;
  /** Proves that the holder of the address agrees. Default: none, which only the account's own address needs. */
  readonly signer?: Signer | undefined;
}

export interface ApiKeyResource {
  /**
   * Makes an API key. Only this answer holds the raw key. `signer` binds the key to a chain address and proves that
   * its holder agrees. `chainAddress` alone is enough for the address that is linked to the account.
   */
  create(input: BoundApiKeyCreateInput, options?: AccountOptions): Promise<CreatedApiKey>;
  /** Lists API keys, newest first; revoked and expired ones too. */
  list(query?: ApiKeyListQuery, options?: CallOptions): PagePromise<"apiKeys", ApiKey>;
  /** Reads one API key, without the key itself. */
  get(keyId: string, options?: CallOptions): Promise<ApiKey>;
  /** Revokes the key at once; a second call changes nothing. */
  revoke(keyId: string, options?: CallOptions): Promise<void>;
  /** Makes a new key with the same rights. The old one ends after `overlapHours`, by default at once. */
  rotate(keyId: string, input?: ApiKeyRotateInput, options?: CallOptions): Promise<CreatedApiKey>;
}

export function apiKeyResource(connection: Connection): ApiKeyResource {
  const calls = keyCalls(callingOn(connection));
  return {
    create: async ({ signer, ...body }, options) =>
      signer === undefined
        ? calls.create(body, options)
        : createBoundKey(callingOn(connection), connection.place, signer, body, options),
    list: (query = {}, options) => paged("apiKeys", query, (page) => calls.list(page, options)),
    get: calls.get,
    revoke: calls.revoke,
    rotate: calls.rotate,
  };
}

export interface BillingResource {
  /** Reads the account's plan and subscription. */
  get(options?: CallOptions): Promise<Billing>;
  /** Gets the page to pay for a plan; fails with `email_unverified` before the address is confirmed. */
  checkout(input: BillingCheckoutInput, options?: CallOptions): Promise<CheckoutPage>;
  /** Changes the plan of a paying account. Needs a verified e-mail address. */
  changePlan(input: BillingChangePlanInput, options?: CallOptions): Promise<Billing>;
}

export function billingResource(connection: Connection): BillingResource {
  return billingCalls(callingOn(connection));
}

export interface AuditResource {
  /** Lists entries, newest first. `action`: entries of that action, or of those that begin with it and a dot. */
  list(query?: AuditListQuery, options?: CallOptions): PagePromise<"events", AuditEvent>;
  /**
   * Reads the whole log and checks its chain of hashes, with a few pages of it in memory. `fault` names the first
   * altered entry; null: there is none. Keep `newest` where the service cannot write and pass it as `expect` next
   * time: only that shows a log that was rewritten whole.
   *
   * @example
   * ```ts
   * const { entries, newest, fault } = await client.audit.verify();
   * if (fault !== null) console.error(`entry ${fault.sequence}: ${fault.reason}`);
   * ```
   */
  verify(options?: AuditVerifyOptions): Promise<AuditVerdict>;
}

export function auditResource(connection: Connection): AuditResource {
  const calls = auditCalls(callingOn(connection));
  const list: AuditResource["list"] = (query = {}, options) =>
    paged("events", query, (page) => calls.list(page, options));
  return {
    list,
    verify: (options) => calls.verify(list, options),
  };
}

export interface DevelopmentResource {
  /** Makes an account with a key; 404 outside development. */
  signup(input: DevelopmentSignupInput, options?: CallOptions): Promise<DevelopmentAccount>;
}

export function developmentResource(connection: Connection): DevelopmentResource {
  return developmentCalls(callingOn(connection));
}
