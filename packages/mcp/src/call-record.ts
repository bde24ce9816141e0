/**
 * The record of calls: one line for each, in files of the configuration directory. Each process writes a chain of lines,
 * and each line holds the hash of the one before it. Arguments are there as a hash only.
 */
import { createHash, randomBytes } from "node:crypto";
import { appendFileSync } from "node:fs";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { canonical } from "./confirmation-tokens.ts";

/** One call, as a line records it. */
export interface CallFacts {
  readonly tool: string;
  readonly args: unknown;
  /** `ok`, or the code of the failure. */
  readonly result: string;
  /** Bytes that a receipt names; null: none. */
  readonly bytes: number | null;
  /** The one that agreed: the host's user, or a model with a token. null: nobody had to. */
  readonly agreed: "user" | "token" | null;
  /** The id of the key that called, where one process serves many. */
  readonly key: string | null;
}

export interface CallRecord {
  /** Writes one line. Rejects when the disk refuses. */
  add(facts: CallFacts): Promise<void>;
}

/** No call is recorded: for programs that embed the server and keep a record of their own. */
export const NO_CALL_RECORD: CallRecord = { add: () => Promise.resolve() };

const NAME = /^mcp-\d{4}-\d{2}\.jsonl$/;
const HASH_LENGTH = 64;

/** The chain of lines that this process writes. The directory is asked for and made at the first call, for its owner alone. */
export class FileCallRecord implements CallRecord {
  readonly #directoryOf: () => Promise<string>;
  readonly #now: () => Date;
  /** null: nothing is written yet. */
  #chain: Chain | null = null;
  /** The end of the write before: lines come one after another. */
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(directoryOf: () => Promise<string>, now: () => Date = () => new Date()) {
    this.#directoryOf = directoryOf;
    this.#now = now;
  }

  add(facts: CallFacts): Promise<void> {
    const written = this.#lastWrite.then(() => this.#write(facts));
    this.#lastWrite = written.catch(() => undefined);
    return written;
  }

  async #write(facts: CallFacts): Promise<void> {
    const chain = (this.#chain ??= await this.#startChain());
    const at = this.#now().toISOString();
    const body = {
      at,
      chain: chain.id,
      sequence: chain.sequence,
      previous: chain.previous,
      tool: facts.tool,
      args: hashOf(canonical(facts.args ?? {})),
      result: facts.result,
      bytes: facts.bytes,
      agreed: facts.agreed,
      key: facts.key,
    };
    const hash = hashOf(JSON.stringify(body));
    // One short line: handing it to another thread takes longer than to write it.
    appendFileSync(join(chain.directory, `mcp-${at.slice(0, 7)}.jsonl`), `${JSON.stringify({ ...body, hash })}\n`, {
      mode: 0o600,
    });
    chain.previous = hash;
    chain.sequence += 1;
  }

  async #startChain(): Promise<Chain> {
    const directory = await this.#directoryOf();
    await mkdir(directory, { recursive: true, mode: 0o700 });
    // A chain begins with the hash of the newest line that is there. So a cut before it shows.
    const previous = await newestHash(directory);
    return { directory, id: randomBytes(9).toString("base64url"), sequence: 0, previous };
  }
}

interface Chain {
  readonly directory: string;
  readonly id: string;
  /** Of the next line. */
  sequence: number;
  /** Hash of the line before it. */
  previous: string | null;
}

/** What {@link verifyCallRecord} found. */
export interface CallRecordReport {
  readonly lines: number;
  readonly chains: number;
  /** `file:line: what is wrong`, the first of each file. */
  readonly problems: readonly string[];
}

/** Reads every file of the record. A missing directory has no lines. */
export async function verifyCallRecord(directory: string): Promise<CallRecordReport> {
  const chains = new Map<string, { sequence: number; hash: string }>();
  const hashes = new Set<string>();
  const problems: string[] = [];
  let lines = 0;
  for (const name of await callRecordFiles(directory)) {
    const text = await readFile(join(directory, name), "utf8");
    for (const [at, line] of text.split("\n").entries()) {
      if (line === "") continue;
      lines += 1;
      const problem = problemOfLine(line, chains, hashes);
      if (problem === null) continue;
      problems.push(`${name}:${String(at + 1)}: ${problem}`);
      break;
    }
  }
  return { lines, chains: chains.size, problems };
}

function problemOfLine(
  line: string,
  chains: Map<string, { sequence: number; hash: string }>,
  hashes: Set<string>,
): string | null {
  const parsed = parseLine(line);
  if (parsed === null) return "the line is not one of a record";
  const { hash, chain, sequence, previous, body } = parsed;
  if (hashOf(JSON.stringify(body)) !== hash) return "the line was changed";
  const before = chains.get(chain);
  if (sequence !== (before === undefined ? 0 : before.sequence + 1)) return "lines before this one are missing";
  if (before !== undefined ? previous !== before.hash : previous !== null && !hashes.has(previous))
    return "the line before this one is missing or was changed";
  chains.set(chain, { sequence, hash });
  hashes.add(hash);
  return null;
}

interface Line {
  readonly hash: string;
  readonly chain: string;
  readonly sequence: number;
  readonly previous: string | null;
  /** Everything but the hash. */
  readonly body: object;
}

function parseLine(line: string): Line | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof parsed !== "object" || parsed === null) return null;
  const { hash, ...body } = parsed as Record<string, unknown>;
  const { chain, sequence, previous } = body;
  if (typeof hash !== "string" || typeof chain !== "string" || typeof sequence !== "number") return null;
  if (typeof previous !== "string" && previous !== null) return null;
  return { hash, chain, sequence, previous, body };
}

async function callRecordFiles(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => NAME.test(name)).toSorted();
}

/** The hash of the newest line; null: there is none. */
async function newestHash(directory: string): Promise<string | null> {
  const newest = (await callRecordFiles(directory)).at(-1);
  if (newest === undefined) return null;
  const hash = /"hash":"([0-9a-f]{64})"\}\n?$/.exec(await readFile(join(directory, newest), "utf8"))?.[1];
  return hash?.length === HASH_LENGTH ? hash : null;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The directory of the record, below that of the configuration. */
export async function callRecordDirectory(env: Readonly<Record<string, string | undefined>>): Promise<string> {
  const { configDirectory } = await import("@coffer/sdk/node");
  return join(configDirectory(env), "audit");
}
