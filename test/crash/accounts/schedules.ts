/**
 * Schedules: accounts written to through several processes while these are killed and come back. One seed is one schedule of choices; the
 * moments at which they meet are the machine's.
 */
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { runOperator } from "../../journeys/kit/operator.ts";
import { type Draw, openDraw } from "../../fuzz/draw.ts";
import { inspectData } from "../inspect.ts";
import { sweep } from "../sweeping.ts";
import type { Fleet } from "./fleet.ts";
import { Rows } from "./rows.ts";
import { verifyAccount } from "./verifying.ts";
import { type Account, type Scene, Worker } from "./worker.ts";

export interface Schedule {
  readonly seed: number;
  readonly milliseconds: number;
  /** It is over sooner after so many kills. */
  readonly kills?: number;
  readonly accounts: number;
  /** In the place of a kill, as often: what else may go wrong. "over": the schedule ends. */
  readonly disturb?: (draw: Draw) => Promise<"over" | void>;
  /** How long to wait for uploads whose writers were killed; 0: they stay as they are. Milliseconds. */
  readonly patience: number;
}

export interface Outcome {
  readonly findings: readonly string[];
  readonly counts: Scene["counts"];
}

/** Writers to one account at the same time, each to things of its own. */
const WRITERS = ["a", "b"];
/** Between two kills of one schedule, at most. Milliseconds. */
const LONGEST_LIFE = 1200;

export async function runSchedule(fleet: Fleet, schedule: Schedule): Promise<Outcome> {
  const draw = openDraw(schedule.seed);
  await using rows = new Rows(fleet.directory);
  const counts = { acknowledged: 0, cut: 0, happened: 0, replayed: 0, resumed: 0, unavailable: 0 };
  const scene: Scene = { fleet, rows, findings: [], counts };
  const accounts = await Promise.all(Array.from({ length: schedule.accounts }, () => signUp(fleet, draw)));
  const workers = accounts.flatMap((account, at) =>
    WRITERS.map((prefix, writer) => new Worker(scene, account, prefix, openDraw(draw.int(2 ** 31) + at + writer))),
  );
  const ending = new AbortController();
  const working = workers.map((worker) => worker.work(ending.signal));
  const disturb = schedule.disturb ?? ((by: Draw) => fleet.kill(by));
  const killing = kill(ending.signal, fleet, { draw, disturb }, fleet.kills + (schedule.kills ?? Infinity));
  try {
    const time = pause(schedule.milliseconds, undefined, { signal: ending.signal });
    await Promise.race([time.catch(() => undefined), killing]);
  } finally {
    ending.abort();
  }
  await Promise.all([...working, killing]);
  if (schedule.patience > 0) await Promise.all(workers.map((worker) => worker.finish(schedule.patience)));
  for (const account of accounts) {
    const own = workers.filter((worker) => worker.account === account);
    scene.findings.push(
      ...(await throughKills(() => verifyAccount({ baseUrl: fleet.pick(draw), rows }, account, own))),
    );
  }
  return { findings: scene.findings, counts };
}

/**
 * What is wrong with the data of all schedules together: with one process left, which has cleaned up behind the others, once uploads have
 * ended, and a sweep has removed what cut requests left.
 */
export async function inspectAll(fleet: Fleet): Promise<string[]> {
  await fleet.settle();
  const variables = { SERVICE_ENV: "development", SERVICE_DATA_DIR: fleet.directory, ...fleet.environment };
  const audit = await runOperator(["audit", "verify"], variables);
  const altered = audit.code === 0 ? [] : [`audit verify: ${audit.stdout}${audit.stderr}`];
  const swept = await sweep(variables);
  const held = "SERVICE_BLOBS_URL" in fleet.environment ? swept : undefined;
  return [...altered, ...(await inspectData(fleet.directory, held)), ...fleet.faults];
}

async function kill(
  ending: AbortSignal,
  fleet: Fleet,
  { draw, disturb }: { readonly draw: Draw; readonly disturb: (draw: Draw) => Promise<"over" | void> },
  upTo: number,
): Promise<void> {
  while (!ending.aborted && fleet.kills < upTo) {
    await pause(draw.int(LONGEST_LIFE));
    if (!ending.aborted && (await disturb(draw)) === "over") return;
  }
}

/** Other schedules may kill who is asked. */
async function throughKills<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let left = 20; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left === 0) throw error;
      await pause(20);
    }
  }
}

async function signUp(fleet: Fleet, draw: Draw): Promise<Account> {
  return throughKills(async () => {
    const baseUrl = fleet.pick(draw);
    const email = `fleet-${crypto.randomUUID()}@example.test`;
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ email });
    const made = await fetch(`${baseUrl}/api/auth/dev-signup`, { method: "POST", headers, body });
    assert.equal(made.status, 200);
    const { id, apiKey: key } = (await made.json()) as { id: string; apiKey: string };
    const authorized = { headers: { authorization: `Bearer ${key}` } };
    const listed = await fetch(`${baseUrl}/api/vaults`, authorized);
    const { vaults } = (await listed.json()) as { vaults: { id: string }[] };
    const log = await fetch(`${baseUrl}/api/audit-log?limit=1`, authorized);
    const { events } = (await log.json()) as { events: { sequence: number }[] };
    return { id, key, vaultId: vaults[0]?.id ?? "", begunAt: events[0]?.sequence ?? 0 };
  });
}
