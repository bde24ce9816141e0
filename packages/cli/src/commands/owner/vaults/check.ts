import type { AccessCheck, LayerCheck } from "@coffer/sdk";
import { ACCESS_LAYERS, explainAccess, inCommandWords, approveCommand, untrusted } from "@coffer/tasks";
import { command } from "../../../declarations.ts";
import { exitOfVerdict } from "../../../exit-codes.ts";
import { done } from "../../../result.ts";
import { VAULT, vaultIdOf } from "../vault-argument.ts";
import { endText } from "../cell-text.ts";

const TITLES = { api: "service", clock: "clock", chain: "chain", keyServers: "key servers", key: "key" } as const;
const SAID = { yes: "The vault opens.", no: "The vault does not open.", unknown: "Not everything could be looked at." };

export default command({
  brief: "Explain why a vault opens, or does not",
  description: "Layer by layer: service, clock, chain, key servers, key. It exits with 1 when one of them failed.",
  examples: [{ line: "coffer vaults check Team", does: "what to do comes first" }],
  args: [VAULT] as const,
  run: async ({ task }, _flags, [nameOrId]) => {
    const access = await explainAccess(task, await vaultIdOf(task, nameOrId));
    if (access.kind === "public") {
      const line = "The vault is public: whoever may read it at the service can.";
      return done({ vaultId: access.vaultId, type: "public", opens: "yes" }, [line]);
    }
    const { check, opens, firstFailed } = access;
    const { vaultId } = check;
    const layers = ACCESS_LAYERS.map((layer) => {
      const { state, cause } = check[layer];
      return { layer: TITLES[layer], state, cause, nextStep: stepOf(check, check[layer]) };
    });
    const nextStep = firstFailed === null ? null : stepOf(check, firstFailed);
    const json = { vaultId, type: "shared", opens, chainAddress: check.chainAddress };
    const lines = [
      SAID[opens],
      `your chain address: ${check.chainAddress}, ${endOf(check)}`,
      ...layers.map(({ layer, state, cause, nextStep: step }) =>
        untrusted(`${layer.padEnd(11)}  ${state}${cause === null ? "" : ` (${cause})`}: ${step}`),
      ),
    ];
    return done({ ...json, endsAt: check.endsAt, nextStep, layers }, lines, {
      exit: exitOfVerdict(opens !== "no"),
    });
  },
});

/** An agent's invite says until when: the owner's line for it makes no member without an end. */
function stepOf({ chainAddress, vaultId }: AccessCheck, { cause, nextStep }: LayerCheck): string {
  const step = inCommandWords(nextStep, vaultId);
  return cause === "not_a_member"
    ? `${step} For an invited agent, the owner runs: ${approveCommand(chainAddress)}`
    : step;
}

/** Only a member's access has an end, or none. */
function endOf({ chain, endsAt }: AccessCheck): string {
  if (chain.cause === "not_a_member") return "no member of this vault";
  if (endsAt !== null) return `access ends: ${endText(endsAt)}`;
  return chain.state === "ok" ? "access ends: never" : "when access ends is not known";
}
