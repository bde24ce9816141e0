import { api } from "@coffer/contract";
import type { AccessCheck, LayerCheck } from "@coffer/sdk";
import { TaskFailure, untrusted } from "@coffer/tasks";
import type { Fact } from "../result.ts";
import { TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { membershipStep, moment, word } from "../words.ts";
import { namedVault, vaultRef } from "./places.ts";

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
    const client = await call.client();
    const vaultId = (await namedVault(call, args.vaultId)) ?? args.vaultId;
    const chainAddress = await call.chainAddress();
    if (chainAddress === null)
      return await withoutChainKey(vaultId, client.vaults.get(vaultId, { signal: call.signal }));
    const vault = await client.vaults.get(vaultId, { signal: call.signal }).catch(() => null);
    if (vault?.type === "public") return publicVault(vaultId);
    const check = await client.vaults.checkAccess(vaultId, { signal: call.signal });
    return {
      summary: summaryOf(check),
      facts: { vaultId, chainAddress, ends: check.endsAt === null ? null : moment(check.endsAt), ...nextStepOf(check) },
      table: tableOf(check),
    };
  },
});

/** In the order in which you repair them. */
const LAYERS = ["api", "clock", "chain", "keyServers", "key"] as const satisfies readonly (keyof AccessCheck)[];

function publicVault(vaultId: string) {
  return {
    summary: "The vault is public: whoever may read it at the service can.",
    facts: { vaultId, type: "public" },
  };
}

async function withoutChainKey(vaultId: string, asked: Promise<{ readonly type: string }>) {
  const { type } = await asked;
  if (type === "public") return publicVault(vaultId);
  throw new TaskFailure("shared_vault");
}

function summaryOf(check: AccessCheck): string {
  const failed = LAYERS.filter((layer) => check[layer].state === "failed");
  if (failed.length > 0) return `The vault does not open: ${failed.join(", ")} failed.`;
  const open = LAYERS.every((layer) => check[layer].state === "ok");
  return open ? "The vault opens." : "Nothing speaks against it, but not everything could be looked at.";
}

/** Begin with the first layer that failed. */
function nextStepOf(check: AccessCheck): Record<string, Fact> {
  const first = LAYERS.map((layer) => check[layer]).find(({ state }) => state === "failed");
  return first === undefined ? {} : { nextStep: stepOf(check, first) };
}

function tableOf(check: AccessCheck): { name: string; columns: string[]; rows: Fact[][] } {
  const rows = LAYERS.map((layer) => {
    const { state, cause } = check[layer];
    return [layer, state, cause === null ? null : word(cause), stepOf(check, check[layer])];
  });
  return { name: "layers", columns: ["layer", "state", "cause", "nextStep"], rows };
}

/** A step may hold texts of a service or a key server. The step about membership has this server's own words. */
function stepOf({ vaultId, chainAddress }: AccessCheck, { cause, nextStep }: LayerCheck): Fact {
  return cause === "not_a_member" ? membershipStep(chainAddress, vaultId) : untrusted(nextStep);
}
