/** Arguments that name vaults, folders and files, and what they lead to. */
import { findVault, wholeId } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "../call.ts";

const reference = (most: number) => z.string().check(z.minLength(1), z.maxLength(most));

/** A vault: id, beginning of one, or exact name. */
export const vaultRef = reference(255);
/** A folder: id, beginning of one, or path. A path has at most 32 names. */
export const folderRef = reference(8_192);
/** A file or folder: id, beginning of one, or path in the vault. */
export const itemRef = reference(8_192);

/** A local path, absolute or from the first allowed folder. */
export const localPath = z.string().check(z.minLength(1), z.maxLength(4096));

/** The id of the vault that was named; null: none was. */
export async function namedVault(call: Call, vault: string | undefined): Promise<string | null> {
  if (vault === undefined) return null;
  const id = wholeId(vault);
  if (id !== null) return id;
  return (await findVault(call, vault)).id;
}
