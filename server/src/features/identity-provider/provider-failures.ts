/** What the ports' failures answer. Their errors hold no secrets, so they may be a cause. */
import { IdentityRefusedError, IdentityUnavailableError } from "../../ports/identity-provider.ts";
import { ProverRefusedError, ProverUnavailableError } from "../../ports/zklogin.ts";
import { ServiceError } from "../../service-error.ts";

/** For `.catch` of the identity provider. */
export function failAtProvider(error: unknown): never {
  if (error instanceof IdentityRefusedError) throw new ServiceError("provider_refused", undefined, { cause: error });
  throw error instanceof IdentityUnavailableError ? unavailable("identity provider", error) : error;
}

/** For `.catch` of the prover. */
export function failAtProver(error: unknown): never {
  if (error instanceof ProverRefusedError) throw new ServiceError("proof_invalid", undefined, { cause: error });
  throw error instanceof ProverUnavailableError ? unavailable("zkLogin prover", error) : error;
}

function unavailable(who: string, cause: Error): ServiceError {
  const message = `The ${who} does not answer: begin the sign-in again in a moment`;
  return new ServiceError("provider_unavailable", message, { cause });
}

/** For `.catch` of the nonce: the client's ephemeral key is not one. */
export function failAtKey(error: unknown): never {
  if (error instanceof RangeError) throw new ServiceError("proof_invalid", undefined, { cause: error });
  throw error;
}

/** For `.catch` of addresses: the provider's claims do not fit into zkLogin. */
export function failAtClaims(error: unknown): never {
  if (!(error instanceof RangeError)) throw error;
  const message = "The identity provider's token cannot be used with zkLogin: sign in without it";
  throw new ServiceError("provider_refused", message, { cause: error });
}
