/** A host with a simple agent: it calls tools of a spawned server, counts, and reads answers as a program does. */
import { launcherCommand } from "@coffer/devstack";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

export type Facts = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly facts: Facts;
  /** The half that a model reads. */
  readonly text: string;
  /** null: it succeeded. */
  readonly code: string | null;
  /** The table of the answer, by its column names. */
  readonly rows: readonly Facts[];
}

export interface Agent {
  call(tool: string, args?: Facts): Promise<Answer>;
  /** What the host shows the model about the server before any call. */
  readonly instructions: string;
  /** What the user was asked. */
  readonly asked: readonly string[];
}

/** What one task cost. */
export interface Counted {
  calls: number;
  /** Characters of arguments and of the half that a model reads. */
  characters: number;
  readonly failures: string[];
}

export interface Host {
  /** An agent for one task. What it does is added up in `counted`. */
  agent(counted: Counted): Agent;
  close(): Promise<void>;
}

/** How the host's user answers. "none": the host cannot ask. */
export type User = "agrees" | "declines" | "none";

export interface HostOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
  readonly user: User;
}

const TIMEOUT_MS = 90_000;

export async function openHost({ environment, flags, user }: HostOptions): Promise<Host> {
  const { command, args } = launcherCommand();
  const client = new Client(
    { name: "eval", version: "1" },
    { capabilities: user === "none" ? {} : { elicitation: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  let asked: string[] = [];
  if (user !== "none")
    client.setRequestHandler("elicitation/create", ({ params }) => {
      asked.push(params.message);
      return Promise.resolve(
        user === "agrees" ? { action: "accept", content: { confirm: true } } : { action: "decline" },
      );
    });
  const env = { PATH: process.env["PATH"] ?? "", ...environment };
  await client.connect(new StdioClientTransport({ command, args: [...args, ...flags], env, stderr: "pipe" }));
  return {
    agent: (counted) => {
      const own: string[] = [];
      asked = own;
      return {
        asked: own,
        instructions: client.getInstructions() ?? "",
        call: async (tool, given = {}) => {
          counted.calls += 1;
          const result = await client.callTool({ name: tool, arguments: { ...given } }, { timeout: TIMEOUT_MS });
          const answer = readAnswer(result);
          counted.characters += JSON.stringify(given).length + answer.text.length;
          if (answer.code !== null) counted.failures.push(answer.code);
          return answer;
        },
      };
    },
    close: () => client.close(),
  };
}

function readAnswer(result: Awaited<ReturnType<Client["callTool"]>>): Answer {
  const facts = (result.structuredContent ?? {}) as Facts;
  const text = result.content.map((each) => (each.type === "text" ? each.text : "")).join("\n");
  const error = facts["error"] as { code?: string } | undefined;
  return { facts, text, code: result.isError === true ? (error?.code ?? "none") : null, rows: rowsOf(facts) };
}

/** The rows of the only table. */
function rowsOf(facts: Facts): Facts[] {
  const columns = (facts["columns"] ?? []) as readonly string[];
  const table = Object.entries(facts).find(([name, value]) => name !== "columns" && isTable(value))?.[1];
  if (!isTable(table)) return [];
  return table.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]])));
}

function isTable(value: unknown): value is readonly (readonly unknown[])[] {
  return Array.isArray(value) && value.length > 0 && value.every((row) => Array.isArray(row));
}

/** A cell as a text. */
export function cell(row: Facts | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value !== "string" && typeof value !== "number") throw new TypeError(`No ${column} in the answer`);
  return String(value);
}

/** The words of a cell, without the marks around them. */
export function said(row: Facts | undefined, column: string): string {
  return cell(row, column).replaceAll(/<\/?[\w-]{8}>/g, "");
}
