/** The calls behind {@link ApiKeyResource}. */
import { apiKeysGroup } from "@coffer/contract";
import type { Calling } from "../http/call.ts";
import type { Body, Query } from "../connection/call-fields.ts";
import type { CallOptions } from "../connection/options.ts";

type Keys = typeof apiKeysGroup;

export function keyCalls(call: Calling) {
  const { create, list, get, revoke, rotate } = apiKeysGroup;
  return {
    create: (body: Body<Keys["create"]>, options?: CallOptions) => call(create, { body }, options),
    list: (query: Query<Keys["list"]>, options?: CallOptions) => call(list, { query }, options),
    get: async (keyId: string, options?: CallOptions) => (await call(get, { params: { keyId } }, options)).apiKey,
    revoke: (keyId: string, options?: CallOptions) => call(revoke, { params: { keyId } }, options),
    rotate: (keyId: string, body: Body<Keys["rotate"]> = {}, options?: CallOptions) =>
      call(rotate, { params: { keyId }, body }, options),
  };
}
