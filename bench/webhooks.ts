/** What deliveries cost, and what they cost others. */
import { processorSeconds } from "./machine.ts";
import { type Benchmark, measured, median, medianRatio } from "./outcome.ts";
import { openScratch } from "./service.ts";
import {
  type Owner,
  type Poster,
  type Receiver,
  startPoster,
  startReceiver,
  WebhookService,
} from "./webhook-service.ts";

const ROUNDS = 5;
/** Of the bare loop: more make it slower. The server has what it has by default. */
const CONNECTIONS = 64;
const ENDPOINTS = 40;
const EVENTS = 500;
const DELIVERIES = ENDPOINTS * EVENTS;

interface Rounds {
  /** A second. */
  readonly deliveries: number[];
  readonly posts: number[];
  /** Microseconds of processor time for one. */
  readonly perDelivery: number[];
  readonly perPost: number[];
}

/** Deliveries a second, claimed, signed, sent and recorded durably, over a bare loop of signed POSTs. */
export const webhookDeliveries: Benchmark = async () => {
  const { deliveries, posts, perDelivery, perPost } = await measureRounds();
  return measured({
    name: "webhook-deliveries",
    about: `deliveries a second with their records kept, over a bare loop of signed POSTs on ${String(CONNECTIONS)} connections`,
    value: medianRatio(deliveries, posts),
    unit: "x",
    limit: { at: "least", value: 0.4 },
    series: {
      "deliveries per second": deliveries,
      "bare POSTs per second": posts,
      "processor, µs per delivery": perDelivery,
      "processor, µs per bare POST": perPost,
    },
    facts: {},
  });
};

/** Processor time of a delivery from the claim to the record, in the server's process. */
export const webhookProcessor: Benchmark = async () => {
  const { perDelivery, perPost } = await measureRounds();
  return measured({
    name: "webhook-processor",
    about: "processor time for a delivery: claim, sign, send, record",
    value: median(perDelivery),
    unit: "µs",
    limit: { at: "most", value: 250 },
    series: { "µs per delivery": perDelivery, "µs per bare POST": perPost },
    facts: {},
  });
};

async function measureRounds(): Promise<Rounds> {
  await using scratch = await openScratch();
  await using receiver = await startReceiver();
  await using service = await WebhookService.start(scratch.directory);
  await using poster = await startPoster(`${receiver.url}/bare`, CONNECTIONS);
  const owner = await service.signUp();
  const webhookIds: string[] = [];
  for (let at = 0; at < ENDPOINTS; at += 1) {
    webhookIds.push(await service.endpoint(owner, `${receiver.url}/${String(at)}`));
  }
  const rounds: Rounds = { deliveries: [], posts: [], perDelivery: [], perPost: [] };
  // One round more, which counts for nothing: it warms both up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const ours = await deliver(service, receiver, owner, { webhookIds, events: EVENTS });
    const bare = await postBare(poster);
    if (round === 0) continue;
    rounds.deliveries.push(ours.perSecond);
    rounds.perDelivery.push(ours.processor);
    rounds.posts.push(bare.perSecond);
    rounds.perPost.push(bare.processor);
  }
  return rounds;
}

export interface Pace {
  readonly perSecond: number;
  /** Microseconds of the server's processes for one. */
  readonly processor: number;
  /** The same of others that take part, in their order. */
  readonly others: readonly number[];
}

/** Queues while the endpoints are paused, and counts from when the last of them is not, so that what is measured is sending alone. */
export async function deliver(
  service: WebhookService,
  receiver: Pick<Receiver, "ask">,
  owner: Owner,
  { webhookIds, events }: { readonly webhookIds: readonly string[]; readonly events: number },
  others: readonly (() => number)[] = [],
): Promise<Pace> {
  await service.setActive(owner, webhookIds, false);
  for (let event = 0; event < events; event += 1) await service.write(owner);
  await service.drained();
  await receiver.ask("take");
  await service.setActive(owner, webhookIds, true);
  const ours = (): number => service.servers.reduce((sum, { pid }) => sum + processorSeconds(pid), 0);
  const spent = (): number[] => [ours, ...others].map((seconds) => seconds());
  const before = spent();
  const early = await receiver.ask("take");
  await service.drained();
  const used = spent().map((seconds, at) => seconds - (before[at] ?? Number.NaN));
  const { count, first, last } = await receiver.ask("take");
  const wanted = webhookIds.length * events;
  if (early.count + count !== wanted) {
    throw new Error(`${String(early.count + count)} of ${String(wanted)} deliveries arrived`);
  }
  const [processor = Number.NaN, ...more] = used.map((seconds) => (seconds / count) * 1e6);
  return { perSecond: (count / (last - first)) * 1000, processor, others: more };
}

async function postBare(poster: Poster): Promise<Omit<Pace, "others">> {
  const { seconds, processorSeconds: used } = await poster.post(DELIVERIES);
  return { perSecond: DELIVERIES / seconds, processor: (used / DELIVERIES) * 1e6 };
}

const WRITES = 1000;

/** What one subscribed endpoint adds to a write: reading its event and queueing the delivery, which nobody sends here. */
export const webhookEnqueue: Benchmark = async () => {
  await using scratch = await openScratch();
  await using service = await WebhookService.start(scratch.directory);
  const without = await service.signUp();
  const listening = await service.signUp();
  const webhookId = await service.endpoint(listening, "http://127.0.0.1:9/");
  await service.setActive(listening, [webhookId], false);
  const bare: number[] = [];
  const queued: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const first = await costOfWrites(service, without);
    const second = await costOfWrites(service, listening);
    if (round === 0) continue;
    bare.push(first);
    queued.push(second);
  }
  return measured({
    name: "webhook-enqueue",
    about: "processor time that a subscribed endpoint adds to a write request, its delivery's row included",
    value: median(queued.map((value, at) => value - (bare[at] ?? Number.NaN))),
    unit: "µs",
    limit: { at: "most", value: 60 },
    series: { "µs per write, with an endpoint": queued, "µs per write, without": bare },
    facts: {},
  });
};

async function costOfWrites(service: WebhookService, owner: Owner): Promise<number> {
  const before = processorSeconds(service.server.pid);
  for (let write = 0; write < WRITES; write += 1) await service.write(owner);
  await service.drained();
  return ((processorSeconds(service.server.pid) - before) / WRITES) * 1e6;
}

const ACCOUNTS = 5;
const LIVE_EVENTS = 20;
const DEAD_ROUNDS = 3;

/** 100 endpoints, one of which never answers: how long the others' events take with it and without it. */
export const webhookDeadEndpoint: Benchmark = async () => {
  await using scratch = await openScratch();
  await using receiver = await startReceiver();
  await using service = await WebhookService.start(scratch.directory);
  const owners: Owner[] = [];
  for (let at = 0; at < ACCOUNTS; at += 1) {
    const owner = await service.signUp();
    owners.push(owner);
    for (let each = at === 0 ? 1 : 0; each < 100 / ACCOUNTS; each += 1) {
      await service.endpoint(owner, `${receiver.url}/${String(at)}/${String(each)}`);
    }
  }
  const first = owners[0];
  if (first === undefined) throw new Error("there is no account");
  const dead = await service.endpoint(first, `${receiver.url}/dead`);
  const alone: number[] = [];
  const beside: number[] = [];
  for (let round = 0; round <= DEAD_ROUNDS; round += 1) {
    await service.setActive(first, [dead], false);
    const healthy = await latency(service, receiver, owners);
    await service.setActive(first, [dead], true);
    const troubled = await latency(service, receiver, owners);
    if (round === 0) continue;
    alone.push(healthy);
    beside.push(troubled);
  }
  return measured({
    name: "webhook-dead-endpoint",
    about: "p99 from the write to the arrival at 99 endpoints, with a hundredth that never answers over without it",
    value: medianRatio(beside, alone),
    unit: "x",
    limit: { at: "most", value: 2 },
    series: { "p99 beside the dead one, ms": beside, "p99 without it, ms": alone },
    facts: {},
  });
};

/** The 99th percentile in milliseconds. */
async function latency(service: WebhookService, receiver: Receiver, owners: readonly Owner[]): Promise<number> {
  await receiver.ask("read");
  const written = new Map<string, number>();
  for (let event = 0; event < LIVE_EVENTS; event += 1) {
    for (const owner of owners) written.set(await service.write(owner), performance.timeOrigin + performance.now());
  }
  await service.drained();
  const { events } = await receiver.ask("take");
  const taken = events
    .filter(([objectId]) => written.has(objectId))
    .map(([objectId, at]) => at - (written.get(objectId) ?? Number.NaN))
    .sort((left, right) => left - right);
  return taken[Math.floor(taken.length * 0.99)] ?? Number.NaN;
}
