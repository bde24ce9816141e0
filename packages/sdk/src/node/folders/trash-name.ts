/** The name of the local trash: see `trash.ts`. */

export const LOCAL_TRASH = ".coffer-trash";

/**
 * Whether a name is that of the local trash, also for a file system that ignores case, width and invisible characters. The
 * calls for folders neither send what has it, nor make it by a download.
 */
export function isLocalTrash(name: string): boolean {
  const folded = name.normalize("NFKC").replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
  return folded.toLowerCase() === LOCAL_TRASH;
}
