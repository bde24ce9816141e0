/** What a configuration opens besides storage and mail: none of these hold a socket or a file open. */
import type { Config } from "./config.ts";
import type { Deps } from "./deps.ts";
import { pinChain } from "./drivers/chain/chain-pin.ts";
import { openSuiChain } from "./drivers/chain/sui.ts";
import { openOidc } from "./drivers/identity-provider/oidc.ts";
import { openSuiSignatures } from "./drivers/message-signatures/sui.ts";
import { openTestPayments } from "./drivers/payments/recording.ts";
import { openProver } from "./drivers/prover/open.ts";
import { suiZklogin } from "./drivers/zklogin/sui.ts";
import type { Clock } from "./ports/clock.ts";
import { systemRandom } from "./ports/random.ts";
import { createAtRest } from "./secrets/at-rest.ts";

type Provided = Pick<
  Deps,
  "chain" | "signatures" | "identityProvider" | "zklogin" | "prover" | "payments" | "atRest" | "jwtKeys" | "settings"
>;

export function openProviders(
  { chain, identityProvider, prover, payments, secrets, settings }: Config,
  clock: Clock,
): Provided {
  const pin = pinChain(chain?.chainId ?? null);
  return {
    chain: chain === null ? null : openSuiChain(chain, { clock, pin }),
    signatures: openSuiSignatures(chain, { clock, pin }),
    identityProvider:
      identityProvider === null
        ? null
        : openOidc(identityProvider, { redirectUri: `${settings.appUrl}/auth/callback`, clock }),
    zklogin: suiZklogin,
    prover: prover === null ? null : openProver(prover, suiZklogin),
    payments: payments === null ? null : openTestPayments(payments, settings.appUrl),
    atRest: createAtRest(secrets.masterKey, systemRandom),
    jwtKeys: secrets.jwtKeys,
    settings,
  };
}
