/** Connections and bytes that are held back: what they may cost the memory, the disk, and the others. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, stat } from "node:fs/promises";
import { Agent, get } from "node:http";
import { availableParallelism, loadavg, setPriority } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Flood, Manner } from "./flood.ts";
import { signUp, type SignedUp } from "../../kit/signed-up.ts";
import { readMemory, readWork, type Section, send, type Target } from "./target.ts";

const MIB = 1024 * 1024;
const FULL = process.env["COFFER_TEST_COUNTS"] === "full";

/** What must hold. */
const BOUNDS = { healthMs: 50, misbehaving: 300, memory: 400 * MIB, crowd: 1000 } as const;

/** Each connection of "held end" holds so much; so many of them pass the quota of the suite's own server. */
const HELD = { connections: 40, bytes: 8 * MIB } as const;
/** What the database and its log may grow by meanwhile. */
const ROWS = 16 * MIB;

const MEASURED_MS = FULL ? 8_000 : 4_000;

export async function* attackWithHeldBytes(target: Target): AsyncGenerator<Section> {
  const [attacker, other] = [await signUp(target.baseUrl), await signUp(target.baseUrl)];
  yield await measureLatency(target, attacker);
  yield await fillRoom(target, attacker, other);
  const manners = FULL
    ? (["held open JSON", "held JSON", "held upload"] as const)
    : (["held JSON", "held upload"] as const);
  for (const manner of manners) yield await measureMemory(target, attacker, manner);
}

/** `/healthz` of everybody else while many connections misbehave, each in another way. */
async function measureLatency(target: Target, { key }: SignedUp): Promise<Section> {
  const idle = await healthTimes(target, MEASURED_MS / 4);
  const manners: Manner[] = [
    "slow headers",
    "held JSON",
    "held open JSON",
    "nested JSON",
    "wide JSON",
    "held upload",
    "rubbish",
  ];
  const times = await under(target, { connections: BOUNDS.misbehaving, key, manners }, () =>
    healthTimes(target, MEASURED_MS),
  );
  // Where others use the machine up, the slowest answers are theirs: the median still tells.
  const part = isBusy() ? 0.5 : 0.99;
  const [calm, slow] = [percentile(idle, part), percentile(times, part)];
  const which = part === 0.99 ? "p99" : "median (the machine is busy: its p99 is not judged)";
  const note = `/healthz ${which} ${slow.toFixed(1)} ms of ${String(times.length)}, idle ${calm.toFixed(1)} ms`;
  const findings = slow > BOUNDS.healthMs ? [`${note}; at most ${String(BOUNDS.healthMs)} ms`] : [];
  return {
    name: `${String(BOUNDS.misbehaving)} connections that misbehave`,
    checks: times.length,
    findings,
    notes: [note],
  };
}

/** Twice as much wants to run as can, and this suite and its server are two of them. */
function isBusy(): boolean {
  return (loadavg()[0] ?? 0) > 2 * availableParallelism() + 2;
}

/** How long each answer took: of the clock, or of the server's own work where that is known and less. */
async function healthTimes(target: Target, milliseconds: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  const end = performance.now() + milliseconds;
  while (performance.now() < end) {
    const [begun, worked] = [performance.now(), readWork(target)];
    const request = get(`${target.baseUrl}/healthz`, { agent });
    const [response] = (await once(request, "response")) as [NodeJS.ReadableStream];
    await once(response.resume(), "end");
    const work = worked === null ? null : (readWork(target) ?? 0) - worked;
    times.push(Math.min(performance.now() - begun, work ?? Number.POSITIVE_INFINITY));
    await pause(5);
  }
  agent.destroy();
  return times;
}

function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.POSITIVE_INFINITY;
}

/** The most memory that the server takes while a crowd holds back what it sends. */
async function measureMemory(target: Target, { key }: SignedUp, manner: Manner): Promise<Section> {
  const name = `${String(BOUNDS.crowd)} connections: ${manner}`;
  let most = readMemory(target);
  if (most === null)
    return { name, checks: 0, findings: [], notes: ["not measured: the server's process is not this suite's"] };
  await under(target, { connections: BOUNDS.crowd, key, manners: [manner] }, async () => {
    for (let turn = 0; turn < 20; turn += 1) {
      most = Math.max(most ?? 0, readMemory(target) ?? 0);
      await pause(200);
    }
  });
  const note = `${(most / MIB).toFixed(0)} MiB at the most`;
  return {
    name,
    checks: 1,
    findings: most > BOUNDS.memory ? [`${note}; at most ${String(BOUNDS.memory / MIB)} MiB`] : [],
    notes: [note],
  };
}

/** One account holds as many bytes as it can; the disk holds no more of them than its quota and one file, and another goes on storing. */
async function fillRoom(target: Target, attacker: SignedUp, other: SignedUp): Promise<Section> {
  const findings: string[] = [];
  const quota = (await attacker.client.account.get()).account.limits.storageBytes;
  const before = await readDisk(target);
  let most = before ?? 0;
  await under(target, { connections: HELD.connections, key: attacker.key, manners: ["held end"] }, async () => {
    // Until what they send is there and no more comes: on a busy machine that takes a while.
    for (let turn = 0, sinceGrown = 0; turn < 300 && sinceGrown < 10; turn += 1) {
      const now = (await readDisk(target)) ?? 0;
      sinceGrown = now > most || (before !== null && most === before) ? 0 : sinceGrown + 1;
      most = Math.max(most, now);
      await pause(200);
    }
    for (let stored = 0; stored < OTHERS_FILES; stored += 1) {
      const call = { method: "POST", path: `/api/files?name=beside-${String(stored)}`, bytes: new Uint8Array(MIB) };
      const { status } = await send(target, call, other.key);
      if (status !== 201) findings.push(`another account's file got ${String(status)}`);
    }
    if (HELD.connections * HELD.bytes <= quota) return;
    const refusal = await storeBeyond(target, attacker);
    if (refusal !== "storage_quota") findings.push(`a file beyond what is held got ${refusal}`);
  });
  const grown = before === null ? null : most - before;
  if (grown !== null && grown > quota + HELD.bytes + ROWS)
    findings.push(`the disk took ${String(grown)} bytes of an account that may have ${String(quota)}`);
  const note = grown === null ? "the disk was not measured" : `${(grown / MIB).toFixed(0)} MiB on the disk`;
  return { name: "an account that fills its room", checks: OTHERS_FILES + 2, findings, notes: [note] };
}

const OTHERS_FILES = 5;

/** What a file got that no longer fits beside what is held. On a busy machine it takes a while until all of that is there. */
async function storeBeyond(target: Target, { client, key }: SignedUp): Promise<string> {
  const large = { method: "POST", path: "/api/files?name=beyond", bytes: new Uint8Array(HELD.bytes) };
  let answer = "";
  for (let turn = 0; turn < 120; turn += 1) {
    const { status, code, text } = await send(target, large, key);
    answer = code ?? String(status);
    if (status !== 201) return answer;
    await client.files.delete((JSON.parse(text) as { file: { id: string } }).file.id, { permanent: true });
    await pause(500);
  }
  return answer;
}

/** Bytes of the server's data directory; null where it is another machine's. */
async function readDisk({ directory }: Target): Promise<number | null> {
  if (directory === undefined) return null;
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  // What goes between the two looks takes no room.
  const sizes = files.map((file) =>
    stat(join(file.parentPath, file.name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Runs `work` while a process of its own floods the server. */
async function under<Result>(target: Target, flood: Omit<Flood, "port">, work: () => Promise<Result>): Promise<Result> {
  const words = JSON.stringify({ ...flood, port: Number(new URL(target.baseUrl).port) } satisfies Flood);
  const program = fileURLToPath(new URL("flood.ts", import.meta.url));
  const child = spawn(process.execPath, [program, words], { stdio: ["pipe", "pipe", "inherit"] });
  // The attacker's machine is another one: what it does there takes nothing from the server. Beside other tests it would hardly begin.
  if (child.pid !== undefined && !isBusy()) setPriority(child.pid, 10);
  const exited = once(child, "exit");
  try {
    await Promise.race([once(child.stdout, "data"), exited]);
    if (child.exitCode !== null) throw new Error("the flood ended before it began");
    return await work();
  } finally {
    child.stdin.end();
    child.kill();
    await exited;
  }
}
