/** A real MCP client over stdio: it starts the tool server as an agent's host does, and reads what a host reads. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { launcherCommand, type LauncherCommand } from "./launcher.ts";

export interface ToolClientOptions {
  /** A file in the format of config.json. */
  readonly credentialsFile: string;
  /** Folders whose files the tools may touch. */
  readonly folders: readonly string[];
  /** More flags of the tool server. */
  readonly flags?: readonly string[];
  /** More variables for it. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly launcher?: LauncherCommand;
  /** Takes each piece of what the server writes to stderr. */
  readonly onLog?: (text: string) => void;
}

/** What a tool answered. */
export interface ToolAnswer {
  readonly isError: boolean;
  /** The structured half. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** The text half. */
  readonly text: string;
  /** The code of a failure; null for a success. */
  readonly code: string | null;
}

export interface ToolClient extends AsyncDisposable {
  call(
    tool: string,
    args?: Readonly<Record<string, unknown>>,
    options?: { readonly signal?: AbortSignal; readonly onProgress?: (done: number) => void },
  ): Promise<ToolAnswer>;
  toolNames(): Promise<string[]>;
  /** What the server says about itself to the model. */
  readonly instructions: string;
  close(): Promise<void>;
}

/** A transfer may take as long as it moves: progress starts the wait again. */
const SILENCE_LIMIT_MS = 120_000;

export async function openToolClient(options: ToolClientOptions): Promise<ToolClient> {
  const { command, args } = options.launcher ?? launcherCommand();
  const transport = new StdioClientTransport({
    command,
    args: [...args, ...options.folders.flatMap((folder) => ["--allow", folder]), ...(options.flags ?? [])],
    env: { ...inheritedEnvironment(), SERVICE_CONFIG_FILE: options.credentialsFile, ...options.environment },
    stderr: "pipe",
  });
  transport.stderr?.on("data", (chunk: Buffer) => options.onLog?.(chunk.toString()));
  const client = new Client({ name: "coffer-devstack", version: "0.1.0" });
  await client.connect(transport);
  const close = (): Promise<void> => client.close();
  return {
    call: async (name, given = {}, { signal, onProgress } = {}) => {
      const request = { name, arguments: { ...given } };
      const result = await client.callTool(request, CallToolResultSchema, {
        timeout: SILENCE_LIMIT_MS,
        resetTimeoutOnProgress: true,
        onprogress: ({ progress }) => onProgress?.(progress),
        ...(signal === undefined ? {} : { signal }),
      });
      return readAnswer(CallToolResultSchema.parse(result));
    },
    toolNames: async () => (await client.listTools()).tools.map((tool) => tool.name),
    instructions: client.getInstructions() ?? "",
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What a program needs to run, and no credential of the surrounding shell. */
function inheritedEnvironment(): Record<string, string> {
  const kept = [
    "HOME",
    "PATH",
    "TMPDIR",
    "LANG",
    "XDG_CONFIG_HOME",
    "SYSTEMROOT",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
    "TEMP",
  ];
  return Object.fromEntries(
    kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

function readAnswer(result: ReturnType<typeof CallToolResultSchema.parse>): ToolAnswer {
  const facts = result.structuredContent ?? {};
  const text = result.content.map((item) => (item.type === "text" ? item.text : "")).join("\n");
  return { isError: result.isError === true, facts, text, code: codeOf(facts["error"]) };
}

function codeOf(error: unknown): string | null {
  if (typeof error !== "object" || error === null || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}

/** A fact that must be a text. Throws TypeError. */
export function textFact(answer: ToolAnswer, name: string): string {
  const value = answer.facts[name];
  if (typeof value !== "string") throw new TypeError(`The tool's answer has no ${name}`);
  return value;
}

/** A fact that must be a number. Throws TypeError. */
export function numberFact(answer: ToolAnswer, name: string): number {
  const value = answer.facts[name];
  if (typeof value !== "number") throw new TypeError(`The tool's answer has no ${name}`);
  return value;
}
