/** What a shell may put after the words that are typed already: the hidden command `coffer __complete WORDS…`. */
import { proposeCompletions, type CommandContext } from "@stricli/core";
import { buildApp } from "../application.ts";
import type { Routes } from "../declarations.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { findRoute } from "../find-route.ts";
import type { World } from "../world.ts";

/** Prints one proposal in a line, with a tab and what it is. The last word is the one that is being typed. */
export async function complete(routes: Routes, words: readonly string[], world: World): Promise<ExitCode> {
  const { words: ordered, routed } = await findRoute(routes, words.slice(0, -1));
  const app = buildApp(routes, routed, () => Promise.resolve());
  const context: CommandContext = { process: { stdout: IGNORED, stderr: IGNORED } };
  const proposals = await proposeCompletions(app, [...ordered, words.at(-1) ?? ""], context).catch(() => []);
  // Flags are many, and proposed when one was begun. Each is there in two spellings; people type the one with dashes.
  const isFlag = words.at(-1)?.startsWith("-") === true;
  const shownProposals = proposals.filter(({ kind, completion }) =>
    kind === "argument:flag" ? isFlag && !/^--.*[A-Z]/.test(completion) : true,
  );
  const lines = new Map(shownProposals.map(({ completion, brief }) => [completion, brief.replaceAll(/\s+/g, " ")]));
  await world.stdout.write([...lines].map(([completion, brief]) => `${completion}\t${brief}\n`).join(""));
  return EXIT.done;
}

const IGNORED = { write: (): void => undefined };
