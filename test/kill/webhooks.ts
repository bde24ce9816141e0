/** kill -9 while deliveries are on their way: every event arrives, and only what was in flight arrives twice. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { api } from "@coffer/contract";
import { renderRequest } from "../conformance/wire.ts";
import { type Draw, openDraw } from "../fuzz/draw.ts";
import { startServerProcess, type ServerProcess } from "./server-process.ts";
import { signUp } from "../kit/signed-up.ts";
import { findSteadyPort } from "../kit/steady-port.ts";

export interface WebhookKillOptions {
  readonly kills: number;
  /** Events over the whole run. */
  readonly events: number;
  readonly seed: number;
  readonly say?: (line: string) => void;
}

export interface WebhookKillReport {
  readonly findings: readonly string[];
  readonly events: number;
  /** Requests that the receiver got. */
  readonly received: number;
  /** Of them, those of a message that it had got before. */
  readonly duplicates: number;
  /** Attempts that were claimed and not recorded when a kill came, over all kills. */
  readonly inFlight: number;
  readonly mostAttempts: number;
}

/** The receiver takes a while, so that kills find attempts under way; the server may be as fast as it can. */
const ENVIRONMENT = { SERVICE_WEBHOOK_ENDPOINT_RATE: "100000", SERVICE_RATE_GENERAL: "1000000" };
const SLOWEST_ANSWER_MS = 250;
/** From the last event of a round to its kill, at most: a look for new events comes every 250 ms. */
const LONGEST_LIFE_MS = 600;
const DRAIN_MS = 60_000;
const MAX_ATTEMPTS = 10;

interface Arrival {
  readonly messageId: string;
  readonly sequence: number;
}

interface Sink {
  readonly url: string;
  readonly server: Server;
  readonly arrivals: Arrival[];
  /** How many requests wait for their answer. */
  unanswered: number;
  /** While it is true nothing is answered. */
  isSilent: boolean;
}

interface Scene {
  readonly directory: string;
  readonly draw: Draw;
  readonly sink: Sink;
  server: ServerProcess;
  key: string;
  vaultId: string;
}

export async function runWebhookKills(options: WebhookKillOptions): Promise<WebhookKillReport> {
  const directory = await mkdtemp(join(tmpdir(), "coffer-kill-webhooks-"));
  const draw = openDraw(options.seed);
  const sink = await openSink(draw);
  const server = await startServerProcess({ directory, environment: ENVIRONMENT, port: await findSteadyPort() });
  const scene: Scene = { directory, draw, sink, server, key: "", vaultId: "" };
  try {
    await register(scene, sink.url);
    const inFlight = await killAgainAndAgain(scene, options);
    await drain(scene);
    return judge(scene, inFlight);
  } finally {
    await scene.server[Symbol.asyncDispose]();
    sink.server.closeAllConnections();
    sink.server.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function openSink(draw: Draw): Promise<Sink> {
  const arrivals: Arrival[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { data: { sequence: number } };
      arrivals.push({ messageId: String(request.headers["webhook-id"]), sequence: body.data.sequence });
      sink.unanswered += 1;
      const answer = (): void => {
        if (sink.isSilent) return;
        sink.unanswered -= 1;
        response.writeHead(204).end();
      };
      setTimeout(answer, draw.int(SLOWEST_ANSWER_MS));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the receiver has no port");
  const url = `http://127.0.0.1:${String(address.port)}/`;
  const sink: Sink = { url, server, arrivals, unanswered: 0, isSilent: false };
  return sink;
}

async function register(scene: Scene, url: string): Promise<void> {
  const { client, key } = await signUp(scene.server.baseUrl);
  scene.key = key;
  scene.vaultId = (await client.vaults.list()).vaults[0]?.id ?? "";
  await client.webhooks.create({ url, events: ["folder.created"] });
}

/** Answers how many attempts the kills cut off, as the database has them. */
async function killAgainAndAgain(scene: Scene, { kills, events, say }: WebhookKillOptions): Promise<number> {
  let inFlight = 0;
  for (let kill = 1; kill <= kills; kill += 1) {
    const rest = kill === kills ? events - Math.floor(events / kills) * (kills - 1) : Math.floor(events / kills);
    const { sink } = scene;
    for (let made = 0; made < rest; made += 1) {
      // Chance may let every kill fall where nothing is under way: the last one finds an attempt that is never answered.
      sink.isSilent = kill === kills && made === rest - 1;
      await makeFolder(scene);
    }
    await pause(scene.draw.int(LONGEST_LIFE_MS));
    while (sink.isSilent && sink.unanswered === 0) await pause(5);
    await scene.server.end("SIGKILL");
    sink.isSilent = false;
    const cut = read<{ count: number }>(
      scene,
      "select count(*) as count from webhook_deliveries where status = 'delivering'",
    );
    inFlight += cut[0]?.count ?? 0;
    const { port } = scene.server;
    scene.server = await startServerProcess({ directory: scene.directory, environment: ENVIRONMENT, port });
    say?.(
      `kill ${String(kill)}: ${String(sink.arrivals.length)} requests received, ${String(inFlight)} attempts cut off`,
    );
  }
  return inFlight;
}

async function makeFolder({ server, key, vaultId }: Scene): Promise<void> {
  const input = { body: { vaultId, name: randomUUID() } };
  const { status } = await fetch(renderRequest(server.baseUrl, api.folders.create, input, { key }));
  if (status !== 201) throw new Error(`making a folder answered ${String(status)}`);
}

async function drain(scene: Scene): Promise<void> {
  const until = performance.now() + DRAIN_MS;
  while (performance.now() < until) {
    const open = read<{ count: number }>(
      scene,
      `select (select count(*) from webhook_deliveries where status in ('pending', 'delivering')) +
        (select count(*) from webhook_cursors join accounts on accounts.id = account_id
         where accounts.sequence > webhook_cursors.sequence) as count`,
    );
    if (open[0]?.count === 0) return;
    await pause(50);
  }
}

function judge(scene: Scene, inFlight: number): WebhookKillReport {
  const { arrivals } = scene.sink;
  const findings: string[] = [];
  const changes = read<{ id: string; sequence: number }>(
    scene,
    "select id, sequence from changes where action = 'folder.created'",
  );
  const times = new Map<string, number>();
  for (const { messageId } of arrivals) times.set(messageId, (times.get(messageId) ?? 0) + 1);
  const messageOf = new Map(changes.map(({ id, sequence }) => [sequence, `msg_${id.replaceAll("-", "")}`]));
  for (const messageId of messageOf.values()) if (!times.has(messageId)) findings.push(`never arrived: ${messageId}`);
  for (const { messageId, sequence } of arrivals) {
    if (messageOf.get(sequence) !== messageId) findings.push(`change ${String(sequence)} came as ${messageId}`);
  }
  const rows = read<{ status: string; attempts: number; message_id: string; last_error: string }>(
    scene,
    "select status, attempts, message_id, last_error from webhook_deliveries",
  );
  if (rows.length !== changes.length) {
    findings.push(`${String(rows.length)} deliveries for ${String(changes.length)} events`);
  }
  for (const { status, attempts, message_id: id, last_error: error } of rows) {
    if (status !== "success") findings.push(`${id} is ${status} (${error})`);
    if (attempts > MAX_ATTEMPTS) findings.push(`${id} had ${String(attempts)} attempts`);
    if ((times.get(id) ?? 0) > attempts) findings.push(`${id} was sent more often than it was counted`);
  }
  const duplicates = arrivals.length - times.size;
  if (duplicates > inFlight) {
    findings.push(`${String(duplicates)} duplicates, but only ${String(inFlight)} attempts were cut off`);
  }
  const mostAttempts = Math.max(0, ...rows.map(({ attempts }) => attempts));
  return { findings, events: changes.length, received: arrivals.length, duplicates, inFlight, mostAttempts };
}

function read<Row>({ directory }: Scene, statement: string): Row[] {
  const database = new DatabaseSync(join(directory, "coffer.sqlite"), { readOnly: true });
  try {
    return database.prepare(statement).all() as Row[];
  } finally {
    database.close();
  }
}
