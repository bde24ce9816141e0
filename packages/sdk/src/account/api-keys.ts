/** API keys. */
import { apiKeysGroup, type api, type ApiKey, type CreatedApiKey } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import type { Body, ListQuery } from "../http/endpoint-types.ts";
import { paged, type PagePromise } from "../http/pages.ts";
import type { AccountOptions, Connection, CallOptions } from "../connection/options.ts";
import type { Signer } from "../signers/signer.ts";
import { createBoundKey } from "./address-proof.ts";

/** Input of `apiKeys.create`. */
export interface ApiKeyCreateInput extends Omit<Body<typeof api.apiKeys.create>, "chainAddress" | "addressProof"> {}

/** The fields of a new API key. */
export interface BoundApiKeyCreateInput extends ApiKeyCreateInput {
  /** Sui address of the key: `0x` and 64 hex digits. Default: that of `signer`, or none. */
  readonly chainAddress?: string | undefined;
  /** Proves that the holder of the address agrees. Default: none, which only the account's own address needs. */
  readonly signer?: Signer | undefined;
}

/** Input of `apiKeys.list`. */
export interface ApiKeyListQuery extends ListQuery<typeof api.apiKeys.list> {}

/** Input of `apiKeys.rotate`. */
export interface ApiKeyRotateInput extends Body<typeof api.apiKeys.rotate> {}

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
  const { create, list, get, revoke, rotate } = apiKeysGroup;
  return {
    create: async ({ signer, ...body }, options) =>
      signer === undefined
        ? callOn(connection, create, { body }, options)
        : createBoundKey(connection, signer, body, options),
    list: (query = {}, options) =>
      paged("apiKeys", query, (page) => callOn(connection, list, { query: page }, options)),
    get: async (keyId, options) => (await callOn(connection, get, { params: { keyId } }, options)).apiKey,
    revoke: (keyId, options) => callOn(connection, revoke, { params: { keyId } }, options),
    rotate: (keyId, body = {}, options) => callOn(connection, rotate, { params: { keyId }, body }, options),
  };
}
