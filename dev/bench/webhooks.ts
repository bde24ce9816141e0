/** What deliveries of webhooks cost, and what they cost others. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { isQuiet, openScratch, processorSeconds, stopChild } from "./machine.ts";
import { inTurns, type Benchmark, type Comparison } from "./ratio.ts";
import { signUp, startWebhookService } from "./service.ts";
import type { Arrivals } from "./programs/webhook-receiver.ts";

/** Of the bare loop: more make it slower. The server has what it has by default. */
const CONNECTIONS = 64;
const ROUNDS = 7;

export const webhooks: Benchmark = async () => ({
  comparisons: [...(await deliveries()), await writes(), await besideDeadEndpoint()],
});

const ENDPOINTS = 40;
const EVENTS = 200;
const DELIVERIES = ENDPOINTS * EVENTS;

/** Deliveries that are claimed, signed, sent and recorded durably, over a bare loop of signed POSTs. */
async function deliveries(): Promise<Comparison[]> {
  await using scratch = await openScratch();
  await using receiver = await startReceiver();
  await using poster = await startPoster(`${receiver.url}/bare`);
  await using service = await startWebhookService(scratch.directory);
  const owner = await openOwner(service.baseUrl, service.apiKey);
  const ids: string[] = [];
  for (let at = 0; at < ENDPOINTS; at += 1) ids.push(await owner.addEndpoint(`${receiver.url}/${String(at)}`));
  const processor = { ours: [] as number[], peer: [] as number[] };
  const rate = await inTurns(ROUNDS, {
    ours: async (round) => {
      // Events wait while the endpoints are paused, so that what is measured is sending alone.
      await owner.setActive(ids, false);
      for (let event = 0; event < EVENTS; event += 1) await owner.write();
      await isQuiet(service.pid);
      const before = processorSeconds(service.pid);
      await receiver.ask("forget");
      await owner.setActive(ids, true);
      const { count, first, last } = await receiver.wait(DELIVERIES);
      // The last of them are still to be recorded.
      await isQuiet(service.pid);
      if (round > 0) processor.ours.push(((processorSeconds(service.pid) - before) / count) * 1e6);
      return (count / (last - first)) * 1000;
    },
    peer: async (round) => {
      const { seconds, processorSeconds: used } = await poster.post(DELIVERIES);
      if (round > 0) processor.peer.push((used / DELIVERIES) * 1e6);
      return DELIVERIES / seconds;
    },
  });
  return [
    { title: "deliveries over a bare loop of signed POSTs", better: "higher", unit: "a second", ...rate },
    {
      title: "processor time of a delivery over that of a bare signed POST",
      better: "lower",
      unit: "µs",
      ...processor,
    },
  ];
}

const WRITES = 500;

/** What a subscribed endpoint adds to a write: reading its event and queueing a delivery, which nobody sends here. */
async function writes(): Promise<Comparison> {
  await using scratch = await openScratch();
  await using service = await startWebhookService(scratch.directory);
  const without = await openOwner(service.baseUrl, service.apiKey);
  const listening = await openOwner(service.baseUrl, await signUp(service));
  await listening.setActive([await listening.addEndpoint("http://127.0.0.1:9/")], false);
  const costOf = (owner: Owner) => async (): Promise<number> => {
    const before = processorSeconds(service.pid);
    for (let write = 0; write < WRITES; write += 1) await owner.write();
    await isQuiet(service.pid);
    return ((processorSeconds(service.pid) - before) / WRITES) * 1e6;
  };
  const series = await inTurns(ROUNDS, { ours: costOf(listening), peer: costOf(without) });
  const title = "processor time of a write with an endpoint that listens over one without";
  return { title, better: "lower", unit: "µs", ...series };
}

const ACCOUNTS = 5;
const ENDPOINTS_EACH = 20;
const LIVE_EVENTS = 20;

/** A hundred endpoints, one of which never answers: how long the others' events take with it and without it. */
async function besideDeadEndpoint(): Promise<Comparison> {
  await using scratch = await openScratch();
  await using receiver = await startReceiver();
  await using service = await startWebhookService(scratch.directory);
  const first = await openOwner(service.baseUrl, service.apiKey);
  const owners = [first];
  while (owners.length < ACCOUNTS) owners.push(await openOwner(service.baseUrl, await signUp(service)));
  for (const [account, owner] of owners.entries())
    for (let each = owner === first ? 1 : 0; each < ENDPOINTS_EACH; each += 1)
      await owner.addEndpoint(`${receiver.url}/${String(account)}/${String(each)}`);
  const dead = await first.addEndpoint(`${receiver.url}/dead`);
  const expected = LIVE_EVENTS * (ACCOUNTS * ENDPOINTS_EACH - 1);
  /** The 99th percentile from a write to its arrival. */
  const latency = (isActive: boolean) => async (): Promise<number> => {
    await first.setActive([dead], isActive);
    await receiver.ask("read");
    const written = new Map<string, number>();
    for (let event = 0; event < LIVE_EVENTS; event += 1)
      for (const owner of owners) {
        const objectId = await owner.write();
        written.set(objectId, performance.timeOrigin + performance.now());
      }
    const { events } = await receiver.wait(expected);
    const taken = events
      .map(([objectId, at]) => at - (written.get(objectId) ?? at))
      .sort((left, right) => left - right);
    return taken[Math.floor(taken.length * 0.99)] ?? Number.NaN;
  };
  const series = await inTurns(ROUNDS, { ours: latency(true), peer: latency(false) });
  return {
    title: "p99 of deliveries beside an endpoint that never answers over that without it",
    better: "lower",
    unit: "ms",
    ...series,
  };
}

interface Owner {
  /** Answers the endpoint's id. */
  addEndpoint(url: string): Promise<string>;
  setActive(webhookIds: readonly string[], active: boolean): Promise<void>;
  /** A write that is an event; answers its object's id. */
  write(): Promise<string>;
}

async function openOwner(baseUrl: string, apiKey: string): Promise<Owner> {
  const call = async <Body>(method: string, path: string, json?: unknown): Promise<Body> => {
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const answer = await fetch(baseUrl + path, { method, headers, body: JSON.stringify(json) ?? null });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${String(answer.status)}: ${await answer.text()}`);
    return (await answer.json()) as Body;
  };
  const { vaults } = await call<{ vaults: { id: string }[] }>("GET", "/api/vaults");
  const vaultId = vaults[0]?.id ?? "";
  let folders = 0;
  return {
    addEndpoint: async (url) => {
      const { webhook } = await call<{ webhook: { id: string } }>("POST", "/api/webhooks", {
        url,
        events: ["folder.created"],
      });
      return webhook.id;
    },
    setActive: async (webhookIds, active) => {
      for (const id of webhookIds) await call("PATCH", `/api/webhooks/${id}`, { active });
    },
    write: async () => {
      folders += 1;
      const { folder } = await call<{ folder: { id: string } }>("POST", "/api/folders", {
        vaultId,
        name: `folder ${String(folders)}`,
      });
      return folder.id;
    },
  };
}

const WAIT_MS = 120_000;

async function startReceiver() {
  const child = fork(new URL("programs/webhook-receiver.ts", import.meta.url), { execArgv: [] });
  const [port] = (await once(child, "message")) as [number];
  const ask = async (question: "forget" | "read" | number): Promise<Arrivals> => {
    const answer = once(child, "message", { signal: AbortSignal.timeout(WAIT_MS) });
    child.send(question);
    return (await answer)[0] as Arrivals;
  };
  return {
    url: `http://127.0.0.1:${String(port)}`,
    /** Forgets what arrived; "read" keeps what each event is about from then on. */
    ask,
    /** Resolves once so many have arrived since. */
    wait: (count: number) => ask(count),
    [Symbol.asyncDispose]: () => stopChild(child),
  };
}

/** A bare loop of signed POSTs; see programs/webhook-poster.ts. */
async function startPoster(target: string) {
  const program = new URL("programs/webhook-poster.ts", import.meta.url);
  const child = fork(program, [target, String(CONNECTIONS)], { execArgv: [] });
  await once(child, "message");
  return {
    post: async (count: number) => {
      const answer = once(child, "message");
      child.send(count);
      return (await answer)[0] as { seconds: number; processorSeconds: number };
    },
    [Symbol.asyncDispose]: () => stopChild(child),
  };
}
