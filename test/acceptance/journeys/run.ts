/** Runs one journey against a fresh stack and says of every observable how it went: nothing is silent. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Journey, Observable } from "./observable.ts";
import { startStack, type Stack } from "../kit/stack.ts";

/** Resolves when the observable was seen, throws what is wrong with it otherwise. */
export type Check = () => Promise<void>;

/** The checks of a journey by observable id. They run in the catalogue's order, so a later one may build on an earlier. */
export type Checks = Readonly<Record<string, Check>>;

/** What a journey's program works with. Whatever it opens goes into `cleanup`. */
export interface World {
  /** Base URL, credentials and data directory of a stack started for this journey alone. */
  readonly stack: Stack;
  /** An empty directory of this journey. */
  readonly scratch: string;
  readonly cleanup: AsyncDisposableStack;
}

export type Program = (world: World) => Promise<Checks>;

export type Outcome =
  | { readonly observable: Observable; readonly kind: "ok" }
  | { readonly observable: Observable; readonly kind: "failed"; readonly reason: string }
  | { readonly observable: Observable; readonly kind: "pending"; readonly reason: string };

/** Runs the built observables of a journey; `report` hears of each outcome as soon as it is known. */
export async function runJourney(
  journey: Journey,
  program: Program | undefined,
  report: (outcome: Outcome) => void,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  await using cleanup = new AsyncDisposableStack();
  const checks = await open(journey, program, cleanup);
  for (const observable of journey.observables) {
    const outcome = await outcomeOf(observable, checks);
    report(outcome);
    outcomes.push(outcome);
  }
  return outcomes;
}

async function open(
  journey: Journey,
  program: Program | undefined,
  cleanup: AsyncDisposableStack,
): Promise<Checks | Error> {
  if (!journey.observables.some(({ status }) => status === "built")) return {};
  if (program === undefined) return new Error(`${journey.name} has built observables but no program`);
  try {
    const scratch = await mkdtemp(join(tmpdir(), `coffer-${journey.name.toLowerCase()}-`));
    cleanup.defer(() => rm(scratch, { recursive: true, force: true }));
    const stack = await startStack({ dataDirectory: join(scratch, "data") });
    cleanup.use(stack);
    const checks = await program({ stack, scratch, cleanup });
    return unlisted(journey, checks) ?? checks;
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  }
}

/** A check that the catalogue does not list as built would run unseen. */
function unlisted(journey: Journey, checks: Checks): Error | null {
  const listed = new Set(journey.observables.filter(({ status }) => status === "built").map(({ id }) => id));
  const strangers = Object.keys(checks).filter((id) => !listed.has(id));
  return strangers.length === 0 ? null : new Error(`not built in the catalogue: ${strangers.join(", ")}`);
}

async function outcomeOf(observable: Observable, checks: Checks | Error): Promise<Outcome> {
  if (observable.status === "pending") return { observable, kind: "pending", reason: `waits for ${observable.issue}` };
  if (checks instanceof Error) return { observable, kind: "failed", reason: checks.message };
  const check = checks[observable.id];
  if (check === undefined)
    return { observable, kind: "failed", reason: "marked built, but the program has no check for it" };
  try {
    await check();
    return { observable, kind: "ok" };
  } catch (thrown) {
    return { observable, kind: "failed", reason: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

/** One line per observable. */
export function renderOutcome(outcome: Outcome): string {
  const { id, tag, text } = outcome.observable;
  const word = { ok: "ok", failed: "FAIL", pending: "pending" }[outcome.kind];
  const reason = outcome.kind === "ok" ? "" : ` (${outcome.reason.replaceAll(/\s*\n\s*/g, " · ")})`;
  return `${word.padEnd(7)} ${id} [${tag}] ${text}${reason}`;
}
