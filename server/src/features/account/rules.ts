/** What a plan allows. */
import { MAX_FOLDER_DEPTH, type Account } from "@coffer/contract";
import type { Settings } from "../../config.ts";

export type Limits = Account["limits"];

/** The limits of an account on `plan`; an unknown plan gets those of the free one. Sizes in bytes. */
export function limitsOf(plan: string, settings: Pick<Settings, "plans" | "limits">): Limits {
  const { fileBytes, storageBytes } = plan === "pro" ? settings.plans.pro : settings.plans.free;
  return {
    storageBytes,
    fileBytes: Math.min(fileBytes, settings.limits.resumableUploadBytes),
    rawUploadBytes: Math.min(fileBytes, settings.limits.rawUploadBytes),
    vaults: settings.limits.vaults,
    apiKeys: settings.limits.apiKeys,
    invites: settings.limits.invites,
    folderDepth: MAX_FOLDER_DEPTH,
  };
}
