/** Our server against itself of another commit: `npm run bench -- commits --base REV`. */
import { readdirSync, readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { checkOut } from "../scripts/check-out.ts";
import { measured, median, renderRatios, type Outcome } from "./outcome.ts";
import type { openScratch, Service, startService } from "./service.ts";
import type { Owner, Receiver, startReceiver, WebhookService } from "./webhook-service.ts";

const ROUNDS = 7;
const KIB = 1024;
const MIB = 1024 * KIB;

/** `again` is the same commit as `now`: how far they are apart is what the machine makes of it. */
const SIDES = ["before", "now", "again"] as const;
type Side = (typeof SIDES)[number];

interface Running extends AsyncDisposable {
  readonly service: Service;
  /** Paths of files to read, by what reads them. */
  readonly paths: Readonly<Record<string, string>>;
  readonly sender: Sender;
}

/** A server of its own, with endpoints of one account. */
interface Sender {
  readonly webhooks: WebhookService;
  readonly receiver: Receiver;
  readonly owner: Owner;
  readonly webhookIds: readonly string[];
}

interface Work {
  readonly name: string;
  /** In a round. */
  readonly turns: number;
  /** One turn: milliseconds of the server's processor for each request, or each delivery. */
  readonly spend: (running: Running) => Promise<number>;
}

const agent = new Agent({ keepAlive: true });

const ENDPOINTS = 20;
const EVENTS = 50;

const WORKS: readonly Work[] = [
  { name: "metadata GET", turns: 12, spend: (running) => spendOn(running, 150, () => read(running, "metadata")) },
  ...[4 * KIB, 64 * KIB, MIB, 32 * MIB].map((size) => ({
    ...{ name: `upload of ${String(size / KIB)} KiB`, turns: turnsOf(size) },
    spend: (running: Running) =>
      spendOn(running, requestsOf(size), async (sequence) => {
        await post(running.service, `upload-${String(size)}-${String(sequence)}`, Buffer.alloc(size, sequence));
      }),
  })),
  ...[MIB, 32 * MIB].map((size) => ({
    ...{ name: `download of ${String(size / KIB)} KiB`, turns: turnsOf(size) },
    spend: (running: Running) => spendOn(running, requestsOf(size), () => read(running, String(size))),
  })),
  { name: "delivery of a webhook", turns: 4, spend: ({ sender }) => deliver(sender) },
];

/**
 * Processor time of the server for each request, of HEAD over that of `base`: the largest of the medians over all kinds of requests. In
 * each round all three servers are new, and their turns alternate.
 */
export async function commits(base: string | undefined): Promise<Outcome> {
  const name = "commits";
  if (base === undefined) return { kind: "not measured", name, reason: "name the commit to compare with: --base REV" };
  using trees = new DisposableStack();
  const before = trees.use(checkOut(base)).path;
  const now = trees.use(checkOut("HEAD")).path;
  try {
    const spent = await measure({ before, now, again: now });
    const ratios = [...spent.values()].map((of) => median(of.now.map((value, at) => value / (of.before[at] ?? 0))));
    const entries = [...spent].flatMap(([work, of]) => [
      [`${work}: HEAD over ${base}`, renderRatios(of.now, of.before)] as const,
      [`${work}: HEAD over itself`, renderRatios(of.again, of.now)] as const,
    ]);
    return measured({
      name,
      about: `processor time per request of HEAD over that of ${base}, of the kind of request where it is largest`,
      value: Math.max(...ratios),
      unit: "times",
      limit: { at: "most", value: 1.05 },
      series: Object.fromEntries([...spent].map(([work, of]) => [`${work}, ms of HEAD`, of.now])),
      facts: Object.fromEntries(entries),
    });
  } finally {
    agent.destroy();
  }
}

type Spent = Map<string, Record<Side, number[]>>;

async function measure(trees: Readonly<Record<Side, string>>): Promise<Spent> {
  const spent: Spent = new Map(WORKS.map(({ name }) => [name, { before: [], now: [], again: [] }]));
  for (let round = 0; round < ROUNDS; round += 1) {
    await using stack = new AsyncDisposableStack();
    const order = SIDES.map((_, at) => SIDES[(at + round) % SIDES.length] ?? "now");
    const running = new Map<Side, Running>();
    for (const side of order) running.set(side, stack.use(await open(trees[side])));
    for (const work of WORKS) {
      const turns: Record<Side, number[]> = { before: [], now: [], again: [] };
      // The first turns warm the servers up.
      for (let turn = -3; turn < work.turns; turn += 1)
        for (const [side, one] of running) {
          const each = await work.spend(one);
          if (turn >= 0) turns[side].push(each);
        }
      for (const side of SIDES) spent.get(work.name)?.[side].push(median(turns[side]));
    }
    process.stderr.write(`commits: ${String(round + 1)} of ${String(ROUNDS)} rounds\n`);
  }
  return spent;
}

function turnsOf(size: number): number {
  return size > MIB ? 5 : 16;
}

function requestsOf(size: number): number {
  return Math.max(1, Math.min(size < 64 * KIB ? 40 : 10, (5 * MIB) / size));
}

let sequence = 0;

async function spendOn(
  { service }: Running,
  requests: number,
  ask: (sequence: number) => Promise<void>,
): Promise<number> {
  const began = processorMs(service.pid);
  for (let at = 0; at < requests; at += 1) await ask((sequence += 1));
  return (processorMs(service.pid) - began) / requests;
}

/** Events wait while the endpoints are paused: what is spent is on claims, signatures, requests and records alone. */
async function deliver({ webhooks, receiver, owner, webhookIds }: Sender): Promise<number> {
  await webhooks.setActive(owner, webhookIds, false);
  for (let event = 0; event < EVENTS; event += 1) await webhooks.write(owner);
  await webhooks.drained();
  await receiver.ask("take");
  const began = processorMs(webhooks.server.pid);
  await webhooks.setActive(owner, webhookIds, true);
  await webhooks.drained();
  const spent = processorMs(webhooks.server.pid) - began;
  const { count } = await receiver.ask("take");
  if (count !== ENDPOINTS * EVENTS) throw new Error(`${String(count)} of ${String(ENDPOINTS * EVENTS)} arrived`);
  return spent / count;
}

/** Started by the tree's own benchmarks, which know the settings of their time. */
async function open(tree: string): Promise<Running> {
  const kit = (await import(join(tree, "bench/service.ts"))) as {
    openScratch: typeof openScratch;
    startService: typeof startService;
  };
  const stack = new AsyncDisposableStack();
  const sender = await openSender(tree, stack.use(await kit.openScratch()).directory, stack);
  const { directory } = stack.use(await kit.openScratch());
  const service = stack.use(await kit.startService(directory));
  const paths: Record<string, string> = { metadata: await post(service, "metadata", Buffer.alloc(KIB)) };
  for (const size of [MIB, 32 * MIB])
    paths[String(size)] = `${await post(service, `download-${String(size)}`, Buffer.alloc(size, 7))}/content`;
  return { service, paths, sender, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function openSender(tree: string, directory: string, stack: AsyncDisposableStack): Promise<Sender> {
  const kit = (await import(join(tree, "bench/webhook-service.ts"))) as {
    WebhookService: typeof WebhookService;
    startReceiver: typeof startReceiver;
  };
  const receiver = stack.use(await kit.startReceiver());
  const webhooks = await kit.WebhookService.start(directory);
  stack.use(webhooks.server);
  const owner = await webhooks.signUp();
  const webhookIds: string[] = [];
  for (let at = 0; at < ENDPOINTS; at += 1)
    webhookIds.push(await webhooks.endpoint(owner, `${receiver.url}/${String(at)}`));
  return { webhooks, receiver, owner, webhookIds };
}

async function read({ service, paths }: Running, what: string): Promise<void> {
  await send(service, "GET", paths[what] ?? "");
}

/** Answers the file's path. */
async function post(service: Service, name: string, body: Buffer): Promise<string> {
  const answer = JSON.parse(await send(service, "POST", `/api/files?name=${name}`, body)) as { file: { id: string } };
  return `/api/files/${answer.file.id}`;
}

function send({ baseUrl, keys }: Service, method: string, path: string, body?: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const type = body === undefined ? {} : { "content-type": "application/octet-stream" };
    const headers = { authorization: `Bearer ${keys[0] ?? ""}`, ...type };
    request(new URL(path, baseUrl), { method, agent, headers }, (answer) => {
      let start = "";
      answer.on("data", (chunk: Buffer) => (start += start.length < KIB ? chunk.toString("latin1") : ""));
      answer.on("error", reject).on("end", () => {
        const { statusCode = 0 } = answer;
        if (statusCode < 300) resolve(start);
        else reject(new Error(`${method} ${path} answered ${String(statusCode)}: ${start}`));
      });
    })
      .on("error", reject)
      .end(body);
  });
}

/** Finer than what /proc says of the whole process. */
function processorMs(pid: number): number {
  const threads = readdirSync(`/proc/${String(pid)}/task`);
  return threads.reduce((sum, thread) => {
    try {
      const [nanoseconds] = readFileSync(`/proc/${String(pid)}/task/${thread}/schedstat`, "utf8").split(" ");
      return sum + Number(nanoseconds) / 1e6;
    } catch {
      return sum; // It has ended.
    }
  }, 0);
}
