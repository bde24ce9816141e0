/** Acts on a vault's own terms, each one transaction on the chain. */
import type { ActResult, ClosingActResult } from "@coffer/sdk";
import type { Context } from "../../../context.ts";
import { inCommandWords, type Untrusted } from "@coffer/tasks";
import { done, type Document } from "../../../result.ts";
import { printWarnings } from "../cell-text.ts";

export function actReport(
  context: Context,
  vaultId: string,
  result: ActResult | ClosingActResult,
  sentence: string,
  more: Readonly<Record<string, unknown>> = {},
  /** What somebody else does next: with the name of the program there. */
  theirs: readonly Untrusted[] = [],
): Document {
  printWarnings(context, result.warnings);
  const lines = [
    result.outcome === "done" ? sentence : `${sentence} It was so before.`,
    ...theirs,
    ...("effect" in result ? [inCommandWords(result.effect, vaultId)] : []),
  ];
  return done({ vaultId, ...more, ...result }, lines);
}
