/**
 * What is listed of all tools, and the choice of those a server offers. The list is data, made by `npm run generate` from
 * the tools: a server lists them before the code of one is loaded.
 */
import type { Launch, Profile } from "./launch.ts";
import { PROFILES } from "./launch.ts";
import type { JsonObject } from "./schema.ts";
import type { Tool } from "./tool.ts";
import list from "./tool-list.json" with { type: "json" };

/** A tool without its code. */
export type ListedTool = Omit<Tool, "inputSchema" | "endpoints" | "invoke" | "takesVault"> & {
  /** With vaultId. */
  readonly inputSchema: JsonObject;
};

/** In the order in which they are listed. */
export const LISTED_TOOLS: readonly ListedTool[] = list.map((each) => ({ ...each, profile: profileOf(each.profile) }));

export const TOOL_NAMES: readonly string[] = LISTED_TOOLS.map(({ name }) => name);

/** What the file holds of the given tools. */
export function listTools(tools: readonly Tool[]): object[] {
  return tools.map((tool) => {
    const data: Record<string, unknown> = { ...tool };
    for (const name of ["endpoints", "invoke", "takesVault"]) Reflect.deleteProperty(data, name);
    return { ...data, inputSchema: tool.inputSchema(false) };
  });
}

/** The input schema as a server for one vault lists it: without vaultId. */
export function withoutVault(schema: JsonObject): JsonObject {
  const without = (name: string, value: unknown): unknown => {
    if (name === "properties" && typeof value === "object" && value !== null && !Array.isArray(value))
      return Object.fromEntries(Object.entries(value).filter(([each]) => each !== "vaultId"));
    if (name !== "required" || !Array.isArray(value)) return value;
    const needed = value.filter((each) => each !== "vaultId");
    return needed.length === 0 ? undefined : needed;
  };
  // In the same order: hosts cache the list byte by byte.
  const members = Object.entries(schema).map(([name, value]) => [name, without(name, value)] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

type Choice = Pick<Launch, "profile" | "tools" | "excludeTools" | "readOnly" | "vaultId" | "http">;

/**
 * The tools of one server, fixed for its lifetime. They follow from its flags alone: the service enforces rights,
 * whatever the list holds.
 */
export function chooseTools(choice: Choice): readonly ListedTool[] {
  const level = PROFILES.indexOf(choice.profile);
  return LISTED_TOOLS.filter((tool) => {
    if (PROFILES.indexOf(tool.profile) > level) return false;
    if (choice.http !== null && tool.needsFolders) return false;
    if (choice.readOnly && !tool.readsOnly) return false;
    if (choice.vaultId !== null && tool.makesVaults) return false;
    if (choice.tools !== null && !choice.tools.includes(tool.name)) return false;
    return !choice.excludeTools.includes(tool.name);
  });
}

function profileOf(text: string): Profile {
  const profile = PROFILES.find((each) => each === text);
  if (profile === undefined) throw new TypeError(`tool-list.json has no profile ${text}`);
  return profile;
}
