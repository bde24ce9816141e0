/** The flags of every command. */
import { parsed, text, toggle, type Flags } from "./declarations.ts";

export const GLOBAL_FLAGS = {
  profile: text("Use this profile of the configuration; coffer profiles list names them", { placeholder: "NAME" }),
  baseUrl: text("Address of the service, in place of the profile's", { placeholder: "URL" }),
  json: toggle("Print one JSON document on standard output, failures too"),
  quiet: toggle("Print no progress and no notes, only results and failures"),
  verbose: toggle("Print request ids, causes and stack traces of failures"),
  noColor: toggle("Print no colours"),
  noInput: toggle("Ask no questions: fail where one would be needed"),
  yes: toggle("Answer yes to every question"),
  timeout: parsed("Give up after so many seconds; never without it", seconds, { placeholder: "SECONDS" }),
} as const satisfies Flags;

/** Only lists have these. */
export const LIST_FLAGS = {
  jsonLines: toggle("Lists only: print one JSON document for each item, one a line"),
} as const satisfies Flags;

/** The longest that Node's timers can wait. */
const MOST_SECONDS = 2_147_483;

function seconds(typed: string): number {
  const number = Number(typed);
  if (/^\d+(\.\d+)?$/.test(typed) && number > 0 && number <= MOST_SECONDS) return number;
  throw new Error(`expected seconds, more than 0 and at most ${String(MOST_SECONDS)}`);
}
