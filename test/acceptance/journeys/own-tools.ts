/** A tool server with a key of its own, as a journey's agent or owner has it. */
import { join } from "node:path";
import { startToolServer, writeCredentials, type ToolServer } from "../kit/tool-server.ts";
import type { World } from "./run.ts";

/** Of the owner of the stack, unless another key is given. */
export async function openTools({ stack, scratch, cleanup }: World, apiKey = stack.apiKey): Promise<ToolServer> {
  const directory = join(scratch, `tools ${apiKey.slice(-6)}`);
  const credentialsFile = await writeCredentials(directory, stack.baseUrl, apiKey);
  const environment = { SERVICE_CONFIG_DIR: directory };
  return cleanup.use(await startToolServer({ credentialsFile, folder: scratch, environment }));
}

type Cells = readonly (readonly unknown[])[];

/** The values of a column of the answer's table, without the marks round words of others. */
export function columnOf(facts: Readonly<Record<string, unknown>>, table: string, column: string): string[] {
  const at = (facts["columns"] as string[]).indexOf(column);
  return (facts[table] as Cells).map((row) => String(row[at]).replaceAll(/<\/?[\w-]{8}>/g, ""));
}
