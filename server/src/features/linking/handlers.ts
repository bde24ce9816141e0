/** Part of the contract's group `account`: which chain address is the account's. */
import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { GroupHandlers } from "../../handler.ts";
import { actAs } from "../account/act.ts";
import { renderAccount } from "../account/handlers.ts";
import { accessLevelOf } from "../account/lives.ts";
import { makeLinkChallenge, requireLinkProof } from "./challenges.ts";
import { linkAddress, recordTransfers } from "./linking.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings" | "chain" | "signatures">;

type LinkingHandlers = Pick<GroupHandlers<typeof api.account>, "linkChainChallenge" | "linkChain">;

export const linkingHandlers = (deps: Needs): LinkingHandlers => ({
  linkChainChallenge: (_input, { principal }) => makeLinkChallenge(deps, principal),

  async linkChain({ body }, context) {
    const { principal } = context;
    const chainPublicKey = await requireLinkProof(deps, body, context);
    const { chainAddress } = body;
    const wanted = { chainAddress, chainPublicKey, source: "external", actor: principal } as const;
    await recordTransfers(deps, principal.accountId);
    const row = await actAs(deps, principal, async (act) => {
      return linkAddress(deps, act, wanted);
    });
    // A key that is bound to the address that was linked until now is an agent's from now on.
    const accessLevel = principal.kind === "api-key" ? accessLevelOf(principal.chainAddress, chainAddress) : "owner";
    return { account: renderAccount(row, { accessLevel }, deps) };
  },
});
