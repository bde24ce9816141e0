/** The state of one layer between a client and what is in a vault, in words. */
import type { KeyServerStatus, NetworkConfiguration } from "@coffer/chain";
import { SdkError } from "../../http/errors.ts";
import { toVaultError } from "../vault-terms.ts";

/** The state of one layer. */
export interface LayerCheck {
  /** `unknown`: it was not asked, or did not answer. */
  readonly state: "ok" | "failed" | "unknown";
  /** A code of the error catalogue or of VaultError; null when all is well or nothing is known. */
  readonly cause: string | null;
  /** What to do, or the present state: one or two sentences. */
  readonly nextStep: string;
}

export function ok(nextStep: string): LayerCheck {
  return { state: "ok", cause: null, nextStep };
}

export function unknown(nextStep: string): LayerCheck {
  return { state: "unknown", cause: null, nextStep };
}

export function failed(error: unknown): LayerCheck {
  const named = toVaultError(error);
  if (named instanceof SdkError)
    return { state: "failed", cause: named.code, nextStep: `${named.message.replace(/\.$/, "")}. ${named.nextStep}` };
  throw error;
}

/** Of the set for writing. */
export function keyServerLayer(
  { keyServerSets: [set] }: NetworkConfiguration,
  statuses: readonly KeyServerStatus[],
): LayerCheck {
  const weightOf = (state: KeyServerStatus["state"]): number =>
    statuses
      .filter((status) => status.state === state)
      .reduce((sum, { objectId }) => sum + (set?.servers.find((each) => each.objectId === objectId)?.weight ?? 0), 0);
  const threshold = set?.threshold ?? 0;
  const problems = statuses.flatMap(({ name, state, detail }) =>
    state === "ok" ? [] : [`${name}: ${(detail ?? "unknown").replace(/\.$/, "")}`],
  );
  if (weightOf("ok") >= threshold)
    return ok(problems.length === 0 ? "All key servers answer." : `Enough key servers answer. ${problems.join("; ")}.`);
  if (weightOf("ok") + weightOf("unknown") >= threshold) return unknown(`${problems.join("; ")}.`);
  const code = statuses.find(({ code }) => code !== undefined)?.code ?? "key_servers_unavailable";
  const nextStep = `${threshold} shares are needed. ${problems.join("; ")}. Wait until they answer, then repeat it.`;
  return { state: "failed", cause: code, nextStep };
}
