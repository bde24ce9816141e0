/** An act, cut off at its calls to the outside one after the other: the same call again must end where one without a cut ends. */
import { openChain, type Chain, type VaultObject } from "@coffer/chain";
import { SdkError, type Client } from "@coffer/sdk";
import { DatabaseSync } from "node:sqlite";
import { expect } from "vitest";
import { join } from "node:path";
import { type Death, type Life, openMachine } from "./mortal-process.ts";
import type { SharedPerson, SharedStack } from "./shared-stack.ts";

/** What one cut is tried on: made anew for each. */
export interface Act<Scene> {
  prepare(): Promise<Scene>;
  /** Whose process it is. */
  actor(scene: Scene): SharedPerson;
  run(client: Client, scene: Scene, home: string): Promise<unknown>;
  /** What must be the same with and without a cut: nothing random, nothing that only counts how often a client asked. */
  state(scene: Scene, home: string): Promise<unknown>;
  /** Rejects unless everything is readable, for the owner and for who stays a member; asked after the cut and at the end. */
  probe?(scene: Scene): Promise<void>;
  /** With what a repeated call may be refused whose first attempt was carried out. */
  readonly already?: readonly string[];
}

interface CutReport {
  /** Of the act that was not cut off. */
  readonly calls: readonly string[];
  readonly cuts: number;
  /** What ended elsewhere, each with its cut. */
  readonly faults: readonly string[];
}

interface Cut {
  readonly at: number;
  readonly isAnswerLost: boolean;
}

/** How many cuts of one act are tried; all of them in full counts. */
const FULL = process.env["COFFER_TEST_COUNTS"] === "full";

/** @param most cuts by default: first around calls that change something, drawn by a fixed seed. */
async function cutEverywhere<Scene>(stack: SharedStack, act: Act<Scene>, most: number): Promise<CutReport> {
  const uncut = await tryOut(stack, act, null);
  const { calls, changes } = uncut.lives[0] ?? { calls: [], changes: [] };
  const cuts = FULL ? cutsAt(calls.map((_, at) => at + 1)) : drawCuts(calls.length, changes, most);
  const faults: string[] = [];
  for (const cut of cuts) {
    const name = `${cut.isAnswerLost ? "answer lost" : "not sent"}: ${String(cut.at)} ${calls[cut.at - 1] ?? ""}`;
    try {
      const { state } = await tryOut(stack, act, cut);
      if (state !== uncut.state) faults.push(`${name}\n  ended with ${state}\n  instead of ${uncut.state}`);
    } catch (error) {
      faults.push(
        `${name}\n  ${error instanceof Error ? `${error.name} ${codeOf(error)} ${error.message}` : "failed"}`,
      );
    }
  }
  return { calls, cuts: cuts.length, faults };
}

async function tryOut<Scene>(
  stack: SharedStack,
  act: Act<Scene>,
  cut: Cut | null,
): Promise<{ readonly lives: readonly Life<unknown>[]; readonly state: string }> {
  const scene = await act.prepare();
  await using machine = await openMachine(stack);
  const before = await readHeight(stack);
  const lives: Life<unknown>[] = [];
  const death: Death | undefined = cut === null ? undefined : { ...cut, isAt: ({ at }) => at === cut.at };
  const live = async (of: Death | undefined): Promise<void> => {
    lives.push(await machine.live(act.actor(scene), (client, home) => act.run(client, scene, home), of));
    await act.probe?.(scene);
  };
  await live(death);
  if (death !== undefined) await live(undefined).catch((error: unknown) => requireAlready(act.already, error));
  const transactions = (await readHeight(stack)) - before;
  const state = { transactions, state: await act.state(scene, machine.home) };
  await act.probe?.(scene);
  return {
    lives,
    state: JSON.stringify(state, (_, value: unknown) => (typeof value === "bigint" ? Number(value) : value)),
  };
}

function requireAlready(already: readonly string[] | undefined, error: unknown): void {
  if (already?.includes(codeOf(error)) !== true) throw error;
}

function codeOf(error: unknown): string {
  return error instanceof SdkError ? error.code : "";
}

function drawCuts(calls: number, changes: readonly number[], most: number): readonly Cut[] {
  const draw = drawer(calls * 31 + changes.length);
  const others = Array.from({ length: calls }, (_, at) => at + 1).filter((at) => !changes.includes(at));
  const pick = (cuts: Cut[], count: number): Cut[] =>
    Array.from({ length: Math.min(count, cuts.length) }, () => cuts.splice(draw(cuts.length), 1)).flat();
  const chosen = pick(cutsAt(changes), most - 1);
  return [...chosen, ...pick(cutsAt(others), most - chosen.length)];
}

function cutsAt(places: readonly number[]): Cut[] {
  return places.flatMap((at) => [false, true].map((isAnswerLost) => ({ at, isAnswerLost })));
}

/** The same numbers each time: a failure can be looked at again. */
function drawer(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const chains = new WeakMap<SharedStack, Chain>();

function chainOf(stack: SharedStack): Chain {
  const known = chains.get(stack) ?? openChain(stack.network, { fetch: stack.localnet.fetch });
  chains.set(stack, known);
  return known;
}

/** Grows by one with each transaction that is executed. */
export async function readHeight(stack: SharedStack): Promise<bigint> {
  const { response } = await chainOf(stack).client.ledgerService.getServiceInfo({});
  return response.checkpointHeight ?? 0n;
}

/** The vault's object as the chain has it now. */
export async function readObject(stack: SharedStack, objectId: string | null): Promise<VaultObject> {
  return chainOf(stack).readVault(objectId ?? "", { maxAge: 0 });
}

/** What the service's database says; the first column of each row, in the order that the query gives. */
export function readRows(stack: SharedStack, query: string, ...values: string[]): unknown[] {
  const database = new DatabaseSync(join(stack.dataDirectory, "coffer.sqlite"), { readOnly: true, timeout: 5_000 });
  try {
    return database
      .prepare(query)
      .all(...values)
      .map((row) => Object.values(row)[0]);
  } finally {
    database.close();
  }
}

/** For the tests of such acts, in milliseconds: in full counts each has every cut. */
export const PATIENCE = FULL ? 3_600_000 : 60_000;

/** The act ends as it would without a cut, wherever it is cut off. */
export async function expectNoFaults<Scene>(stack: SharedStack, act: Act<Scene>, most: number): Promise<void> {
  const { faults, calls, cuts } = await cutEverywhere(stack, act, most);
  expect(faults, `${String(cuts)} cuts of ${calls.join(", ")}`).toEqual([]);
  expect(cuts).toBeGreaterThan(1);
}
