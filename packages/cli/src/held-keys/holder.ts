/** The process that holds opened vault keys for the commands of one profile, in memory, until a moment. */
import { randomBytes } from "node:crypto";
import { chmod, lstat, rename, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import * as z from "zod/mini";
import { ask, MOST_BYTES } from "./socket.ts";

/** Vault keys of 32 bytes: so many generations of so many vaults. More are not taken. */
const MOST_KEYS = 10_000;
/** Milliseconds between two looks at the clock, and at whether the socket is still this one's. */
const LOOK = 1_000;
/** A question comes in one piece; who says nothing for so long is not waited for. Milliseconds. */
const PATIENCE = 5_000;

const name = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const key = z.string().check(z.regex(/^[A-Za-z0-9+/]{43}=$/));
const question = z.discriminatedUnion("ask", [
  z.object({ ask: z.literal("get"), names: z.array(name).check(z.maxLength(MOST_KEYS)) }),
  z.object({ ask: z.literal("put"), keys: z.record(name, key) }),
  z.object({ ask: z.literal("hold"), until: z.number() }),
  z.object({ ask: z.literal("end") }),
]);

export interface Holding {
  /** Milliseconds since 1970. */
  readonly until: number;
  readonly now: () => number;
  /** Ends it early. */
  readonly signal: AbortSignal;
  /** Called when commands reach it. */
  readonly onReady?: () => void;
}

/**
 * Holds keys until the time is over, somebody asks it to end, or its socket is gone or another's. Forgets them all then. False: another
 * process holds keys there already, until that moment now.
 */
export async function holdKeys(socket: string, { until, now, signal, onReady }: Holding): Promise<boolean> {
  if ((await ask(socket, { ask: "hold", until })) !== null) return false;
  const keys = new Map<string, Buffer>();
  const ending = new AbortController();
  const held = { keys, until, end: () => ending.abort() };
  const server = createServer({ allowHalfOpen: true }, (connection) => serve(connection, held));
  try {
    const own = await listenAt(server, socket);
    onReady?.();
    const over = AbortSignal.any([signal, ending.signal]);
    while (!over.aborted && now() < held.until && (await inodeOf(socket)) === own) await pause(LOOK, over);
    if ((await inodeOf(socket)) === own) await rm(socket, { force: true });
  } finally {
    for (const each of keys.values()) each.fill(0);
    server.close();
  }
  return true;
}

interface Held {
  readonly keys: Map<string, Buffer>;
  until: number;
  readonly end: () => void;
}

/** The path leads to this server at once and with its mode: what a process left there that was killed is replaced. */
async function listenAt(server: Server, socket: string): Promise<number | null> {
  const made = `${socket}.${randomBytes(4).toString("hex")}`;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(made, resolve);
  });
  await chmod(made, 0o600);
  const own = await inodeOf(made);
  await rename(made, socket);
  return own;
}

async function inodeOf(path: string): Promise<number | null> {
  return (await lstat(path).catch(() => null))?.ino ?? null;
}

function pause(milliseconds: number, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      over.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    over.addEventListener("abort", done, { once: true });
  });
}

function serve(connection: Socket, held: Held): void {
  let text = "";
  connection.setEncoding("utf8").setTimeout(PATIENCE, () => connection.destroy());
  connection.on("error", () => connection.destroy());
  connection.on("data", (piece: string) => {
    text += piece;
    if (text.length > MOST_BYTES) connection.destroy();
  });
  connection.on("end", () => {
    const answer = answerTo(text, held);
    if (answer === null) connection.destroy();
    else connection.end(JSON.stringify(answer));
  });
}

/** null: no question. Nothing of it is repeated anywhere: it may be a key. */
function answerTo(text: string, held: Held): unknown {
  const asked = question.safeParse(read(text)).data;
  if (asked === undefined) return null;
  const { keys } = held;
  switch (asked.ask) {
    case "get":
      return { keys: asked.names.map((each) => keys.get(each)?.toString("base64") ?? null) };
    case "put":
      for (const [each, value] of Object.entries(asked.keys))
        if (keys.size < MOST_KEYS) keys.set(each, Buffer.from(value, "base64"));
      return {};
    case "hold":
      held.until = asked.until;
      return {};
    case "end":
      held.end();
      return {};
  }
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
