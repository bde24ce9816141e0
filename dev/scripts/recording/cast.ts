/** The story as an asciicast (version 2) and as a picture that moves: https://docs.asciinema.org/manual/asciicast/v2/ */
import { createRequire } from "node:module";
import path from "node:path";
import { CLI_PEER_MODULES } from "../peers.ts";
import { SIZE, type Played } from "./play.ts";

const COLOURS = { ada: "\u001b[32m", bot: "\u001b[36m" } as const;
const [GREY, PLAIN] = ["\u001b[90m", "\u001b[0m"];
/** What somebody needs to type three words, to see a command work, and to read a line of what it prints. In seconds. */
const PAUSES = { words: 0.45, work: 0.6, line: 0.35, least: 1.2, end: 6 };

/** Timed for readers: what a run needs differs from machine to machine. */
export function toCast(story: readonly Played[]): string {
  const events: [number, "o", string][] = [];
  let at = 0.5;
  const show = (text: string, pause: number): void => {
    events.push([Number(at.toFixed(2)), "o", text]);
    at += pause;
  };
  for (const { person, says, line, screen } of story) {
    if (says !== undefined) show(`\r\n${GREY}# ${says}${PLAIN}\r\n`, 0.6);
    show(`${COLOURS[person]}${person}$${PLAIN} `, 0.3);
    for (const words of line.match(/(?:\S+\s*){1,3}/g) ?? []) show(words, PAUSES.words);
    show("\r\n", PAUSES.work);
    show(screen, Math.max(PAUSES.least, screen.split("\n").length * PAUSES.line));
  }
  show("", PAUSES.end);
  const header = { version: 2, width: SIZE.columns, height: SIZE.rows, title: "coffer: the first ten minutes" };
  return [header, ...events].map((each) => `${JSON.stringify(each)}\n`).join("");
}

interface Peer {
  readonly render: (cast: string, options: Readonly<Record<string, unknown>>) => string;
}

/** A frame is beside the next one. With a font that is a little wider than it claims, the last column must still end in its own. */
const FONT_SIZE = 1.65;

/** By svg-term, of the programs in test/cli/peers. */
export function toPicture(cast: string): string {
  const load = createRequire(path.join(CLI_PEER_MODULES, "of-peers.js"));
  const { render } = load("svg-term") as Peer;
  const { defaultTheme } = load("svg-term/lib/default-theme") as { defaultTheme: object };
  const theme = { ...defaultTheme, fontSize: FONT_SIZE };
  return `${render(cast, { theme, window: true, cursor: false, paddingX: 6, paddingY: 6 })}\n`;
}
