import { api } from "@coffer/contract";
import type { AccessCheck, LayerCheck } from "@coffer/sdk";
import { ACCESS_LAYERS, type ExplainedAccess, explainAccess, inToolWords, untrusted } from "@coffer/tasks";
import type { Fact } from "../result.ts";
import { TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { membershipStep, moment, word } from "../fact-values.ts";
import { namedVault, vaultRef } from "./reference-input.ts";

export const vaultAccessCheck = defineTool({
  name: "vault_access_check",
  profile: "read",
  title: "Explain access to a vault",
  description:
    "Why a shared vault does or does not open: service, chain, key servers, clock, key, each with its next step. Call it after not_a_member or a key error.",
  endpoints: [api.vaults.get],
  input: { vaultId: vaultRef },
  describe: { vaultId: "id or name" },
  output: { vaultId: TEXT, chainAddress: TEXT, type: TEXT, ends: TEXT, nextStep: TEXT },
  table: "layers",
  run: async (args, call) => {
    const vaultId = (await namedVault(call, args.vaultId)) ?? args.vaultId;
    const access = await explainAccess(call, vaultId);
    if (access.kind === "public")
      return {
        summary: "The vault is public: whoever may read it at the service can.",
        facts: { vaultId, type: "public" },
      };
    const { check, firstFailed } = access;
    const { chainAddress, endsAt } = check;
    return {
      summary: summaryOf(access),
      facts: {
        vaultId,
        chainAddress,
        ends: endsAt === null ? null : moment(endsAt),
        ...(firstFailed === null ? {} : { nextStep: stepOf(check, firstFailed) }),
      },
      table: tableOf(check),
    };
  },
});

type Shared = Extract<ExplainedAccess, { kind: "shared" }>;

function summaryOf({ check, opens }: Shared): string {
  const failed = ACCESS_LAYERS.filter((layer) => check[layer].state === "failed");
  if (opens === "no") return `The vault does not open: ${failed.join(", ")} failed.`;
  return opens === "yes" ? "The vault opens." : "Nothing speaks against it, but not everything could be looked at.";
}

function tableOf(check: AccessCheck): { name: string; columns: string[]; rows: Fact[][] } {
  const rows = ACCESS_LAYERS.map((layer) => {
    const { state, cause } = check[layer];
    return [layer, state, cause === null ? null : word(cause), stepOf(check, check[layer])];
  });
  return { name: "layers", columns: ["layer", "state", "cause", "nextStep"], rows };
}

/** A step may hold texts of a service or a key server. The step about membership has this server's own words. */
function stepOf({ vaultId, chainAddress }: AccessCheck, { cause, nextStep }: LayerCheck): Fact {
  return cause === "not_a_member" ? membershipStep(chainAddress, vaultId) : untrusted(inToolWords(nextStep, vaultId));
}
