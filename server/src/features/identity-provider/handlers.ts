/** Sign-in at an external identity provider, with and without zkLogin (specification §4.2, §5.5). */
import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { GroupHandlers } from "../../handler.ts";
import type { IdentityProvider } from "../../ports/identity-provider.ts";
import { ServiceError } from "../../service-error.ts";
import { openSession } from "../sessions/opening.ts";
import { failAtProvider } from "./provider-failures.ts";
import { startSignIn, returnWithNonce } from "./sign-ins.ts";
import { withUser } from "./users.ts";
import { exchangeForToken, signInCombined, signInWithToken } from "./zklogin-sign-in.ts";

type Needs = Pick<
  Deps,
  "database" | "clock" | "random" | "atRest" | "jwtKeys" | "settings" | "identityProvider" | "zklogin" | "prover"
>;

export const identityProviderHandlers = (deps: Needs): GroupHandlers<typeof api.identityProvider> => ({
  async authorize({ query }) {
    return startSignIn(deps, requireProvider(deps), { flow: "idp", accessCode: query.accessCode });
  },

  async authorizeZklogin({ query }) {
    const { nonce = null, accessCode } = query;
    return startSignIn(deps, requireProvider(deps), { flow: "zklogin", nonce, accessCode });
  },

  /** No chain keypair is derived here, and no address (specification §4.2). */
  async callback({ body }, { origin }) {
    const provider = requireProvider(deps);
    const { codeVerifier, nonce, accessCodeHash } = await returnWithNonce(deps, "idp", body.state);
    const identity = await provider.exchange({ code: body.code, codeVerifier, nonce }).catch(failAtProvider);
    return withUser(deps, { identity, accessCodeHash, origin }, (act) =>
      openSession(deps, act, { method: "idp", origin }),
    );
  },

  zkloginToken: async ({ body }, { origin }) => exchangeForToken(deps, requireProvider(deps), body, origin),

  async zkloginAuth({ body }, { origin }) {
    const provider = requireProvider(deps);
    return "code" in body
      ? signInCombined(deps, provider, body, origin)
      : signInWithToken(deps, provider, body, origin);
  },
});

function requireProvider({ identityProvider }: Pick<Deps, "identityProvider">): IdentityProvider {
  if (identityProvider !== null) return identityProvider;
  throw new ServiceError(
    "not_configured",
    "This server has no identity provider: sign in with e-mail and password, or ask the operator to set SERVICE_IDP_ISSUER",
  );
}
