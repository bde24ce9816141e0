/** A tool is plain data and a function. This module imports no MCP library, so tests check results and lists without one. */
import { describeIssues, type Effect, type EndpointDefinition } from "@coffer/contract";
import { TaskFailure } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "./call.ts";
import type { Outcome } from "./result.ts";
import { prepareArguments } from "./arguments.ts";
import type { Profile } from "./launch.ts";
import { outputOf, renderInputSchema, SHARED_ARGUMENTS, type JsonObject } from "./schema.ts";

/** The four hints of the protocol; hosts use them to decide what needs the user's consent. */
export interface Annotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

export interface Tool {
  /** `noun_verb`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The smallest profile that has it. */
  readonly profile: Profile;
  /** The endpoints it calls: the annotations follow from them. */
  readonly endpoints: readonly EndpointDefinition[];
  readonly annotations: Annotations;
  /** It changes nothing in the account; a download still writes a local file. */
  readonly readsOnly: boolean;
  readonly takesVault: boolean;
  /** It leads outside one vault, so a server for one vault does not offer it. */
  readonly makesVaults: boolean;
  /** It opens local paths. */
  readonly touchesFiles: boolean;
  /** It is about local files alone, so a server on another machine does not offer it. */
  readonly needsFolders: boolean;
  /** When the process ends, the call stops where it is, and the same call later goes on there. Cancelling still ends it. */
  readonly resumes: boolean;
  /** The input schema; with a pinned vault, `vaultId` is left out. */
  inputSchema(vaultPinned: boolean): JsonObject;
  readonly outputSchema: JsonObject;
  /** Parses the arguments and runs. Throws TaskFailure, or an error of the SDK or the file system. */
  invoke(args: unknown, call: Call): Promise<Outcome>;
}

interface ToolDefinition<Shape extends z.core.$ZodShape> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly profile: Profile;
  readonly endpoints: readonly EndpointDefinition[];
  /** What the tool changes outside the service, where the effect does not cover it. */
  readonly hints?: Partial<Annotations>;
  readonly touchesFiles?: boolean;
  readonly needsFolders?: boolean;
  readonly resumes?: boolean;
  readonly input: Shape;
  /** The purpose of each argument, with its default; {@link SHARED_ARGUMENTS} holds those that several tools take. */
  readonly describe?: { readonly [Name in keyof Shape]?: string };
  /** The facts of an answer, each with its schema. Null ones are left out. */
  readonly output: Readonly<Record<string, JsonObject>>;
  /** The name of the answer's table. */
  readonly table?: string;
  run(args: z.core.output<z.ZodMiniObject<Shape, z.core.$strict>>, call: Call): Promise<Outcome>;
}

export function defineTool<const Shape extends z.core.$ZodShape>(definition: ToolDefinition<Shape>): Tool {
  const { name, title, description, profile, endpoints } = definition;
  const input = z.strictObject(definition.input);
  const describe = { ...SHARED_ARGUMENTS, ...definition.describe };
  const takesVault = "vaultId" in definition.input;
  // Rendered once: each call reads it, and so does each connection.
  const rendered = new Map<boolean, JsonObject>();
  const inputSchema = (vaultPinned: boolean): JsonObject => {
    const schema = rendered.get(vaultPinned) ?? renderInputSchema(input, describe, vaultPinned ? ["vaultId"] : []);
    rendered.set(vaultPinned, schema);
    return schema;
  };
  return {
    name,
    title,
    description,
    profile,
    endpoints,
    annotations: { ...annotationsOf(endpoints), ...definition.hints },
    readsOnly: endpoints.every((endpoint) => endpoint.effect === "read"),
    takesVault,
    makesVaults: endpoints.some((endpoint) => endpoint.id === "vaults.create"),
    touchesFiles: definition.touchesFiles ?? false,
    needsFolders: definition.needsFolders ?? false,
    resumes: definition.resumes ?? false,
    inputSchema,
    outputSchema: outputOf(definition.output, definition.table ?? null),
    invoke: async (args, call) => {
      const names = Object.keys(definition.input).filter((each) => each !== "vaultId" || call.pinnedVault === null);
      const isPinned = call.pinnedVault !== null;
      const prepared = prepareArguments(args, inputSchema(false));
      const parsed = input.safeParse(takesVault && isPinned ? withPinnedVault(prepared, call.pinnedVault) : prepared);
      if (!parsed.success) throw new TaskFailure("invalid_arguments", { message: sentenceOf(parsed.error, names) });
      return await definition.run(parsed.data, call);
    },
  };
}

/** The more cautious of the endpoints' effects: one endpoint that changes something makes the tool a change. */
export function annotationsOf(endpoints: readonly EndpointDefinition[]): Annotations {
  const hints = endpoints.map((endpoint) => EFFECT_HINTS[endpoint.effect]);
  return {
    readOnlyHint: hints.every((hint) => hint.readOnlyHint),
    destructiveHint: hints.some((hint) => hint.destructiveHint),
    idempotentHint: hints.every((hint) => hint.idempotentHint),
    openWorldHint: false,
  };
}

const EFFECT_HINTS: Readonly<Record<Effect, Omit<Annotations, "openWorldHint">>> = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  create: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  update: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  delete: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  append: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
};

/** With a pinned vault the argument does not exist: a call that names it fails as with any unknown argument. */
function withPinnedVault(args: unknown, vaultId: string | null): unknown {
  if (typeof args !== "object" || args === null) return args;
  if ("vaultId" in args)
    throw new TaskFailure("invalid_arguments", { message: "vaultId is fixed for this server; leave it out" });
  return { ...args, vaultId };
}

/** Names the argument and what is allowed there, never the value: the value may be anything. */
function sentenceOf(error: z.core.$ZodError, names: readonly string[]): string {
  const isUnknown = error.issues.some(({ code }) => code === "unrecognized_keys");
  const takes = names.length === 0 ? "this tool takes no arguments" : `this tool takes ${names.join(", ")}`;
  return [...describeIssues(error.issues, ""), ...(isUnknown ? [takes] : [])].join("; ");
}
