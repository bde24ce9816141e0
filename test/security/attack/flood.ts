/**
 * The load of one attack, in a process of its own: what it costs this one must not count as the server's slowness. Its only
 * argument says what to send; it says `ready` once all connections stand, and ends when its standard input does.
 */
import { connect, type Socket } from "node:net";

export interface Flood {
  readonly port: number;
  readonly connections: number;
  /** An owner's key. */
  readonly key: string;
  /** What each connection does, in turn. */
  readonly manners: readonly Manner[];
}

export type Manner =
  | "slow headers"
  | "held JSON"
  | "held open JSON"
  | "nested JSON"
  | "wide JSON"
  | "held upload"
  | "held end"
  | "rubbish";

const MIB = 1024 * 1024;

const post = (path: string, key: string | null, length: number, type = "application/json") =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${key === null ? "" : `Authorization: Bearer ${key}\r\n`}Content-Type: ${type}\r\nContent-Length: ${String(length)}\r\n\r\n`;

const NESTED = "[".repeat(MIB);
const WIDE = `{${Array.from({ length: 70_000 }, (_, index) => `"k${String(index)}":1`).join()}}`;

/** Repeated: sent again whenever the connection ends or is answered. */
const SENT: Readonly<
  Record<Manner, (key: string, index: number) => { readonly bytes: string; readonly repeated: boolean }>
> = {
  "slow headers": () => ({ bytes: "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", repeated: false }),
  "held JSON": (key) => ({
    bytes: post("/api/vaults", key, MIB) + `{"name":"${"x".repeat(MIB - 20)}`,
    repeated: false,
  }),
  "held open JSON": () => ({
    bytes: post("/api/auth/logout", null, 16_000) + `{"refreshToken":"${"x".repeat(15_900)}`,
    repeated: false,
  }),
  "nested JSON": (key) => ({ bytes: post("/api/vaults", key, NESTED.length) + NESTED, repeated: true }),
  "wide JSON": (key) => ({ bytes: post("/api/vaults", key, WIDE.length) + WIDE, repeated: true }),
  "held upload": (key, index) => ({
    bytes:
      post(`/api/files?name=held-${String(index)}-${String(process.pid)}`, key, 8 * MIB, "text/plain") +
      "x".repeat(MIB),
    repeated: false,
  }),
  // All of a file but its last byte: nothing is stored yet, and all of it lies on the disk.
  "held end": (key, index) => ({
    bytes:
      post(`/api/files?name=end-${String(index)}-${String(process.pid)}`, key, 8 * MIB, "text/plain") +
      "x".repeat(8 * MIB - 1),
    repeated: false,
  }),
  rubbish: () => ({ bytes: "\u0016\u0003\u0001 rubbish\r\n\r\n", repeated: true }),
};

/** Between two requests of a connection that repeats them. Milliseconds. */
const PAUSE_MS = 100;

function open(flood: Flood, index: number, sockets: Set<Socket>): Promise<void> {
  const manner = flood.manners[index % flood.manners.length] ?? "rubbish";
  const { bytes, repeated } = SENT[manner](flood.key, index);
  return new Promise((resolve) => {
    const socket = connect(flood.port, "127.0.0.1", () => {
      socket.write(bytes);
      resolve();
    });
    sockets.add(socket);
    const again = (): void => {
      if (!sockets.delete(socket)) return;
      socket.destroy();
      resolve();
      if (repeated) setTimeout(() => void open(flood, index, sockets), PAUSE_MS);
    };
    socket.on("data", () => {
      if (repeated) again();
    });
    socket.on("error", again).on("close", again);
  });
}

const words = process.argv[2];
if (words !== undefined) {
  const flood = JSON.parse(words) as Flood;
  const sockets = new Set<Socket>();
  await Promise.all(Array.from({ length: flood.connections }, (_, index) => open(flood, index, sockets)));
  process.stdout.write("ready\n");
  process.stdin.on("end", () => process.exit(0)).resume();
}
