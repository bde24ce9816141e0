import { findVersion } from "@coffer/tasks";
import type { File } from "@coffer/sdk";
import type { Context } from "../../../context.ts";
import { CommandFailure } from "../../../failure.ts";

/** The id of the version that a number, an id or the beginning of one names. */
export async function findVersionOf({ task }: Context, file: File, text: string): Promise<string> {
  try {
    return await findVersion(task, file, text);
  } catch (thrown) {
    const { code, message } = thrown as { readonly code?: string; readonly message: string };
    if (code !== "not_found" && code !== "ambiguous") throw thrown;
    throw new CommandFailure(code, { message, nextStep: `coffer versions list ${file.id}`, cause: thrown });
  }
}
