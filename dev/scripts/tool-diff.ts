/**
 * `npm run -s tools:diff -- REF`: what changed in the list of tools since a commit, as JSON. Hosts and people's settings name tools
 * and their arguments: what those would miss makes the exit code 1.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const LIST = "packages/mcp/src/tool-list.json";

export interface ListedTool {
  readonly name: string;
  readonly profile: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: {
    readonly properties?: Readonly<Record<string, unknown>>;
    readonly required?: readonly string[];
  };
  readonly outputSchema: { readonly properties?: Readonly<Record<string, unknown>> };
  readonly [name: string]: unknown;
}

export interface ToolChange {
  readonly tool: string;
  /** Members that differ, such as `description`. */
  readonly differs: readonly string[];
  readonly addedArguments: readonly string[];
  readonly removedArguments: readonly string[];
  /** Arguments that were optional, or absent, and have to be given now. */
  readonly newlyRequired: readonly string[];
  readonly removedFacts: readonly string[];
}

export interface ListDiff {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly ToolChange[];
  /** A call that was right, or a program that reads an answer, may fail now. */
  readonly isBreaking: boolean;
}

export function diffLists(before: readonly ListedTool[], after: readonly ListedTool[]): ListDiff {
  const namesOf = (tools: readonly ListedTool[]): string[] => tools.map(({ name }) => name);
  const [added, removed] = [without(namesOf(after), namesOf(before)), without(namesOf(before), namesOf(after))];
  const changed = after.flatMap((tool) => {
    const old = before.find(({ name }) => name === tool.name);
    const change = old === undefined ? null : changeOf(old, tool);
    return change === null ? [] : [change];
  });
  const isBroken = ({ newlyRequired, removedArguments, removedFacts }: ToolChange): boolean =>
    newlyRequired.length + removedArguments.length + removedFacts.length > 0;
  return { added, removed, changed, isBreaking: removed.length > 0 || changed.some(isBroken) };
}

function changeOf(before: ListedTool, after: ListedTool): ToolChange | null {
  const differs = Object.keys({ ...before, ...after }).filter(
    (member) => JSON.stringify(before[member]) !== JSON.stringify(after[member]),
  );
  if (differs.length === 0) return null;
  const [old, now] = [keysOf(before.inputSchema), keysOf(after.inputSchema)];
  return {
    tool: after.name,
    differs,
    addedArguments: without(now, old),
    removedArguments: without(old, now),
    newlyRequired: without(after.inputSchema.required ?? [], before.inputSchema.required ?? []),
    removedFacts: without(keysOf(before.outputSchema), keysOf(after.outputSchema)),
  };
}

function keysOf({ properties = {} }: { readonly properties?: Readonly<Record<string, unknown>> }): string[] {
  return Object.keys(properties);
}

function without(all: readonly string[], others: readonly string[]): string[] {
  return all.filter((each) => !others.includes(each));
}

function toolsIn(text: string): ListedTool[] {
  const parsed = JSON.parse(text) as ListedTool[] | { readonly tools: ListedTool[] };
  return "tools" in parsed ? parsed.tools : parsed;
}

if (process.argv[1] === import.meta.filename) {
  const [ref = "HEAD"] = process.argv.slice(2);
  const before = execFileSync("git", ["show", `${ref}:${LIST}`], { encoding: "utf8" });
  const diff = diffLists(toolsIn(before), toolsIn(readFileSync(LIST, "utf8")));
  process.stdout.write(`${JSON.stringify(diff, null, 2)}\n`);
  process.exitCode = diff.isBreaking ? 1 : 0;
}
