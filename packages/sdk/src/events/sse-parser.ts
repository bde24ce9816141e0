/** Server-sent events as WHATWG HTML §9.2.5 and §9.2.6 read them, from text in any pieces. */

/** What came before an empty line. Dispatched as an event when it has data; without, it may still carry a place or a time. */
export interface SseBlock {
  /** `message` when the block named none. */
  readonly event: string;
  /** Lines joined by line feeds; null: there were none. */
  readonly data: string | null;
  /** The place to come back to; null: this block names none. */
  readonly id: string | null;
  /** Milliseconds to wait before the next connection; null: this block names none. */
  readonly retry: number | null;
}

/** A block that never ends must not fill the memory; the longest payload has 20,000 bytes. Characters. */
const LONGEST_BLOCK = 256 * 1024;

/**
 * A parser for one connection: takes the next piece of decoded text, gives the blocks that end in it. A rest at the
 * end of the connection is an event that never ended: drop it (§9.2.6).
 * @throws RangeError for a block of more than 256 Ki characters.
 */
export function createSseParser(): (text: string) => SseBlock[] {
  let rest = "";
  let afterReturn = false;
  let block = emptyBlock();
  const endLine = (line: string, blocks: SseBlock[]): void => {
    if (line !== "") {
      readField(block, line);
      return;
    }
    if (block.data !== null || block.id !== null || block.retry !== null) blocks.push(block);
    block = emptyBlock();
  };
  return (text) => {
    const blocks: SseBlock[] = [];
    // The second half of a CRLF whose first half ended the piece before.
    const fresh = afterReturn && text.startsWith("\n") ? text.slice(1) : text;
    if (text !== "") afterReturn = text.endsWith("\r");
    const [head = "", ...lines] = fresh.split(/\r\n|\n|\r/);
    rest += head;
    for (const next of lines) {
      endLine(rest, blocks);
      rest = next;
    }
    if (rest.length + (block.data?.length ?? 0) > LONGEST_BLOCK) throw new RangeError("An event without an end");
    return blocks;
  };
}

type OpenBlock = { -readonly [Field in keyof SseBlock]: SseBlock[Field] };

function emptyBlock(): OpenBlock {
  return { event: "message", data: null, id: null, retry: null };
}

function readField(block: OpenBlock, line: string): void {
  const colon = line.indexOf(":");
  // A line that begins with a colon is a comment: its name is empty, and so is ignored like every unknown one.
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
  if (name === "event") block.event = value || "message";
  else if (name === "data") block.data = block.data === null ? value : `${block.data}\n${value}`;
  else if (name === "id" && !value.includes("\0")) block.id = value;
  else if (name === "retry" && /^\d{1,9}$/.test(value)) block.retry = Number(value);
}
