/** Refusals of a signed change that another signature cures, because the vault, its names or the item changed meanwhile. */
import type { Connection } from "../../connection/options.ts";
import type { OpenVault } from "../open-vault.ts";
import { stageFolder, type StagedEntries } from "./name-stager.ts";

const NOTHING: StagedEntries = new Map();

/**
 * Brings this client up to date after a refusal, so that the change can be signed again, at most `CHANGE_ATTEMPTS` times.
 * Resolves with the entries that it has signed for that; null: no further attempt cures this code.
 */
export async function refreshFor(
  code: string,
  connection: Connection,
  vault: OpenVault,
  folderId: string | null,
): Promise<StagedEntries | null> {
  if (code === "names_outdated") return stageFolder(connection, vault, folderId);
  if (code === "generation_moved") await vault.view({ maxAge: 0 });
  // Somebody else's change or vault key came first: both are read again.
  else if (code === "statement_invalid") vault.forgetWritingKey();
  else return null;
  return NOTHING;
}
