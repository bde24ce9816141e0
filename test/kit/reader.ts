/**
 * Somebody at a shell who knows nothing but what was printed: each word of a line that they type was on a page, in a help
 * text, in an answer, or in what somebody sent them. What is their own to choose, such as a name, is said where it is typed.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { clockAhead } from "../journeys/kit/clock-ahead.ts";
import { runInTerminal, type Typed } from "./coffer-program.ts";
import { makeDirectory } from "./directory.ts";

export interface Shown {
  readonly code: number;
  /** Everything that was on the screen, without colours. */
  readonly screen: string;
}

export interface Reader {
  /** A HOME, and the working directory. */
  readonly home: string;
  /** A page, or what somebody else sends. */
  reads(text: string): void;
  /** In a terminal, as it is. `own`: the words that are the person's to choose. */
  types(line: string, own?: readonly string[], answers?: readonly Typed[]): Promise<Shown>;
  /** A file of their own. */
  writes(name: string, content: string): Promise<void>;
}

export interface ReaderWorld {
  /** The directory of the programs that are installed here, such as `coffer`. */
  readonly programs: string;
  /** How many milliseconds the clocks of all machines are ahead of the real one. */
  readonly ahead: () => number;
}

/** Words of the shell itself. */
const SHELL = new Set(["|", "<", ">", "echo"]);

export async function openReader({ programs, ahead }: ReaderWorld): Promise<Reader> {
  const home = makeDirectory();
  const clocks = makeDirectory();
  let seen = "";
  const reads: Reader["reads"] = (text) => {
    seen += `\n${text}`;
  };
  return {
    home,
    reads,
    writes: (name, content) => writeFile(join(home, name), content),
    types: async (line, own = [], answers = []) => {
      for (const word of wordsOf(line))
        if (!SHELL.has(word) && !own.includes(word) && !seen.includes(word))
          throw new Error(`nothing printed ${JSON.stringify(word)} before ${JSON.stringify(line)} was typed`);
      const clock = join(clocks, `${String(ahead())}.mjs`);
      await writeFile(clock, clockAhead(ahead()));
      const env = { HOME: home, PATH: `${programs}:${process.env["PATH"] ?? ""}`, NODE_OPTIONS: `--import=${clock}` };
      const { code, screen } = await runInTerminal([line], {
        program: ["/bin/sh", "-c"],
        env,
        cwd: home,
        typed: answers,
      });
      const plain = stripVTControlCharacters(screen).replaceAll("\r\n", "\n");
      reads(plain);
      return { code, screen: plain };
    },
  };
}

function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? "",
  );
}

/** The one line of a text that begins so, as it is pasted: without what indents it. */
export function lineIn(screen: string, beginning: string): string {
  const lines = screen
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.startsWith(beginning));
  const [line] = lines;
  if (line === undefined || lines.length !== 1)
    throw new Error(`${String(lines.length)} lines begin with ${JSON.stringify(beginning)}:\n${screen}`);
  return line;
}
