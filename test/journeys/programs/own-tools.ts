/** A tool server with a key of its own, as a journey's agent or owner has it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { objectAt } from "../kit/account.ts";
import { toolFailure } from "../kit/failures.ts";
import { textOf } from "../kit/stack.ts";
import { startToolServer, writeCredentials, type ToolAnswer, type ToolServer } from "../kit/tool-server.ts";
import type { World } from "./run.ts";

/** Of the owner of the stack, unless another key is given. */
export async function openTools({ stack, scratch, cleanup }: World, apiKey = stack.apiKey): Promise<ToolServer> {
  const directory = join(scratch, `tools ${apiKey.slice(-6)}`);
  const credentialsFile = await writeCredentials(directory, stack.baseUrl, apiKey);
  const environment = { SERVICE_CONFIG_DIR: directory };
  return cleanup.use(await startToolServer({ credentialsFile, folder: scratch, environment }));
}

/** Calls it, and once more as a user who agreed to what the first answer asks. */
export async function callAgreed(
  tools: ToolServer,
  tool: string,
  given: Readonly<Record<string, unknown>>,
): Promise<ToolAnswer> {
  const asked = await tools.call(tool, given);
  assert.equal(toolFailure(asked).code, "confirmation_required", asked.wire);
  const confirm = textOf(objectAt(asked.facts, "error"), "confirm");
  const done = await tools.call(tool, { ...given, confirm });
  assert.equal(done.isError, false, done.wire);
  return done;
}

type Cells = readonly (readonly unknown[])[];

/** The values of a column of the answer's table, without the marks round words of others. */
export function columnOf(facts: Readonly<Record<string, unknown>>, table: string, column: string): string[] {
  const at = (facts["columns"] as string[]).indexOf(column);
  return (facts[table] as Cells).map((row) => String(row[at]).replaceAll(/<\/?[\w-]{8}>/g, ""));
}
