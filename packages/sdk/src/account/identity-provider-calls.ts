/** The calls behind {@link IdentityProviderResource}. */
import { identityProviderGroup } from "@coffer/contract";
import type { Calling } from "../http/call.ts";
import { ContractError } from "../http/errors.ts";
import type { Body, Query } from "../connection/call-fields.ts";
import type { CallOptions } from "../connection/options.ts";

type Provider = typeof identityProviderGroup;

export function identityProviderCalls(call: Calling) {
  const { authorize, authorizeZklogin, callback, zkloginToken, zkloginAuth } = identityProviderGroup;
  return {
    authorize: (query: Query<Provider["authorize"]> = {}, options?: CallOptions) => call(authorize, { query }, options),
    authorizeZklogin: async (
      query: Query<Provider["authorizeZklogin"]> & { readonly nonce: string },
      options?: CallOptions,
    ) => {
      const answer = await call(authorizeZklogin, { query }, options);
      // The nonce binds the identity token to this client's key: with another one it would be somebody else's.
      if (!carriesOnly(answer.url, query.nonce))
        throw new ContractError("response", authorizeZklogin.id, ["body.url: does not carry the nonce, and it alone"]);
      return answer;
    },
    callback: (body: Body<Provider["callback"]>, options?: CallOptions) => call(callback, { body }, options),
    zkloginToken: (body: Body<Provider["zkloginToken"]>, options?: CallOptions) =>
      call(zkloginToken, { body }, options),
    zkloginAuth: (body: Body<Provider["zkloginAuth"]>, options?: CallOptions) => call(zkloginAuth, { body }, options),
  };
}

/**
 * The provider chooses between two parameters of one name (RFC 6749 §3.1 allows one). A request object replaces the
 * query (OpenID Connect Core §6).
 */
function carriesOnly(url: string, nonce: string): boolean {
  const parameters = URL.parse(url)?.searchParams;
  if (parameters === undefined || parameters.has("request") || parameters.has("request_uri")) return false;
  const nonces = parameters.getAll("nonce");
  return nonces.length === 1 && nonces[0] === nonce;
}
