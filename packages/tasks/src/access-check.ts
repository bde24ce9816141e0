/** Why a vault opens to this caller, or does not. */
import type { AccessCheck, LayerCheck } from "@coffer/sdk";
import { TaskFailure } from "./failure.ts";
import type { Task } from "./task.ts";

/** In the order in which you repair them. */
export const ACCESS_LAYERS = [
  "api",
  "clock",
  "chain",
  "keyServers",
  "key",
] as const satisfies readonly (keyof AccessCheck)[];

export type ExplainedAccess =
  | { readonly kind: "public"; readonly vaultId: string }
  | {
      readonly kind: "shared";
      readonly check: AccessCheck;
      /** `unknown`: nothing speaks against it, but not everything could be looked at. */
      readonly opens: "yes" | "no" | "unknown";
      /** Begin with this one. */
      readonly firstFailed: LayerCheck | null;
    };

/** @throws TaskFailure `shared_vault` for a shared vault without a chain key here; errors of the service. */
export async function explainAccess(task: Task, vaultId: string): Promise<ExplainedAccess> {
  const client = await task.client();
  const { signal } = task;
  if ((await task.chainAddress()) === null) {
    if ((await client.vaults.get(vaultId, { signal })).type === "public") return { kind: "public", vaultId };
    throw new TaskFailure("shared_vault");
  }
  const vault = await client.vaults.get(vaultId, { signal }).catch(() => null);
  if (vault?.type === "public") return { kind: "public", vaultId };
  const check = await client.vaults.checkAccess(vaultId, { signal });
  const layers = ACCESS_LAYERS.map((layer) => check[layer]);
  const firstFailed = layers.find(({ state }) => state === "failed") ?? null;
  const isOpen = layers.every(({ state }) => state === "ok");
  return { kind: "shared", check, firstFailed, opens: firstFailed !== null ? "no" : isOpen ? "yes" : "unknown" };
}
