/** Asking before something is done that has no way back. */
import type { Streams } from "./command.ts";

/** With `--yes` nobody is asked. Says what is missing where it is not agreed to. */
export async function isConfirmed(streams: Streams, question: string, yes: boolean | undefined): Promise<boolean> {
  if (yes === true) return true;
  const answer = await streams.ask(`${question} [y/N] `);
  if (answer === null) streams.note(`${question} Nobody is at a terminal to answer: say --yes\n`);
  else if (/^y(es)?$/i.test(answer.trim())) return true;
  else streams.note("Nothing was done\n");
  return false;
}
