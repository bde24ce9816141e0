/** Binds tools to the protocol. imports.test.ts lists the modules that import an MCP library. */
import { api } from "@coffer/contract";
import {
  type AllowedFolders,
  downloadsOf,
  findVault,
  narrowByRoots,
  toFailure,
  TaskFailure,
  withStep,
} from "@coffer/tasks";
import {
  inputRequired,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type InputRequiredResult,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { addApps, pageOf } from "./apps.ts";
import type { Call } from "./call.ts";
import { AskUser } from "./confirm.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import { shapeFailure, shapeOutcome, type ShapedResult } from "./result.ts";
import type { Tool } from "./tool.ts";
import { chooseTools, type ListedTool, withoutVault } from "./tool-list.ts";
import { isId, membershipStep } from "./fact-values.ts";
import type { Launch } from "./launch.ts";
import { createCall, type CallOptions, type CallNotes } from "./call-factory.ts";
import { addResources } from "./resources.ts";
import { addPrompts } from "./prompts.ts";
import type { CallRecord } from "./call-record.ts";
import { clientRoots, withRoots } from "./roots.ts";
import { SKILLS } from "./skill.ts";

export const SERVER_NAME = "coffer";
export const SERVER_VERSION = "0.1.0";

export interface ServerParts extends CallOptions {
  readonly folders: AllowedFolders;
  /** Aborts when the process is about to end: downloads then remove their partial files. */
  readonly stop: AbortSignal;
  readonly record: CallRecord;
  /** The key that the connection came with, for the record; null: the process has one. */
  readonly keyId: string | null;
  /** One line for the operator, about a failure nobody foresaw. */
  readonly log: (line: string) => void;
}

/** A server for one connection of either protocol era. The tools are chosen once and never change. */
export function createServer(parts: ServerParts): McpServer {
  const mcp = new McpServer(
    { name: SERVER_NAME, version: SERVER_VERSION, title: "Coffer" },
    {
      instructions: INSTRUCTIONS,
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false },
        prompts: { listChanged: false },
      },
    },
  );
  const { tools, list } = offeredToolsOf(parts.launch);
  mcp.server.setRequestHandler("tools/list", () => list);
  mcp.server.setRequestHandler("tools/call", async (request, context) => {
    const { name } = request.params;
    if (!tools.some((tool) => tool.name === name))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown tool; tools/list names those of this server");
    return await answer(await loadTool(name), request.params.arguments, parts, context, mcp);
  });
  addResourcesAndPrompts(mcp, tools, parts);
  return mcp;
}

/** The code of the tools is loaded at the first call. */
async function loadTool(name: string): Promise<Tool> {
  const { findTool } = await import("./registry.ts");
  return findTool(name);
}

/** Resources and prompts of what the tools do, and the skill. */
function addResourcesAndPrompts(mcp: McpServer, tools: readonly ListedTool[], parts: ServerParts): void {
  const callFor = (context: ServerContext | null): Call =>
    createCall({
      tool: "resource",
      args: {},
      parts,
      context,
      mcp,
      notes: { agreed: null, refusal: null },
      // Resources and prompts write no local file.
      folders: parts.folders,
      downloads: { ...parts.folders, folders: [] },
      signal: AbortSignal.any([parts.stop, ...(context === null ? [] : [context.mcpReq.signal])]),
    });
  const names = tools.map(({ name }) => name);
  addResources(mcp, { names, loadTool, callFor: callFor, unattendedCall: () => callFor(null) });
  addPrompts(mcp, names);
  addApps(mcp, names);
  SKILLS.attach(mcp);
}

interface OfferedTools {
  readonly tools: readonly ListedTool[];
  readonly list: { readonly tools: ToolListing[] };
}

/** Over HTTP there is a server for each request: what follows from the flags is made once. */
const offeredTools = new WeakMap<Launch, OfferedTools>();

function offeredToolsOf(launch: Launch): OfferedTools {
  const cached = offeredTools.get(launch);
  if (cached !== undefined) return cached;
  const tools = chooseTools(launch);
  const offered = { tools, list: { tools: tools.map((tool) => listed(tool, launch)) } };
  offeredTools.set(launch, offered);
  return offered;
}

type ToolListing = Pick<ListedTool, "name" | "title" | "description" | "annotations"> & {
  inputSchema: { type: "object"; [name: string]: unknown };
  outputSchema: { type: "object"; [name: string]: unknown };
  _meta?: Record<string, unknown>;
};

/** The schemas go out as they are: what a library would add costs every model tokens in every session. */
function listed(tool: ListedTool, launch: Launch): ToolListing {
  const { name, title, description, annotations, inputSchema, outputSchema } = tool;
  return {
    name,
    title,
    description,
    inputSchema: { ...(launch.vaultId === null ? inputSchema : withoutVault(inputSchema)), type: "object" },
    outputSchema: { ...outputSchema, type: "object" },
    annotations,
    ...pageOf(name),
  };
}

async function answer(
  tool: Tool,
  args: unknown,
  parts: ServerParts,
  context: ServerContext,
  mcp: McpServer,
): Promise<CallToolResult | InputRequiredResult> {
  const signal = signalOf(tool, context.mcpReq.signal, parts.stop);
  const { activity } = parts.credentialState;
  const notes: CallNotes = { agreed: null, refusal: null };
  activity.calls += 1;
  try {
    // The settings' secrets must be known before a file is judged.
    if (tool.touchesFiles) await parts.serviceLink.setup().catch(() => undefined);
    const narrows = tool.touchesFiles && parts.folders.folders.length > 0;
    const roots = narrows ? await clientRoots(mcp, context) : [];
    if (roots === "ask") return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
    const folders = await narrowByRoots(parts.folders, roots, parts.launch.roots);
    const downloads = await downloadsOf(folders, parts.launch.downloads);
    const outcome = await tool.invoke(
      args,
      createCall({ tool: tool.name, args, parts, context, mcp, signal, folders, downloads, notes }),
    );
    if (notes.refusal !== null) throw notes.refusal.thrown;
    await recordCall(parts, { tool, args, result: "ok", bytes: bytesOf(outcome.facts["bytes"]), notes });
    return withTaint(parts, shapeOutcome(outcome));
  } catch (caught) {
    const { thrown } = notes.refusal ?? { thrown: caught };
    if (thrown instanceof AskUser) return tool.touchesFiles ? withRoots(thrown.result, context) : thrown.result;
    const failure = await explained(toFailure(thrown, signal), parts, args);
    if (failure.code === "signed_out") parts.serviceLink.reset();
    if (failure.code === "unexpected") parts.log(`${tool.name}: ${describe(failure.cause)}`);
    await recordCall(parts, { tool, args, result: failure.code, bytes: null, notes });
    return withTaint(parts, shapeFailure(failure));
  } finally {
    activity.calls -= 1;
  }
}

/** What is fenced was written by others, and may ask the model for anything. */
function withTaint({ credentialState }: ServerParts, shaped: ShapedResult): CallToolResult {
  if (shaped.structuredContent["fence"] !== undefined) credentialState.taint.isTainted = true;
  return { ...shaped };
}

async function recordCall(
  { record, keyId, log }: ServerParts,
  {
    tool,
    args,
    result,
    bytes,
    notes,
  }: { tool: Tool; args: unknown; result: string; bytes: number | null; notes: CallNotes },
): Promise<void> {
  await record
    .add({ tool: tool.name, args, result, bytes, agreed: notes.agreed, key: keyId })
    .catch((error: unknown) => {
      log(`the record of calls could not be written: ${error instanceof Error ? error.message : "unknown"}`);
    });
}

function bytesOf(fact: unknown): number | null {
  return typeof fact === "number" ? fact : null;
}

/** A step says which vault, where that is known. A non-member's holds the address too, and what the owner does with it. */
async function explained(failure: TaskFailure, parts: ServerParts, args: unknown): Promise<TaskFailure> {
  const { serviceLink, launch } = parts;
  if (failure.code === "shared_vault" && parts.handOut === null) return new TaskFailure("remote_server");
  const chainAddress = failure.code === "not_a_member" ? await serviceLink.chainAddress() : null;
  if (chainAddress === null && !failure.nextStep.includes("VAULT")) return failure;
  const vaultId = launch.vaultId ?? (await vaultOf(args, parts));
  if (chainAddress === null) return withStep(failure, failure.nextStep.replaceAll("VAULT", vaultId ?? "VAULT"));
  return withStep(failure, `${membershipStep(chainAddress, vaultId)} vault_access_check says which part is missing.`);
}

/** The vault that valid arguments name, or the vault of the file that they name. null when the arguments name neither. */
async function vaultOf(args: unknown, { serviceLink, stop }: ServerParts): Promise<string | null> {
  const vault = textIn(args, "vaultId");
  const file = textIn(args, "file") ?? textIn(args, "files");
  if (vault === null && file === null) return null;
  if (vault !== null && isId(vault)) return vault;
  try {
    const client = await serviceLink.client();
    const open = () => Promise.resolve(client);
    const task = {
      signal: stop,
      progress: () => undefined,
      client: open,
      clientFor: open,
      chainAddress: () => serviceLink.chainAddress(),
    };
    if (vault !== null) return (await findVault(task, vault)).id;
    // The file as the service shows it: a non-member cannot open any of it.
    if (file !== null && isId(file))
      return (await client.call(api.files.get, { params: { fileId: file } })).file.vaultId;
    const { files } = await client.call(api.files.list, { query: { idPrefix: file ?? "", limit: 2 } });
    return files.length === 1 ? (files[0]?.vaultId ?? null) : null;
  } catch {
    return null;
  }
}

function textIn(args: unknown, name: "vaultId" | "file" | "files"): string | null {
  const value: unknown = typeof args === "object" && args !== null && name in args ? Reflect.get(args, name) : null;
  const text: unknown = Array.isArray(value) ? value[0] : value;
  return typeof text === "string" && text !== "" ? text : null;
}

/**
 * The library aborts every call when the client hangs up. This server ignores that for a call that can be resumed. An
 * abort would end its upload on the service, and the same call could not go on later.
 */
function signalOf(tool: Tool, cancelled: AbortSignal, stop: AbortSignal): AbortSignal {
  if (!tool.resumes) return AbortSignal.any([cancelled, stop]);
  const own = new AbortController();
  cancelled.addEventListener(
    "abort",
    () => {
      if (!stop.aborted) own.abort(cancelled.reason);
    },
    { once: true },
  );
  return own.signal;
}

function describe(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
