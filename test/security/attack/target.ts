/** The service that is attacked, and the accounts that the attack makes there. */
import { readFileSync } from "node:fs";

export interface Target {
  readonly baseUrl: string;
  /** Of the server, where it is a process of this machine that the suite started: its memory can be read. */
  readonly pid?: number;
  /** Its data, likewise. */
  readonly directory?: string;
}

export interface Call {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly bytes?: Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly code: string | null;
  readonly headers: Headers;
  readonly text: string;
}

/** `credential` null: no Authorization header. */
export async function send({ baseUrl }: Target, call: Call, credential: string | null): Promise<Answer> {
  const headers = new Headers(call.headers);
  if (credential !== null) headers.set("authorization", `Bearer ${credential}`);
  if (call.json !== undefined) headers.set("content-type", "application/json");
  const body = call.json === undefined ? call.bytes : JSON.stringify(call.json);
  const response = await fetch(baseUrl + call.path, {
    method: call.method,
    headers,
    signal: AbortSignal.timeout(20_000),
    redirect: "manual",
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : new Uint8Array(body) }),
  });
  const isFeed = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (isFeed) await response.body?.cancel();
  const text = isFeed ? "" : await response.text();
  return { status: response.status, code: response.headers.get("x-error-code"), headers: response.headers, text };
}

/** Bytes of memory that the server's process has; null where it is not known. */
export function readMemory({ pid }: Target): number | null {
  if (pid === undefined || process.platform !== "linux") return null;
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, "utf8"))?.[1];
  return kib === undefined ? null : Number(kib) * 1024;
}

/**
 * Milliseconds of the processor that the server's main thread has used; null where it is not known. What it used between a
 * request and its answer is how long the answer waited for other work, however busy the machine is with other things.
 */
export function readWork({ pid }: Target): number | null {
  if (pid === undefined || process.platform !== "linux") return null;
  const used = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/schedstat`, "utf8").split(" ")[0];
  return Number(used) / 1e6;
}

export interface Section {
  readonly name: string;
  /** What was tried. */
  readonly checks: number;
  /** What did not hold; empty when all did. */
  readonly findings: readonly string[];
  /** What was measured, or could not be, in words. */
  readonly notes: readonly string[];
}
