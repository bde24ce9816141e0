/** What goes wrong around two processes on PostgreSQL and a store: each kind so often, in an order that a seed decides. */
import { setTimeout as pause } from "node:timers/promises";
import { type Ceph, type Cluster, ready } from "@coffer/devstack/engines";
import { Client } from "pg";
import type { Draw } from "../fuzz/draw.ts";
import { type Fault, FAULTS, type FaultProxy } from "../kit/ceph/fault-proxy.ts";
import type { Fleet } from "./accounts/fleet.ts";

/** How often each happens. */
export interface Counts {
  /** `kill -9` of a process. */
  readonly kill: number;
  /** The database ends as in a crash, and comes back. */
  readonly restart: number;
  /** `pg_terminate_backend` of every session. */
  readonly cut: number;
  /** Every connection of both pools waits for a lock. */
  readonly exhaust: number;
  /** `kill -9` of the store's gateway, or of all of it. */
  readonly store: number;
  /** Some of the store's answers are wrong, late or cut. */
  readonly fault: number;
}

type Kind = keyof Counts;

export interface Scene {
  readonly fleet: Fleet;
  readonly cluster: Cluster & { restart(): void };
  readonly ceph: Ceph;
  readonly proxy: FaultProxy;
  readonly database: string;
}

export interface Disturbances {
  /** What happens next; for {@link Schedule}. */
  next(draw: Draw): Promise<"over" | void>;
  readonly done: Record<Kind, number>;
  /** From when an engine was back to when each process wrote through it again. Milliseconds. */
  readonly recoveries: number[];
}

/** How long the store answers wrongly, and a lock is held. Milliseconds. */
const SPELL = 1_500;
/** Of the store's answers meanwhile. */
const SHARE = 0.3;
const RECOVERED_WITHIN = 30_000;

export function openDisturbances(scene: Scene, counts: Counts): Disturbances {
  const left = { ...counts };
  const done = { kill: 0, restart: 0, cut: 0, exhaust: 0, store: 0, fault: 0 };
  const recoveries: number[] = [];
  const probe = openProbe(scene.fleet);
  const disturb: Record<Kind, (draw: Draw) => Promise<unknown>> = {
    kill: (draw) => scene.fleet.kill(draw),
    async restart() {
      scene.cluster.restart();
      await pause(SPELL / 2);
      await ready(scene.cluster);
      recoveries.push(await probe());
    },
    async cut() {
      const others = `pid <> pg_backend_pid() AND datname = '${scene.database}'`;
      await scene.cluster.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`);
      recoveries.push(await probe());
    },
    async exhaust() {
      const client = new Client({ connectionString: scene.cluster.urlOf(scene.database) });
      await client.connect();
      await client.query("BEGIN; LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE");
      await pause(SPELL);
      await client.query("COMMIT");
      await client.end();
      recoveries.push(await probe());
    },
    async store(draw) {
      await scene.ceph.kill(draw.chance(0.5) ? "gateway" : "all");
      await pause(SPELL / 2);
      await scene.ceph.start();
      recoveries.push(await probe());
    },
    async fault(draw) {
      scene.proxy.inject(({ method }) => {
        const fault: Fault | null = draw.chance(SHARE) ? (draw.any(Object.values(FAULTS)) ?? null) : null;
        // Stores say 200 before they know the outcome of a write alone.
        const lies = fault?.kind === "answer" && fault.status === 200;
        return lies && !/^P/.test(method) ? null : fault;
      });
      await pause(SPELL);
      scene.proxy.inject(() => null);
      recoveries.push(await probe());
    },
  };
  return {
    done,
    recoveries,
    async next(draw) {
      const deck = (Object.keys(left) as Kind[]).flatMap((kind) => Array.from({ length: left[kind] }, () => kind));
      const kind = draw.any(deck);
      if (kind === undefined) return "over";
      await disturb[kind](draw);
      left[kind] -= 1;
      done[kind] += 1;
    },
  };
}

/** Uploads through each process until it is acknowledged, and answers how long the slowest took. */
function openProbe(fleet: Fleet): () => Promise<number> {
  let key: string | null = null;
  const send = async (baseUrl: string, path: string, headers: Record<string, string>, body: string) => {
    const answer = await fetch(baseUrl + path, { method: "POST", headers, body }).catch(() => null);
    return { ok: answer?.ok === true, body: await answer?.json().catch(() => null) };
  };
  const upload = async (baseUrl: string): Promise<number> => {
    const began = performance.now();
    for (; performance.now() - began < RECOVERED_WITHIN; await pause(20)) {
      if (key === null) {
        const json = JSON.stringify({ email: `probe-${crypto.randomUUID()}@example.test` });
        const made = await send(baseUrl, "/api/auth/dev-signup", { "content-type": "application/json" }, json);
        if (made.ok) key = (made.body as { apiKey: string }).apiKey;
        continue;
      }
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/octet-stream" };
      if ((await send(baseUrl, `/api/files?name=${crypto.randomUUID()}`, headers, "probe")).ok)
        return performance.now() - began;
    }
    return RECOVERED_WITHIN;
  };
  return async () => Math.max(...(await Promise.all(fleet.addresses.map(upload))));
}
