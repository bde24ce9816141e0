/** Colours for people at a terminal. They say nothing that the words do not. */
import { styleText } from "node:util";
import type { Environment, OutputStream } from "../world.ts";

export type Paint = (style: "bold" | "red", text: string) => string;

/** Paints nothing where no terminal is, or where somebody does not want it: `--no-color`, `NO_COLOR` of no-color.org, a dumb terminal. */
export function paintOn({ isTerminal }: OutputStream, env: Environment, noColor: boolean): Paint {
  const isPlain = !isTerminal || noColor || (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb";
  return (style, text) => (isPlain ? text : styleText(style, text, { validateStream: false }));
}
