/** kill -9 at random points of mixed uploads: what was acknowledged is there, and nothing else is left behind. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { api } from "@coffer/contract";
import { makeAccessCode, signUpWithCode } from "../journeys/kit/identity.ts";
import { parseJson, receive } from "../conformance/judge.ts";
import { sha256Hex } from "../conformance/samples.ts";
import { renderRequest } from "../conformance/wire.ts";
import { openDraw, type Draw } from "../fuzz/draw.ts";
import { runClient } from "./client.ts";
import { verifyRedeemed, type ListedKey } from "./identity.ts";
import { countFiles, inspectData, isLeftover } from "./inspect.ts";
import { createGate, openLedger, type Gate, type Ledger, type Promised } from "./ledger.ts";
import type { Person } from "./persist.ts";
import { startServerProcess, type LogLine, type ServerProcess } from "./server-process.ts";
import { sweep } from "./sweeping.ts";
import { signUp } from "../kit/signed-up.ts";
import { findSteadyPort } from "../kit/steady-port.ts";

export interface KillOptions {
  readonly kills: number;
  readonly seed: number;
  /** The store has at least this many files when recovery is measured. */
  readonly files: number;
  readonly say?: (line: string) => void;
}

export interface KillReport {
  readonly ledger: Ledger;
  readonly kills: number;
  readonly files: number;
  /** Of the last starts: from opening the storage to listening with everything cleaned up. Milliseconds. */
  readonly recoveryMs: number;
}

/** Clients make keys and invites all the time, and end few. */
const ENVIRONMENT = {
  SERVICE_MAX_API_KEYS: "100000",
  SERVICE_MAX_INVITES: "100000",
  SERVICE_ALLOW_UNSIGNED_REDEEM: "1",
};
const CLIENTS = 4;
/** Clients work for up to this long between kills. */
const LONGEST_LIFE_MS = 900;
const MORE_KILLS = 20;
/** How many older files are read again after each restart; at the end all are. */
const RECHECKED = 20;

interface Scene {
  readonly directory: string;
  readonly draw: Draw;
  readonly ledger: Ledger;
  readonly gate: Gate;
  server: ServerProcess;
  key: string;
}

export async function runKills(options: KillOptions): Promise<KillReport> {
  const directory = await mkdtemp(join(tmpdir(), "coffer-kill-"));
  const draw = openDraw(options.seed);
  const server = await startServerProcess({ directory, environment: ENVIRONMENT, port: await findSteadyPort() });
  const scene: Scene = {
    directory,
    draw,
    ledger: openLedger(),
    gate: createGate(),
    server,
    key: (await signUp(server.baseUrl)).key,
  };
  try {
    await killAgainAndAgain(scene, options);
    await fill(scene, options.files);
    // The median of three: one start may share the machine with something else.
    const starts = [await restart(scene), await restart(scene), await restart(scene)].sort(
      (left, right) => left - right,
    );
    const recoveryMs = starts[1] ?? Infinity;
    await verifyFiles(scene, scene.ledger.files);
    await verifyKeys(scene);
    await scene.server.end("SIGTERM");
    await sweep({ SERVICE_ENV: "development", SERVICE_DATA_DIR: directory });
    scene.ledger.findings.push(...(await inspectData(directory)));
    return { ledger: scene.ledger, kills: options.kills, files: await countFiles(directory), recoveryMs };
  } finally {
    await scene.server[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  }
}

async function killAgainAndAgain(scene: Scene, { kills, say, seed }: KillOptions): Promise<void> {
  const { draw, gate, key, ledger } = scene;
  const stop = new AbortController();
  const people = await openPeople(scene);
  const limits = await openLimits(scene);
  const clients = people.map((person, at) => {
    const name = `client${String(at)}`;
    const { baseUrl } = scene.server;
    const shared = { baseUrl, key, gate, ledger, stopping: stop.signal, ...limits };
    return runClient({ ...shared, name, person, draw: openDraw(seed + at + 1) });
  });
  // A kill may fall between two requests. When all of them did, there are more.
  for (let kill = 1; kill <= kills || (ledger.counts.cut === 0 && kill <= kills + MORE_KILLS); kill += 1) {
    const verified = ledger.files.length;
    gate.open();
    await pause(10 + draw.int(LONGEST_LIFE_MS));
    // On a busy machine nothing may have been acknowledged by then.
    while (ledger.files.length === verified) await pause(5);
    gate.shut();
    const recoveryMs = await restart(scene);
    await verifyFiles(scene, [...ledger.files.slice(verified), ...sample(scene, ledger.files.slice(0, verified))]);
    say?.(
      `kill ${String(kill)}: ${String(ledger.files.length)} files acknowledged, recovered in ${recoveryMs.toFixed(0)} ms, ${String(ledger.findings.length)} findings`,
    );
  }
  stop.abort();
  gate.open();
  await Promise.all(clients);
}

/** A key with budgets that nobody reaches: what is counted for it must be what is stored. */
async function openLimits({ server, key }: Scene): Promise<{ limitedKey: string; vaultId: string }> {
  const budgets = { storedBytes: 2 ** 40, bytesPerDay: 2 ** 40, filesPerDay: 2 ** 30 };
  const ask = async (request: Request) => parseJson((await receive(await fetch(request))).body);
  const input = { body: { name: "limited", budgets } };
  const made = await ask(renderRequest(server.baseUrl, api.apiKeys.create, input, { key }));
  const listed = await ask(renderRequest(server.baseUrl, api.vaults.list, { query: {} }, { key }));
  const { vaults } = listed as { vaults: { id: string }[] };
  return { limitedKey: (made as { key: string }).key, vaultId: vaults[0]?.id ?? "" };
}

/** Somebody with a password for each client. */
async function openPeople({ server, directory }: Scene): Promise<Person[]> {
  const operator = { SERVICE_ENV: "development", SERVICE_DATA_DIR: directory };
  const accessCode = await makeAccessCode(operator, { uses: CLIENTS });
  return Promise.all(Array.from({ length: CLIENTS }, () => signUpWithCode(server.baseUrl, accessCode)));
}

/** Kills the server, starts it on the same port, waits for its clean-up, and looks into its data. What was cut stays until it is old. */
async function restart(scene: Scene): Promise<number> {
  await scene.server.end("SIGKILL");
  scene.server = await startServerProcess({
    directory: scene.directory,
    environment: ENVIRONMENT,
    port: scene.server.port,
  });
  const listening = await scene.server.waitForLine((line) => line.event === "listening");
  const cleaned = await scene.server.waitForLine((line) => line.event === "job" && line.job === "start-up");
  const problems = (await inspectData(scene.directory)).filter((problem) => !isLeftover(problem));
  scene.ledger.findings.push(...problems, ...faultsIn(scene.server.log));
  return Number(listening.recoveryMs) + Number(cleaned.milliseconds);
}

/** pino: 50 is error. */
function faultsIn(log: readonly LogLine[]): string[] {
  return log.filter((line) => Number(line.level) >= 50).map((line) => `logged: ${JSON.stringify(line)}`);
}

function sample({ draw }: Scene, files: readonly Promised[]): Promised[] {
  return Array.from({ length: Math.min(RECHECKED, files.length) }, () => draw.any(files)).filter(
    (file) => file !== undefined,
  );
}

async function verifyFiles({ server, key, ledger }: Scene, files: readonly Promised[]): Promise<void> {
  for (const { fileId, name, sha256 } of files) {
    const answer = await receive(
      await fetch(renderRequest(server.baseUrl, api.files.content, { params: { fileId } }, { key })),
    );
    if (answer.status !== 200) ledger.findings.push(`lost: ${name} (${fileId}) answers ${String(answer.status)}`);
    else if (sha256Hex(answer.body) !== sha256) ledger.findings.push(`corrupt: ${name} (${fileId})`);
  }
}

/** Each Idempotency-Key had one effect, whatever was cut off and repeated. */
async function verifyKeys({ server, key, ledger }: Scene): Promise<void> {
  const listed: ListedKey[] = [];
  let query: { limit: number; cursor?: string } | null = { limit: 1000 };
  while (query !== null) {
    const answer = await receive(await fetch(renderRequest(server.baseUrl, api.apiKeys.list, { query }, { key })));
    const page = parseJson(answer.body) as { apiKeys: ListedKey[]; nextCursor: string | null };
    listed.push(...page.apiKeys);
    query = page.nextCursor === null ? null : { limit: 1000, cursor: page.nextCursor };
  }
  for (const name of ledger.keys) {
    const times = listed.filter((other) => other.name === name && other.chainAddress === null).length;
    if (times !== 1) ledger.findings.push(`${String(times)} API keys for one Idempotency-Key: ${name}`);
  }
  await verifyRedeemed(server.baseUrl, listed, ledger);
}

async function fill({ server, key, directory, draw }: Scene, files: number): Promise<void> {
  for (let count = await countFiles(directory); count < files; count += 1) {
    const input = { query: { name: `fill-${String(count)}` }, headers: {}, body: new Uint8Array(draw.bytes(100)) };
    const { status } = await fetch(renderRequest(server.baseUrl, api.files.upload, input, { key }));
    if (status !== 201) throw new Error(`filling the store answered ${String(status)}`);
  }
}
