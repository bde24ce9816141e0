/** What is of one run or one machine becomes the same words in every recording: places, ids, addresses, secrets and times. */
import { createHash } from "node:crypto";

const DAY_MS = 86_400_000;
/** The day of every recording. */
const DAY = Date.UTC(2026, 0, 5);

/** An address of the chain, an id or its short form, a secret, a time. What a content hashes to is the same in every run. */
const OF_THIS_RUN =
  /(?<address>0x[0-9a-f]{64})|(?<id>\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b)|(?<short>\b[0-9a-f]{8}\b)|(?<secret>\b(?:cofi|cofr|cof|whsec|suiprivkey1)_?[\w.-]{20,})|(?<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z)/g;

/** A line that is written over: how far a transfer is. */
const PROGRESS = /(?:\r[^\r\n]*\u001b\[K)+/g;
/** The line editor of a question puts the cursor where it is anyhow. */
const CURSOR = /\u001b\[\d*[GJ]/g;
/** A heading in bold, and the rows below it. */
const TABLE = /\u001b\[1m(?<head>[A-Z ]+)\u001b\[22m\r\n(?<rows>(?:.+\r\n)+)/g;

export class Mask {
  readonly #places: readonly (readonly [real: string, shown: string])[];
  readonly #began = Date.now();
  readonly #seen = new Map<string, string>();

  constructor(places: readonly (readonly [real: string, shown: string])[]) {
    this.#places = places;
  }

  /** What of a screen may be shown. */
  hide(screen: string): string {
    const left = screen.replaceAll(PROGRESS, "").replaceAll(CURSOR, "").replaceAll("\r\r\n", "\r\n");
    const text = this.#places.reduce((moved, [real, shown]) => moved.replaceAll(real, shown), left);
    let [hidden, from] = ["", 0];
    for (const { 0: table, index, groups } of text.matchAll(TABLE)) {
      hidden += this.#words(text.slice(from, index)) + this.#table(groups?.["head"] ?? "", groups?.["rows"] ?? "");
      from = index + table.length;
    }
    return hidden + this.#words(text.slice(from));
  }

  #words(text: string): string {
    return text.replaceAll(OF_THIS_RUN, (...found) => this.#word(found.at(-1) as Record<string, string | undefined>));
  }

  #word({ address, id, short, secret, time }: Readonly<Record<string, string | undefined>>): string {
    if (address !== undefined) return `0x${this.#drawn(address).slice(0, 4)}…${this.#drawn(address).slice(-4)}`;
    // As people name things: the first 8 digits are enough for every command.
    if (id !== undefined) return `${this.#drawn(id.slice(0, 8)).slice(0, 8)}…`;
    if (short !== undefined) return this.#drawn(short).slice(0, 8);
    if (secret !== undefined) return `${/^[a-z]+1?_?/.exec(secret)?.[0] ?? ""}…`;
    const days = Math.round((Date.parse((time ?? "").replace(" ", "T")) - this.#began) / DAY_MS);
    return `${new Date(DAY + days * DAY_MS).toISOString().slice(0, 10)} 09:00Z`;
  }

  /** 64 digits that depend on the order in which things are met, and on nothing else. */
  #drawn(real: string): string {
    const known = this.#seen.get(real);
    if (known !== undefined) return known;
    const drawn = createHash("sha256")
      .update(`recording ${String(this.#seen.size)}`)
      .digest("hex");
    this.#seen.set(real, drawn);
    return drawn;
  }

  /** Its columns become as wide as what is left in them. */
  #table(head: string, rows: string): string {
    const starts = [0, ...[...head.matchAll(/(?<= {2})[A-Z]/g)].map(({ index }) => index)];
    // A number ends where its title ends, so it may begin before it: the gap between columns is theirs.
    const lines = [head, ...rows.split("\r\n").slice(0, -1)].map((line) =>
      starts.map((start, at) => this.#words(line.slice(start, starts[at + 1] ?? line.length).trimEnd())),
    );
    const widths = starts.map((_, at) => Math.max(...lines.map((cells) => cells[at]?.length ?? 0)));
    const [title = "", ...others] = lines.map((cells) =>
      cells
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    );
    return [`\u001b[1m${title}\u001b[22m`, ...others, ""].join("\r\n");
  }
}
