/** Resources: a vault's top and the text of a file, for users who attach them by hand. They show what the tools show. */
import { findFolder, findVault, segmentsOf, TaskFailure, toFailure, Untrusted } from "@coffer/tasks";
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Call } from "./call.ts";
import { shapeOutcome } from "./result.ts";
import type { Tool } from "./tool.ts";

export interface ResourceOptions {
  /** The tools that this server offers. */
  readonly names: readonly string[];
  readonly loadTool: (name: string) => Promise<Tool>;
  readonly callFor: (context: ServerContext) => Call;
  /** For completions: nobody can be asked. */
  readonly unattendedCall: () => Call;
}

const VAULT = "coffer://vaults/{vault}";
const FILE = "coffer://vaults/{vault}/files/{+path}";
const MOST_SUGGESTIONS = 100;
const MOST_CHARS = 30_000;

export function addResources(mcp: McpServer, { names, loadTool, callFor, unattendedCall }: ResourceOptions): void {
  const complete = {
    vault: (value: string) => suggestions(vaultNames(unattendedCall(), value)),
    path: (value: string, context?: { arguments?: Record<string, string> }) =>
      suggestions(pathsIn(unattendedCall(), context?.arguments?.["vault"] ?? "", value)),
  };
  if (names.includes("file_list"))
    mcp.registerResource(
      "vault",
      new ResourceTemplate(VAULT, { list: undefined, complete: { vault: complete.vault } }),
      {
        title: "A vault",
        description: "Folders and files at the top of a vault, by its name or id.",
        mimeType: "text/plain",
      },
      async ({ href }, { vault }, context) => {
        const text = await explained(callFor(context), async (call) =>
          topOf(await loadTool("file_list"), call, decoded(vault)),
        );
        return { contents: [{ uri: href, mimeType: "text/plain", text }] };
      },
    );
  if (names.includes("file_read"))
    mcp.registerResource(
      "file",
      new ResourceTemplate(FILE, { list: undefined, complete }),
      { title: "A text file", description: "The text of a file, by its path in a vault.", mimeType: "text/plain" },
      async ({ href }, { vault, path }, context) => {
        const page = await explained(callFor(context), async (call) =>
          textOf(await loadTool("file_read"), call, decoded(vault), decoded(path)),
        );
        return { contents: [{ uri: href, mimeType: "text/plain", ...page }] };
      },
    );
}

function decoded(value: string | string[] | undefined): string {
  const text = Array.isArray(value) ? value.join("/") : (value ?? "");
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TaskFailure("invalid_arguments", { message: "The address has a broken % sign" });
  }
}

/** Failures of tools in the words of the protocol: a missing one is -32602, as the 2026 revision has it. */
async function explained<T>(call: Call, work: (call: Call) => Promise<T>): Promise<T> {
  try {
    return await work(call);
  } catch (thrown) {
    const failure = toFailure(thrown, call.signal);
    const isClosed = call.isRemote && failure.code === "shared_vault";
    const { code, message, nextStep } = isClosed ? new TaskFailure("remote_server") : failure;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${message} (${code}). ${nextStep}`);
  }
}

async function topOf(list: Tool, call: Call, vault: string): Promise<string> {
  call.taint();
  const { content } = shapeOutcome(await list.invoke(await vaultArgumentOf(call, vault), call));
  return content.map(({ text }) => text).join("\n");
}

async function textOf(
  read: Tool,
  call: Call,
  vault: string,
  path: string,
): Promise<{ text: string; _meta?: Record<string, unknown> }> {
  const vaultArgument = await vaultArgumentOf(call, vault);
  const { facts } = await read.invoke({ ...vaultArgument, file: path, maxChars: MOST_CHARS }, call);
  const { text, nextOffset } = facts;
  call.taint();
  if (!(text instanceof Untrusted)) throw new TaskFailure("unexpected");
  return { text: text.visible(), ...(typeof nextOffset === "number" ? { _meta: { nextOffset } } : {}) };
}

/** The vault as an argument. With `--vault`, the tools have no such argument, and other vaults do not exist. */
async function vaultArgumentOf(call: Call, vault: string): Promise<{ vaultId?: string }> {
  const { id } = await findVault(call, vault);
  if (call.pinnedVault === null) return { vaultId: id };
  if (id !== call.pinnedVault) throw new TaskFailure("not_found");
  return {};
}

/** What cannot be completed has no suggestions: no failure belongs into a menu. */
async function suggestions(lookup: Promise<string[]>): Promise<string[]> {
  return await lookup.catch(() => []);
}

async function vaultNames(call: Call, value: string): Promise<string[]> {
  const client = await call.client();
  const pages = await Promise.all(
    [{}, { shared: true }].map((each) =>
      client.vaults.list({ ...each, limit: MOST_SUGGESTIONS }, { signal: call.signal }),
    ),
  );
  const vaults = pages
    .flatMap((page) => page.vaults)
    .filter(({ id }) => call.pinnedVault === null || id === call.pinnedVault);
  return namesWithPrefix(
    vaults.map(({ name }) => name),
    value,
  );
}

/** Folders and files whose path begins so. A folder ends in a stroke. */
async function pathsIn(call: Call, vault: string, value: string): Promise<string[]> {
  const { id: vaultId } = await findVault(call, vault);
  if (call.pinnedVault !== null && call.pinnedVault !== vaultId) return [];
  const parents = value.includes("/") ? segmentsOf(value.slice(0, value.lastIndexOf("/"))) : [];
  const parent = parents.length === 0 ? null : await findFolder(call, vaultId, parents.join("/"));
  const client = await call.client();
  const options = { signal: call.signal };
  const limit = MOST_SUGGESTIONS;
  const { folders } = await client.folders.list({ vaultId, parentId: parent?.id ?? "root", limit }, options);
  const { files } = await client.files.list({ vaultId, folderId: parent?.id ?? "root", limit }, options);
  const head = parents.map((each) => `${each}/`).join("");
  return namesWithPrefix(
    [...folders.map(({ name }) => `${head}${name}/`), ...files.map(({ name }) => `${head}${name}`)],
    value,
  );
}

/** Names that a terminal or a menu would show otherwise than they are stay out. */
function namesWithPrefix(names: readonly string[], value: string): string[] {
  const prefix = value.toLowerCase();
  return names
    .filter((name) => name !== "" && name.toLowerCase().startsWith(prefix) && new Untrusted(name).visible() === name)
    .slice(0, MOST_SUGGESTIONS);
}
