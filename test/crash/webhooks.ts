/** kill -9 while deliveries are on their way: every event arrives, and only what was in flight arrives twice. */
import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { api } from "@coffer/contract";
import { renderRequest } from "../conformance/wire.ts";
import { type Draw, openDraw } from "../fuzz/draw.ts";
import { signUp } from "../kit/signed-up.ts";
import { type Fleet, openFleet } from "./accounts/fleet.ts";
import { openRowReader, type RowReader } from "./row-reader.ts";

export interface WebhookKillOptions {
  readonly kills: number;
  /** Events over the whole run. */
  readonly events: number;
  readonly seed: number;
  /** How many there are; each kill falls on one of them. */
  readonly processes?: number;
  /** The address of an empty database; null: SQLite. */
  readonly postgres?: string | null;
  readonly say?: (line: string) => void;
}

export interface WebhookKillReport {
  readonly findings: readonly string[];
  readonly events: number;
  /** Requests that the receiver got. */
  readonly received: number;
  /** Of them, those of a message that it had got before. */
  readonly duplicates: number;
  /** Attempts that a kill cut off, over all kills: claimed, and recorded later as interrupted. */
  readonly inFlight: number;
  readonly mostAttempts: number;
}

/**
 * The receiver takes a while, so that kills find attempts under way; the server may be as fast as it can. What a killed process had
 * claimed counts as under way until its lease is over, and must leave room for the others.
 */
const ENVIRONMENT = {
  SERVICE_WEBHOOK_ENDPOINT_RATE: "100000",
  SERVICE_WEBHOOK_ENDPOINT_CONCURRENCY: "1000",
  SERVICE_RATE_GENERAL: "1000000",
};
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
  /** How long each answer takes; null: as chance has it. Milliseconds. */
  wait: number | null;
}

interface Scene {
  readonly fleet: Fleet;
  readonly rows: RowReader;
  readonly draw: Draw;
  readonly sink: Sink;
  readonly key: string;
  readonly vaultId: string;
}

export async function runWebhookKills(options: WebhookKillOptions): Promise<WebhookKillReport> {
  return inScene({ ...options, processes: options.processes ?? 1 }, async (scene) => {
    const underWay = await killAgainAndAgain(scene, options);
    await drain(scene);
    return judge(scene, underWay);
  });
}

/** A fleet, and an account whose folders are told to an endpoint. */
async function inScene<Result>(
  { postgres, processes, seed }: Pick<WebhookKillOptions, "postgres" | "seed"> & { readonly processes: number },
  act: (scene: Scene) => Promise<Result>,
): Promise<Result> {
  const draw = openDraw(seed);
  await using fleet = await openFleet(processes, postgres ?? null, ENVIRONMENT);
  const sink = await openSink(draw);
  try {
    await using rows = openRowReader(fleet.directory);
    const { client, key } = await signUp(fleet.pick(draw));
    const vaultId = (await client.vaults.list()).vaults[0]?.id ?? "";
    await client.webhooks.create({ url: sink.url, events: ["folder.created"] });
    return await act({ fleet, rows, draw, sink, key, vaultId });
  } finally {
    sink.server.closeAllConnections();
    sink.server.close();
  }
}

/** An attempt that is answered late, while both processes look for abandoned ones: how often it was sent, and counted. */
export async function holdOneAttempt(
  postgres: string | null,
  milliseconds: number,
): Promise<{ readonly received: number; readonly attempts: readonly unknown[] }> {
  return inScene({ postgres, processes: 2, seed: 1 }, async (scene) => {
    const { draw, fleet, rows, sink } = scene;
    sink.wait = milliseconds;
    await makeFolder(scene);
    while (sink.arrivals.length === 0) await pause(5);
    // News of anybody make all processes look.
    const other = await signUp(fleet.pick(draw));
    const beside = { ...scene, key: other.key, vaultId: (await other.client.vaults.list()).vaults[0]?.id ?? "" };
    for (const until = performance.now() + milliseconds; performance.now() < until; await pause(200))
      await makeFolder(beside);
    await drain(scene);
    const attempts = await rows.all("select number, error from webhook_attempts order by number");
    return { received: sink.arrivals.length, attempts: attempts.map(({ number, error }) => `${number} ${error}`) };
  });
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
      setTimeout(answer, sink.wait ?? draw.int(SLOWEST_ANSWER_MS));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the receiver has no port");
  const url = `http://127.0.0.1:${String(address.port)}/`;
  const sink: Sink = { url, server, arrivals, unanswered: 0, isSilent: false, wait: null };
  return sink;
}

/** Answers which attempts were under way at the kills: those of the killed process, and of the others. */
async function killAgainAndAgain(
  scene: Scene,
  { kills, events, say }: WebhookKillOptions,
): Promise<ReadonlySet<string>> {
  const { fleet, sink, draw, rows } = scene;
  const underWay = new Set<string>();
  /** The killed one is gone, and its successor not there yet. */
  const count = async (): Promise<void> => {
    sink.isSilent = false;
    await rows.settle();
    for (const row of await rows.all("select id, attempts from webhook_deliveries where status = 'delivering'"))
      underWay.add(`${String(row["id"])} ${String(row["attempts"])}`);
  };
  for (let kill = 1; kill <= kills; kill += 1) {
    const isLast = kill === kills;
    const rest = isLast ? events - Math.floor(events / kills) * (kills - 1) : Math.floor(events / kills);
    for (let made = 0; made < rest; made += 1) {
      // Chance may let every kill fall where nothing is under way: the last one finds an attempt that is never answered.
      sink.isSilent = isLast && made === rest - 1;
      await makeFolder(scene);
    }
    await pause(draw.int(LONGEST_LIFE_MS));
    while (sink.isSilent && sink.unanswered === 0) await pause(5);
    // The attempt may be any process's.
    await (isLast ? fleet.settle(count) : fleet.kill(draw, count));
    say?.(`kill ${String(kill)}: ${String(sink.arrivals.length)} requests received`);
  }
  return underWay;
}

async function makeFolder({ fleet, draw, key, vaultId }: Scene): Promise<void> {
  const input = { body: { vaultId, name: randomUUID() } };
  const { status } = await fetch(renderRequest(fleet.pick(draw), api.folders.create, input, { key }));
  if (status !== 201) throw new Error(`making a folder answered ${String(status)}`);
}

async function drain({ rows }: Scene): Promise<void> {
  const until = performance.now() + DRAIN_MS;
  while (performance.now() < until) {
    const [open] = await rows.all(
      `select (select count(*) from webhook_deliveries where status in ('pending', 'delivering')) +
        (select count(*) from webhook_cursors join accounts on accounts.id = account_id
         where accounts.sequence > webhook_cursors.sequence) as count`,
    );
    if (Number(open?.["count"]) === 0) return;
    await pause(50);
  }
}

async function judge(
  { fleet, rows, sink: { arrivals } }: Scene,
  underWay: ReadonlySet<string>,
): Promise<WebhookKillReport> {
  const findings: string[] = [...fleet.faults];
  const changes = await rows.all("select id, sequence from changes where action = 'folder.created'");
  const times = new Map<string, number>();
  for (const { messageId } of arrivals) times.set(messageId, (times.get(messageId) ?? 0) + 1);
  const messageOf = new Map(changes.map((row) => [Number(row["sequence"]), messageIdOf(String(row["id"]))]));
  for (const messageId of messageOf.values()) if (!times.has(messageId)) findings.push(`never arrived: ${messageId}`);
  for (const { messageId, sequence } of arrivals) {
    if (messageOf.get(sequence) !== messageId) findings.push(`change ${String(sequence)} came as ${messageId}`);
  }
  const deliveries = await rows.all("select status, attempts, message_id, last_error from webhook_deliveries");
  if (deliveries.length !== changes.length) {
    findings.push(`${String(deliveries.length)} deliveries for ${String(changes.length)} events`);
  }
  for (const row of deliveries) {
    const [id, attempts] = [String(row["message_id"]), Number(row["attempts"])];
    if (row["status"] !== "success") findings.push(`${id} is ${String(row["status"])} (${String(row["last_error"])})`);
    if (attempts > MAX_ATTEMPTS) findings.push(`${id} had ${String(attempts)} attempts`);
    if ((times.get(id) ?? 0) > attempts) findings.push(`${id} was sent more often than it was counted`);
  }
  const cut = await rows.all("select delivery_id, number from webhook_attempts where error = 'interrupted'");
  const inFlight = cut.length;
  const duplicates = arrivals.length - times.size;
  if (duplicates > inFlight) {
    findings.push(`${String(duplicates)} duplicates, but only ${String(inFlight)} attempts were cut off`);
  }
  // Only a kill cuts off: nobody takes over what a living process is at.
  for (const { delivery_id: id, number } of cut)
    if (!underWay.has(`${String(id)} ${String(number)}`))
      findings.push(`attempt ${String(number)} of ${String(id)} was cut off, and no kill fell on it`);
  const mostAttempts = Math.max(0, ...deliveries.map((row) => Number(row["attempts"])));
  return { findings, events: changes.length, received: arrivals.length, duplicates, inFlight, mostAttempts };
}

const messageIdOf = (changeId: string): string => `msg_${changeId.replaceAll("-", "")}`;
