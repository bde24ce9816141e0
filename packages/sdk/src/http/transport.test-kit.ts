/** For this package's tests: time that passes by itself, and answers by script. */
import type { Transport, TransportRequest } from "./transports.ts";
import { ERRORS, type ErrorCode } from "@coffer/contract";
import { createClient, type Client } from "../client.ts";
import type { Clock } from "./clock.ts";

// Code that a call loads when it first needs it. On a busy machine, reading a file takes more turns than the clock
// waits.
import "./error-sentences.ts";
import "./byte-body.ts";
import "../transfer/stored-download.ts";
import "./guarded-stream.ts";
import "../transfer/sender.ts";
import type { ClientOptions } from "../connection/open-connection.ts";

/** Turns of the event loop after which nothing more is on its way. */
const IDLE_TURNS = 20;

/** Time jumps to the next timer as soon as the program is idle. `waits` lists the waits, in milliseconds. */
export class VirtualClock implements Clock {
  readonly waits: number[] = [];
  randomness = 0.5;
  #now = 0;
  #timers: { at: number; action: () => void }[] = [];
  #running = false;

  now(): number {
    return this.#now;
  }

  random(): number {
    return this.randomness;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { at: this.#now + ms, action };
    this.#timers.push(timer);
    if (!this.#running) void this.#run();
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Timers that were neither run nor cancelled. */
  get pending(): number {
    return this.#timers.length;
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#timers.length > 0) {
      for (let turn = 0; turn < IDLE_TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      const next = this.#timers.toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.waits.push(next.at - this.#now);
      this.#now = next.at;
      next.action();
    }
    this.#running = false;
  }
}

export const KEY = `cof_${"k".repeat(49)}`;
export const ID = "5f0c1d9e-0000-4000-8000-0123456789ab";

type Step = Response | Error | ((request: TransportRequest) => Response | Promise<Response>);

export interface Scripted {
  readonly client: Client;
  readonly clock: VirtualClock;
  /** The requests, in order. */
  readonly requests: TransportRequest[];
}

/** A client whose transport answers one step after the other; the last one repeats. */
export function scripted(steps: readonly Step[], options: Partial<ClientOptions> = {}): Scripted {
  const requests: TransportRequest[] = [];
  const clock = new VirtualClock();
  const transport: Transport = async (request) => {
    const step = steps[Math.min(requests.length, steps.length - 1)];
    requests.push(request);
    if (step === undefined) throw new Error("no step");
    if (step instanceof Error) throw step;
    return step instanceof Response ? step.clone() : step(request);
  };
  const client = createClient({
    baseUrl: "http://coffer.test/",
    credentials: { apiKey: KEY },
    transport,
    clock,
    ...options,
  });
  return { client, clock, requests };
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
}

export function failure(code: ErrorCode, headers: Record<string, string> = {}): Response {
  return json({ error: ERRORS[code].message }, ERRORS[code].status, {
    "x-error-code": code,
    "x-request-id": ID,
    ...headers,
  });
}

/** A transport step that never answers, not even to an abort. */
export function silence(): Promise<Response> {
  return new Promise(() => undefined);
}

export const VAULT = {
  id: ID,
  name: "Files",
  type: "public",
  chainObjectId: null,
  isDefault: true,
  role: "owner",
  generation: null,
  plainNames: null,
  keepVersionsDays: null,
  createdAt: "2026-11-20T17:00:00.000Z",
  updatedAt: "2026-11-20T17:00:00.000Z",
  trashedAt: null,
};
