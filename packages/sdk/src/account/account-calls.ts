/** The calls behind {@link AccountResource} and {@link DevelopmentResource}. */
import { accountGroup, developmentGroup } from "@coffer/contract";
import type { Calling } from "../http/call.ts";
import { linkChain } from "./address-proof.ts";
import type { Signer } from "../signers/signer.ts";
import type { AccountOptions, CallOptions, Connection } from "../connection/options.ts";
import type { Body } from "../connection/call-fields.ts";

type Account = typeof accountGroup;

export function accountCalls(call: Calling, { place }: Pick<Connection, "place">) {
  const { get, update } = accountGroup;
  return {
    get: (options?: CallOptions) => call(get, {}, options),
    update: async (body: Body<Account["update"]>, options?: CallOptions) =>
      (await call(update, { body }, options)).account,
    linkChain: (signer: Signer, options?: AccountOptions) => linkChain(call, place, signer, options),
  };
}

export function developmentCalls(call: Calling) {
  const { signup } = developmentGroup;
  return { signup: (body: Body<typeof signup>, options?: CallOptions) => call(signup, { body }, options) };
}
