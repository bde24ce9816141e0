/** Acts on a vault's own terms, each one transaction on the chain. */
import type { ActResult, ClosingActResult } from "@coffer/sdk";
import type { Context } from "../../../context.ts";
import { inCommandWords } from "@coffer/tasks";
import { done, type Document } from "../../../result.ts";
import { noteWarnings } from "../words.ts";

export function shownAct(
  context: Context,
  vaultId: string,
  result: ActResult | ClosingActResult,
  said: string,
  more: Readonly<Record<string, unknown>> = {},
): Document {
  noteWarnings(context, result.warnings);
  const lines = [
    result.outcome === "done" ? said : `${said} It was so before.`,
    ...("effect" in result ? [inCommandWords(result.effect, vaultId)] : []),
  ];
  return done({ vaultId, ...more, ...result, generation: Number(result.generation) }, lines);
}
