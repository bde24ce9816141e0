/** How the outcomes of an act on several files and folders are shown. */
import { type ItemOutcome, nameOf, shortIds, untrusted } from "@coffer/tasks";
import type { Fact, Outcome } from "../result.ts";
import { COUNT, TEXT } from "../schema.ts";

/** Rows of one answer. */
const MOST_SHOWN = 50;

export const ACTED = { done: COUNT, failed: COUNT, cut: TEXT, nextStep: TEXT };

/** `done` is a word for what happened, such as `moved`. Failures come first. */
export function actedOutcome(outcomes: readonly ItemOutcome[], done: string): Outcome {
  const failed = outcomes.filter(({ failure }) => failure !== null);
  const good = outcomes.length - failed.length;
  const rows = [...failed, ...outcomes.filter(({ failure }) => failure === null)];
  const short = shortIds(rows.flatMap(({ item }) => (item === null ? [] : [item.id])));
  return {
    summary: `${String(good)} ${done}${failed.length === 0 ? "" : `, ${String(failed.length)} failed`}.`,
    facts: {
      done: good,
      ...(failed.length === 0 ? {} : { failed: failed.length, nextStep: stepsOf(failed) }),
      ...(rows.length > MOST_SHOWN ? { cut: `${String(rows.length - MOST_SHOWN)} rows are not shown` } : {}),
    },
    table: {
      name: "rows",
      columns: ["id", "result", "name"],
      rows: rows
        .slice(0, MOST_SHOWN)
        .map(({ failure, item, named }): Fact[] => [
          item === null ? null : short(item.id),
          failure === null ? done : failure.code,
          untrusted(item === null || nameOf(item) === "" ? named : nameOf(item)),
        ]),
    },
  };
}

/** The steps of the codes, each once. */
function stepsOf(failed: readonly ItemOutcome[]): string {
  const steps = new Set(failed.flatMap(({ failure }) => (failure === null ? [] : [failure.nextStep])));
  return [...steps].slice(0, 3).join(" ");
}
