/** The text of an invite, from the command line or from a file, where no list of processes shows it. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Context } from "../../../context.ts";
import { usage } from "../../../failure.ts";

/** null: none was given. */
export async function inviteText(
  { world, readInput, redaction }: Context,
  text: string | undefined,
  file: string | undefined,
): Promise<string | null> {
  if (text !== undefined && file !== undefined)
    throw usage("Pass --invite or --invite-file, not both", "leave one out");
  const sources =
    file === undefined
      ? text
      : file === "-"
        ? await readInput("Invite")
        : await readFile(resolve(world.workingDirectory, file), "utf8");
  redaction.register(sources?.trim());
  return sources?.trim() ?? null;
}
