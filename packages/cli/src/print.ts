/** Results on standard output. */
import type { Context } from "./context.ts";
import type { ExitCode } from "./exit-codes.ts";
import { OutputLost } from "./lost-output.ts";
import type { Document, Listing, Result } from "./result.ts";
import { paintOn, type Paint } from "./terminal/paint.ts";
import { tableText } from "./terminal/table.ts";
import { visibleTextFor } from "./terminal/visible.ts";
import type { World } from "./world.ts";
import type { Redaction } from "@coffer/tasks";

export async function printResult(result: Result, { globals, world, redaction }: Context): Promise<ExitCode> {
  if (result.kind === "written") return result.exit;
  const paint = paintOn(world.stdout, world.env, globals.noColor);
  const text =
    result.kind === "document" ? documentText(result, globals.json, world) : listingText(result, globals, paint, world);
  const reveals = result.kind === "document" ? result.reveals : [];
  try {
    await world.stdout.write(redactBut(text, reveals, redaction));
  } catch (thrown) {
    // What became of the work counts, whether or not somebody reads of it.
    if (!(thrown instanceof OutputLost && thrown.isClosed)) throw thrown;
  }
  return result.exit;
}

function documentText({ json, lines }: Document, isJson: boolean, world: World): string {
  if (isJson) return `${JSON.stringify(json)}\n`;
  return lines.map((line) => `${visibleTextFor(world, line)}\n`).join("");
}

function listingText(
  { name, items, otherFields, columns, empty, after }: Listing,
  { json, jsonLines }: { readonly json: boolean; readonly jsonLines: boolean },
  paint: Paint,
  world: World,
): string {
  if (jsonLines) return items.map((item) => `${JSON.stringify(item)}\n`).join("");
  if (json) return `${JSON.stringify({ [name]: items, ...otherFields })}\n`;
  const table =
    items.length === 0 ? visibleTextFor(world, empty) : tableText(columns, items, (titles) => paint("bold", titles));
  return [table, ...after.map((line) => visibleTextFor(world, line))].map((line) => `${line}\n`).join("");
}

/** Takes secrets out, but for those that the result is there to show. */
function redactBut(text: string, reveals: readonly string[], redaction: Redaction): string {
  const marks = reveals.map((_secret, at) => `\u0000${String(at)}\u0000`);
  const marked = reveals.reduce((all, secret, at) => all.replaceAll(secret, marks[at] ?? ""), text);
  const safe = redaction.redact(marked);
  return reveals.reduce((all, secret, at) => all.replaceAll(marks[at] ?? "", secret), safe);
}
