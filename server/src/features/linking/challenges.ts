/** The nonces that a chain address signs to be linked to an account (decisions §4). */
import { renderLinkText } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { Principal, RequestContext } from "../../handler.ts";
import { makeChallenge, requireChallengeProof } from "../chain-proofs/challenges.ts";
import { requireServiceOrigin } from "../chain-proofs/rules.ts";

/** Decisions §4: ten minutes. */
const LINK = { purpose: "link address", lifetime: 10 * 60_000 };

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings" | "signatures">;

export function makeLinkChallenge(deps: Needs, principal: Principal) {
  return makeChallenge(deps, principal, LINK);
}

/** Resolves and rejects as {@link requireChallengeProof} does. */
export function requireLinkProof(
  deps: Needs,
  { chainAddress, signature, nonce }: { chainAddress: string; signature: string; nonce: string },
  { principal, serviceOrigin }: Pick<RequestContext<Principal>, "principal" | "serviceOrigin">,
): Promise<string | null> {
  const origin = requireServiceOrigin(serviceOrigin);
  const { accountId } = principal;
  const place = { origin, network: deps.settings.network, chainAddress };
  const { purpose } = LINK;
  const proof = () => ({ chainAddress, signature, text: renderLinkText({ ...place, accountId, nonce }) });
  return requireChallengeProof(deps, principal, { purpose, nonce, proof });
}
