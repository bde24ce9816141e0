/** How one file of seen statements is read: a header, then lines. The newest line of each key counts. */
import { Buffer } from "node:buffer";
import type { FileHandle } from "node:fs/promises";
import { decodeRest, LINE_CHARACTERS, parseLine, type SeenFields } from "./seen-lines.ts";

/** How many statements of a vault are remembered; the oldest notes give way. */
const MOST = 65_536;
/** Read at once, in bytes. */
const PIECE = 256 * 1024;
const HEADER = /^coffer-seen 1 (0x[0-9a-f]{64}) ([0-9a-f]{16})$/;
const HEADER_CHARACTERS = 97;
const LATER = /^coffer-seen (?!1 )\d+ /;

/** `version`: a later client wrote it. */
type Problem = "damaged" | "version";

/** Whether `rest` has a higher number than `before`. */
export function isNewer(rest: string, before: string): boolean {
  return decodeRest(rest).number > decodeRest(before).number;
}

/** Notes by key, in the order in which they were kept last. */
export class Notes extends Map<string, string> {
  /** Everything before it is deleted. A new iterator for each note would pass all of that again. */
  readonly #oldest = this.keys();

  /** Behind all others; the oldest note gives way. */
  keep(key: string, rest: string): void {
    this.delete(key);
    this.set(key, rest);
    const oldest = this.size > MOST ? this.#oldest.next().value : undefined;
    if (oldest !== undefined) this.delete(oldest);
  }
}

export class SeenLog {
  /** Text of the first header: another one means that the file was rewritten. null: nothing was read yet. */
  nonce: string | null = null;
  problem: Problem | null = null;
  readonly #object: string;
  readonly #rests = new Notes();
  /** Bytes that were read to the end of a line. */
  #offset = 0;
  #lines = 0;

  constructor(object: string) {
    this.#object = object;
  }

  static header(object: string, nonce: string): string {
    return `coffer-seen 1 ${object} ${nonce}`;
  }

  /** null: the file begins with something else. */
  static async readNonce(file: FileHandle): Promise<string | null> {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_CHARACTERS), 0, HEADER_CHARACTERS, 0);
    return HEADER.exec(buffer.toString("latin1", 0, bytesRead))?.[2] ?? null;
  }

  get isRead(): boolean {
    return this.#offset > 0;
  }

  /** Statements that are remembered. */
  get size(): number {
    return this.#rests.size;
  }

  /** Lines of the file, with those that are void. */
  get lines(): number {
    return this.#lines;
  }

  find(key: string): string | null {
    return this.#rests.get(key) ?? null;
  }

  /** The lines that count, the oldest first. */
  *entries(isKept: (key: string) => boolean): Generator<[key: string, rest: string], void, undefined> {
    for (const entry of this.#rests) if (isKept(entry[0])) yield entry;
  }

  /** Goes on where the last read ended. It leaves a partial line at the end for the next read. */
  async read(file: FileHandle): Promise<void> {
    this.nonce ??= await SeenLog.readNonce(file);
    const { size } = await file.stat();
    let rest = "";
    for (let at = this.#offset; at < size;) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(PIECE), 0, Math.min(PIECE, size - at), at);
      if (bytesRead === 0) break;
      at += bytesRead;
      const lines = (rest + buffer.toString("latin1", 0, bytesRead)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#takeLine(line);
      if (rest.length > LINE_CHARACTERS) rest = this.#giveUp(rest);
      this.#offset = at - rest.length;
    }
    if (this.#isWhole(rest)) {
      this.#takeLine(rest);
      this.#offset += rest.length;
    }
    if (this.nonce === null && this.#offset > 0) this.problem ??= "damaged";
  }

  /** The bytes appended since. */
  async readRest(file: FileHandle): Promise<string> {
    const { size } = await file.stat();
    const length = Math.max(size - this.#offset, 0);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, this.#offset);
    return buffer.toString("latin1", 0, bytesRead);
  }

  /** Never goes back; of two with one number the first stays. */
  #take({ key, rest }: SeenFields): void {
    const before = this.#rests.get(key);
    if (before !== undefined && !isNewer(rest, before)) return;
    this.#rests.keep(key, rest);
  }

  #isWhole(line: string): boolean {
    return line.length === LINE_CHARACTERS ? parseLine(line) !== null : HEADER.test(line);
  }

  /** Not cut off: a header is shorter than a line. */
  #isLong(line: string): boolean {
    return line.length >= LINE_CHARACTERS || HEADER.test(line);
  }

  #takeLine(line: string): void {
    if (line === "") return;
    this.#lines += 1;
    const fields = parseLine(line);
    if (fields === null) this.#judge(line);
    else this.#take(fields);
  }

  /** No line is that long: treat the rest as if it began here. */
  #giveUp(line: string): string {
    this.#judge(line);
    return "";
  }

  /** The file has two headers if two processes made it at once. A crash cut off a line that is too short, and nobody misses it. */
  #judge(line: string): void {
    if (LATER.test(line)) this.problem = "version";
    else if (this.#isLong(line) && HEADER.exec(line)?.[1] !== this.#object) this.problem ??= "damaged";
  }
}
