/** Runs one journey on fresh ground and says of every observable how it went: nothing is silent. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ground, Journey, Observable } from "./observable.ts";
import type { SharedService } from "../kit/shared-service.ts";
import { startStack, type Stack } from "../kit/stack.ts";

/** Resolves when the observable was seen, throws what is wrong with it otherwise. */
export type Check = () => Promise<void>;

/** The checks of a journey by observable id. They run in the catalogue's order, so a later one may build on an earlier. */
export type Checks = Readonly<Record<string, Check>>;

/** What a journey's program works with. Whatever it opens goes into `cleanup`. */
interface Place {
  /** An empty directory of this journey. */
  readonly scratch: string;
  readonly cleanup: AsyncDisposableStack;
}

export interface World extends Place {
  /** Started for this journey alone, or shared with others. */
  readonly stack: Stack;
}

export interface SharedWorld extends Place {
  /** One for all journeys of a run: each has an account of its own, and takes back the faults that it causes. */
  readonly service: SharedService;
}

export type Program = (world: World) => Promise<Checks>;
export type SharedProgram = (world: SharedWorld) => Promise<Checks>;

/** Makes the checks of one journey on one ground. */
type Opener = (place: Place) => Promise<Checks>;
/** The grounds that a run has; built observables of others are left to other runs. */
export type Openers = Readonly<Partial<Record<Ground, Opener | undefined>>>;

export type Outcome =
  | { readonly observable: Observable; readonly kind: "ok" }
  | { readonly observable: Observable; readonly kind: "failed"; readonly reason: string }
  | { readonly observable: Observable; readonly kind: "pending"; readonly reason: string };

/** Starts a stack for the journey alone where no shared one is given. */
export function onStack(program: Program, shared?: Stack): Opener {
  return async ({ scratch, cleanup }) => {
    const stack = shared ?? cleanup.use(await startStack({ dataDirectory: join(scratch, "data") }));
    return program({ stack, scratch, cleanup });
  };
}

export function onNetwork(service: SharedService, program: SharedProgram): Opener {
  return (place) => program({ ...place, service });
}

/** Runs the built observables of a journey; `report` hears of each outcome as soon as it is known. */
export async function runJourney(
  journey: Journey,
  openers: Openers,
  report: (outcome: Outcome) => void,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  await using cleanup = new AsyncDisposableStack();
  const opened: Partial<Record<Ground, Checks | Error>> = {};
  for (const observable of journey.observables) {
    const outcome = await outcomeOf(observable, async (ground) => {
      if (!(ground in openers)) return null;
      return (opened[ground] ??= await open(journey, ground, openers[ground], cleanup));
    });
    if (outcome === null) continue;
    report(outcome);
    outcomes.push(outcome);
  }
  return outcomes;
}

async function open(
  journey: Journey,
  ground: Ground,
  opener: Opener | undefined,
  cleanup: AsyncDisposableStack,
): Promise<Checks | Error> {
  if (opener === undefined) return new Error(`${journey.name} has built observables but no program`);
  try {
    const scratch = await mkdtemp(join(tmpdir(), `coffer-${journey.name.toLowerCase()}-`));
    cleanup.defer(() => rm(scratch, { recursive: true, force: true }));
    const checks = await opener({ scratch, cleanup });
    return unlisted(journey, ground, checks) ?? checks;
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  }
}

/** A check that the catalogue does not list as built would run unseen. */
function unlisted(journey: Journey, ground: Ground, checks: Checks): Error | null {
  const listed = new Set(journey.observables.filter((one) => isBuilt(one, ground)).map(({ id }) => id));
  const strangers = Object.keys(checks).filter((id) => !listed.has(id));
  return strangers.length === 0 ? null : new Error(`not built in the catalogue: ${strangers.join(", ")}`);
}

export function isBuilt(observable: Observable, ground: Ground): boolean {
  return observable.status === "built" && observable.ground === ground;
}

/** null: another run has the ground for it. */
async function outcomeOf(
  observable: Observable,
  checksOn: (ground: Ground) => Promise<Checks | Error | null>,
): Promise<Outcome | null> {
  if (observable.status === "pending") return { observable, kind: "pending", reason: `waits for ${observable.issue}` };
  const checks = await checksOn(observable.ground);
  if (checks === null) return null;
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
