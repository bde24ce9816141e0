/** A real MCP client that starts the tool server over stdio, as an agent's host does. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { REPOSITORY } from "./stack.ts";

/** The program and the arguments before its flags or its command. */
export const TOOL_SERVER: readonly [string, ...string[]] = [
  process.execPath,
  "--conditions=coffer-source",
  join(REPOSITORY, "packages/mcp/src/main.ts"),
];

/** What a tool answered: its structured half, and whether it is an error. */
export interface ToolAnswer {
  readonly isError: boolean;
  readonly facts: Readonly<Record<string, unknown>>;
  /** Both halves as they went over the wire. */
  readonly wire: string;
}

export interface ToolServer extends AsyncDisposable {
  call(tool: string, toolArguments?: Readonly<Record<string, unknown>>): Promise<ToolAnswer>;
  toolNames(): Promise<readonly string[]>;
  /** Every message of the server so far, and what it wrote on stderr. */
  stream(): string;
}

export interface ToolServerOptions {
  /** A file in the format of config.json. */
  readonly credentialsFile: string;
  /** The folder the tools may touch, which downloads go to as well. */
  readonly folder: string;
  /** Beside what any program of this machine gets. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Of the tool server. Default: all tools. */
  readonly flags?: readonly string[];
}

export async function startToolServer({
  credentialsFile,
  folder,
  environment = {},
  flags = ["--profile", "owner"],
}: ToolServerOptions): Promise<ToolServer> {
  const [command, ...args] = TOOL_SERVER;
  const transport = new StdioClientTransport({
    command,
    args: [...args, "--config", credentialsFile, "--allow", folder, "--downloads", folder, ...flags],
    cwd: REPOSITORY,
    env: { ...getDefaultEnvironment(), ...environment },
    stderr: "pipe",
  });
  let stream = "";
  transport.stderr?.on("data", (chunk: Uint8Array) => (stream += new TextDecoder().decode(chunk)));
  const client = new Client({ name: "coffer-journeys", version: "1.0.0" });
  await client.connect(transport);
  const deliver = transport.onmessage;
  transport.onmessage = (message) => {
    stream += `${JSON.stringify(message)}\n`;
    deliver?.(message);
  };
  return {
    call: async (name, toolArguments = {}) =>
      readAnswer(await client.callTool({ name, arguments: { ...toolArguments } })),
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    stream: () => stream,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function readAnswer(result: Awaited<ReturnType<Client["callTool"]>>): ToolAnswer {
  const facts: unknown = result["structuredContent"] ?? {};
  if (typeof facts !== "object" || facts === null) throw new TypeError("structuredContent is no object");
  return {
    isError: result["isError"] === true,
    facts: Object.fromEntries(Object.entries(facts)),
    wire: JSON.stringify(result),
  };
}

/** Writes a config.json for this server and key into `directory`. `more`: what else the profile says. */
export async function writeCredentials(
  directory: string,
  baseUrl: string,
  apiKey: string,
  more: { readonly chainPrivateKey?: string; readonly networkFile?: string } = {},
): Promise<string> {
  const file = join(directory, "config.json");
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const config = { version: 1, defaultProfile: "default", profiles: { default: { baseUrl, apiKey, ...more } } };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}
