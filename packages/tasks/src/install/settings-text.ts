/** Changes one server in the text of a host's settings. Comments, order and everything else stay as they are. */
import { applyEdits, modify, parse as parseJson, type ParseError } from "jsonc-parser";
import { parse as parseToml, stringify as stringifyToml } from "smol-toml";
import { TaskFailure } from "../failure.ts";
import type { Host } from "./hosts.ts";

/** How a host starts the server. */
export interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Some editors begin each text with it. What reads JSON may pass over it (RFC 8259 §8.1), and it stays in the file. */
const MARK = "\ufeff";

/** The entry as the file has it; null: none of this name. Throws TaskFailure `not_configured` for a text that is no settings. */
export function entryIn(host: Host, text: string, name: string): unknown {
  const servers = memberOf(readSettings(host, text), host.servers);
  return memberOf(servers, name) ?? null;
}

export function renderEntry(host: Host, { command, args, env }: ServerEntry): Record<string, unknown> {
  return { ...(host.isTyped ? { type: "stdio" } : {}), command, args: [...args], env: { ...env } };
}

/** The text with the entry; null: without it. */
export function withEntry(host: Host, text: string, name: string, entry: Record<string, unknown> | null): string {
  if (text.startsWith(MARK)) return `${MARK}${withEntry(host, text.slice(MARK.length), name, entry)}`;
  readSettings(host, text);
  const next = host.format === "json" ? changeJson(host, text, name, entry) : changeToml(host, text, name, entry);
  // What was written is what a host will read: nothing else may have changed.
  const expected = structuredClone(readSettings(host, text));
  setServer(expected, host.servers, name, entry);
  if (JSON.stringify(sorted(readSettings(host, next))) !== JSON.stringify(sorted(expected)))
    throw unusable(host, "its form is not understood well enough to change it");
  return next;
}

function changeJson(host: Host, text: string, name: string, entry: Record<string, unknown> | null): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const tabs = /\n\t/.test(text);
  const width = /\n( +)\S/.exec(text)?.[1]?.length ?? 2;
  const formattingOptions = { insertSpaces: !tabs, tabSize: width, eol };
  const start = text.trim() === "" ? `{}${eol}` : text;
  const edits = modify(start, [host.servers, name], entry ?? undefined, { formattingOptions });
  return applyEdits(start, edits);
}

/** A block goes from its header to the next header of another table. */
function changeToml(host: Host, text: string, name: string, entry: Record<string, unknown> | null): string {
  const own = `${host.servers}.${name}`;
  const lines = text.split("\n");
  const otherLines: string[] = [];
  let isOwn = false;
  for (const line of lines) {
    const header = /^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$/.exec(line)?.[1];
    if (header !== undefined) isOwn = header === own || header.startsWith(`${own}.`);
    if (!isOwn) otherLines.push(line);
  }
  const others = otherLines.join("\n").trimEnd();
  const block = entry === null ? "" : stringifyToml({ [host.servers]: { [name]: entry } }).trim();
  // The table above it is only a header.
  const body = block.replace(`[${host.servers}]\n`, "");
  return [others, body]
    .filter((part) => part !== "")
    .join("\n\n")
    .concat("\n")
    .replace(/^\n$/, "");
}

function readSettings(host: Host, written: string): Record<string, unknown> {
  const text = written.startsWith(MARK) ? written.slice(MARK.length) : written;
  if (text.trim() === "") return {};
  const settings = host.format === "json" ? readJson(host, text) : readToml(host, text);
  if (typeof settings !== "object" || settings === null || Array.isArray(settings))
    throw unusable(host, "it does not hold an object");
  const servers: unknown = Reflect.get(settings, host.servers);
  if (servers !== undefined && (typeof servers !== "object" || servers === null || Array.isArray(servers)))
    throw unusable(host, `${host.servers} is no object`);
  return { ...settings };
}

function readJson(host: Host, text: string): unknown {
  const problems: ParseError[] = [];
  const parsed: unknown = parseJson(text, problems, { allowTrailingComma: true });
  const [problem] = problems;
  if (problem === undefined) return parsed;
  throw unusable(host, `it is no JSON at line ${String(text.slice(0, problem.offset).split("\n").length)}`);
}

function readToml(host: Host, text: string): unknown {
  try {
    return parseToml(text);
  } catch (error) {
    const line = typeof error === "object" && error !== null && "line" in error ? String(error.line) : "?";
    throw unusable(host, `it is no TOML at line ${line}`);
  }
}

function setServer(
  settings: Record<string, unknown>,
  servers: string,
  name: string,
  entry: Record<string, unknown> | null,
): void {
  const current = settings[servers];
  const all: Record<string, unknown> = typeof current === "object" && current !== null ? { ...current } : {};
  if (entry === null) Reflect.deleteProperty(all, name);
  else all[name] = entry;
  // An empty table has no line in TOML.
  if (Object.keys(all).length === 0) Reflect.deleteProperty(settings, servers);
  else settings[servers] = all;
}

/** Members in one order, and without empty tables. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value instanceof Date ? value.toISOString() : value;
  const members = Object.entries(value).map(([key, each]): [string, unknown] => [key, sorted(each)]);
  const filled = members.filter(([key, each]) => !(isServersName(key) && JSON.stringify(each) === "{}"));
  return Object.fromEntries(filled.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isServersName(key: string): boolean {
  return key === "mcpServers" || key === "mcp_servers" || key === "servers";
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

function unusable(host: Host, why: string): TaskFailure {
  return new TaskFailure("not_configured", {
    message: `${host.title}'s settings ${host.file} were left as they are: ${why}`,
    nextStep: "Mend the file, then run the command again.",
  });
}
