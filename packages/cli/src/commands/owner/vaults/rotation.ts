/** Encrypting a shared vault again, with progress. */
import { inCommandWords } from "@coffer/tasks";
import type { Context } from "../../../context.ts";
import { printWarnings } from "../cell-text.ts";

export interface Rotation {
  readonly files: number;
  readonly folders: number;
  readonly generation: number;
  readonly floor: number;
  readonly failed: readonly { readonly kind: string; readonly id: string | null; readonly code: string }[];
  readonly effect: string;
}

export async function rotateVault(context: Context, vaultId: string): Promise<Rotation> {
  const client = await context.client();
  const bar = context.progress("Encrypting again", "items");
  try {
    const { warnings, ...rotated } = await client.vaults.rotate(vaultId, {
      signal: context.signal,
      onProgress: ({ done, total, files }) => bar.update(done, total, `${String(files)} contents`),
    });
    printWarnings(context, warnings);
    return rotated;
  } finally {
    bar.end();
  }
}

export const rotationLines = ({ files, folders, failed, effect }: Rotation): string[] => [
  `Encrypted again: ${String(files)} contents, names in ${String(folders)} folders`,
  ...failed.map(({ kind, id, code }) => `not encrypted again: ${kind} ${id ?? "(top)"}: ${code}`),
  inCommandWords(effect),
];
