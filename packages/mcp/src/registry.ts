/** All tools, in the order in which they are listed, and the choice of those a server offers. */
import type { KnownAccess } from "@coffer/tasks";
import type { Tool } from "./tool.ts";
import { accountTools } from "./tools/account.ts";
import { fileTools } from "./tools/files.ts";
import { statusTools } from "./tools/status.ts";
import { transferTools } from "./tools/transfers.ts";
import { trashTools } from "./tools/trash.ts";
import { vaultAccessTools } from "./tools/vault-access.ts";
import { vaultTools } from "./tools/vaults.ts";
import type { Launch } from "./launch.ts";

/** One group per file in `tools/`. The order is part of the surface: hosts cache the list byte by byte. */
export const TOOLS: readonly Tool[] = [
  ...accountTools,
  ...statusTools,
  ...vaultTools,
  ...vaultAccessTools,
  ...fileTools,
  ...transferTools,
  ...trashTools,
];

export const TOOL_NAMES: readonly string[] = TOOLS.map((tool) => tool.name);

type Choice = Pick<Launch, "profile" | "tools" | "excludeTools" | "readOnly" | "vaultId">;

/**
 * The tools of one server, fixed for its lifetime. Owner tools appear for an owner's key. Without a key they appear if
 * the owner profile was asked for.
 */
export function chooseTools(choice: Choice, access: KnownAccess): readonly Tool[] {
  const ownerTools = choice.profile === "owner" || choice.profile === null;
  const ownerKey = access === "owner" || (access === "none" && choice.profile === "owner");
  return TOOLS.filter((tool) => {
    if (tool.ownerOnly && !(ownerTools && ownerKey)) return false;
    if ((choice.readOnly || choice.profile === "read") && !tool.readsOnly) return false;
    if (choice.vaultId !== null && tool.makesVaults) return false;
    if (choice.tools !== null && !choice.tools.includes(tool.name)) return false;
    return !choice.excludeTools.includes(tool.name);
  });
}
