/** Deliveries over PostgreSQL, by one process and by two, against those of one process over SQLite. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Engine, startEngine } from "./engine.ts";
import { processorSeconds } from "./machine.ts";
import { type Benchmark, measured, median, medianRatio, renderRatios } from "./outcome.ts";
import { openScratch } from "./service.ts";
import { type Owner, type Receivers, startReceivers, WebhookService } from "./webhook-service.ts";
import { deliver } from "./webhooks.ts";

const ROUNDS = 5;
/** Rounds before, which count for nothing: each of two processes makes half of the deliveries, and is compiled only after as many as one alone. */
const WARMING = 2;
const ENDPOINTS = 40;
/** With fewer, most of a round would be its beginning and its end, where each of two processes records little at a time. */
const EVENTS = 250;
const DELIVERIES = ENDPOINTS * EVENTS;
const PROCESSES = 2;
/** Endpoints of one receiver's process would all wait for its one core, as those of the world do not. They take turns. */
const RECEIVERS = 2;
const SINGLE_EVENTS = 30;
/** Between two single events, in milliseconds: all is recorded by then. */
const BETWEEN = 120;

interface Contestant extends AsyncDisposable {
  /** Counts of one round. */
  round(): Promise<void>;
  readonly perSecond: number[];
  /** Microseconds of the server's processes for one delivery. */
  readonly processor: number[];
  readonly engine: number[];
  readonly receivers: number[];
  /** From each write to its arrival while nothing else is under way. Milliseconds. */
  singles(): Promise<number[]>;
}

export const webhooksPostgres: Benchmark = async () => {
  await using scratch = await openScratch();
  await using receivers = await startReceivers(RECEIVERS);
  await using engine = await startEngine();
  const make = async (title: string, processes: number, isPostgres: boolean): Promise<Contestant> => {
    const directory = join(scratch.directory, title);
    await mkdir(directory);
    const databaseUrl = isPostgres ? await engine.make(title) : null;
    const service = await WebhookService.start(directory, { databaseUrl, processes });
    return contestantOf(service, receivers, engine);
  };
  await using sqlite = await make("sqlite", 1, false);
  await using one = await make("one", 1, true);
  await using two = await make("two", PROCESSES, true);
  for (let round = 0; round < WARMING + ROUNDS; round += 1) {
    if (round === WARMING)
      for (const { perSecond, processor, engine: spent, receivers: taken } of [sqlite, one, two])
        for (const series of [perSecond, processor, spent, taken]) series.length = 0;
    for (const contestant of [sqlite, one, two]) await contestant.round();
  }
  const singles: string[] = [];
  for (const each of [sqlite, one, two]) singles.push(median(await each.singles()).toFixed(1));
  const [onSqlite = "", byOne = "", byTwo = ""] = singles;
  const ofEach = ({ processor }: Contestant) => processor.map((each) => 1 / each);
  return measured({
    name: "webhooks-postgres",
    about: "deliveries a second of a process over PostgreSQL, over those of a process over SQLite",
    value: medianRatio(one.perSecond, sqlite.perSecond),
    unit: "times",
    limit: { at: "least", value: 0.5 },
    alsoHeld: {
      "deliveries that two processes make in a second of each one's processor, over those of one alone": {
        value: PROCESSES * medianRatio(ofEach(two), ofEach(one)),
        limit: { at: "least", value: 1.6 },
      },
    },
    series: {
      "SQLite, deliveries a second": sqlite.perSecond,
      "PostgreSQL, deliveries a second": one.perSecond,
      "PostgreSQL and two processes, deliveries a second": two.perSecond,
      "SQLite, µs of Node for one": sqlite.processor,
      "PostgreSQL, µs of Node for one": one.processor,
      "PostgreSQL and two processes, µs of Node for one": two.processor,
      "PostgreSQL, µs of the engine for one": one.engine,
      "PostgreSQL and two processes, µs of the engine for one": two.engine,
      "PostgreSQL, µs of the receivers for one": one.receivers,
      "PostgreSQL and two processes, µs of the receivers for one": two.receivers,
    },
    facts: {
      "two over one, by the clock": renderRatios(two.perSecond, one.perSecond),
      "processors that are busy": `one keeps ${coresOf(one)} cores busy with its engine and the receivers, two keep ${coresOf(two)}`,
      "a single event, from its write to its arrival, ms": `SQLite ${onSqlite}, PostgreSQL ${byOne}, two processes ${byTwo} (medians of ${String(SINGLE_EVENTS)})`,
      deliveries: `${String(DELIVERIES)} a round to ${String(ENDPOINTS)} endpoints of ${String(RECEIVERS)} receivers, in turns`,
    },
  });
};

/** Processor seconds of everything that takes part, in a second of the clock. */
function coresOf({ perSecond, processor, engine, receivers }: Contestant): string {
  const each = median(processor) + median(engine) + median(receivers);
  return ((median(perSecond) * each) / 1e6).toFixed(2);
}

async function contestantOf(service: WebhookService, receivers: Receivers, engine: Engine): Promise<Contestant> {
  const owner: Owner = await service.signUp();
  const webhookIds: string[] = [];
  const urlOf = (at: number): string => `${receivers.all[at % RECEIVERS]?.url ?? ""}/${String(at)}`;
  for (let at = 0; at < ENDPOINTS; at += 1) webhookIds.push(await service.endpoint(owner, urlOf(at)));
  const [perSecond, processor]: [number[], number[]] = [[], []];
  const [spent, taken]: [number[], number[]] = [[], []];
  return {
    ...{ perSecond, processor, engine: spent, receivers: taken },
    async round() {
      const ofReceivers = (): number => receivers.all.reduce((sum, { pid }) => sum + processorSeconds(pid), 0);
      const others = [() => engine.seconds(), ofReceivers];
      const pace = await deliver(service, receivers, owner, { webhookIds, events: EVENTS }, others);
      perSecond.push(pace.perSecond);
      processor.push(pace.processor);
      spent.push(pace.others[0] ?? Number.NaN);
      taken.push(pace.others[1] ?? Number.NaN);
    },
    async singles() {
      const alone = await service.signUp();
      await service.endpoint(alone, urlOf(0));
      const taken: number[] = [];
      await receivers.ask("read");
      while (taken.length < SINGLE_EVENTS) {
        const written = performance.timeOrigin + performance.now();
        await service.write(alone);
        const arrived = await arrivalAt(receivers);
        taken.push(arrived - written);
        await pause(BETWEEN);
      }
      return taken;
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/** When the one event arrived that is awaited, in milliseconds since the Unix epoch. */
async function arrivalAt(receivers: Receivers): Promise<number> {
  for (;;) {
    const [event] = (await receivers.ask("take")).events;
    if (event !== undefined) return event[1];
    await pause(2);
  }
}
