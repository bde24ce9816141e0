/**
 * The browser's only way out: a SOCKS 5 server (RFC 1928) on loopback that connects to the ports of this machine that it was given and
 * refuses all else. What the browser sends goes through this process that way, where the scan reads it; bytes are passed as they come.
 */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface Relay extends AsyncDisposable {
  /** For `--proxy-server`. */
  readonly url: string;
  /** `host:port` of connections that were refused, those that the browser wants for itself included (its maker's services). */
  readonly refused: readonly string[];
  /** Connections that were made, by port. */
  readonly connections: ReadonlyMap<number, number>;
  /** Breaks the connection, once, on which so many bytes have gone from now on: of the browser (`up`) or to it. */
  cutAfter(direction: "up" | "down", bytes: number): void;
  /** How often that has happened. */
  readonly cuts: number;
}

/** `urls`: of the servers, all of them on loopback. */
export async function openRelay(urls: readonly string[]): Promise<Relay> {
  const ports = new Set(urls.map((url) => Number(new URL(url).port)));
  const refused: string[] = [];
  const connections = new Map<number, number>();
  const open = new Set<Socket>();
  const left = { up: Infinity, down: Infinity };
  let cuts = 0;
  const count = (direction: keyof typeof left, socket: Socket): void => {
    let passed = 0;
    socket.on("data", (chunk: Buffer) => {
      passed = left[direction] === Infinity ? 0 : passed + chunk.length;
      if (passed < left[direction]) return;
      left[direction] = Infinity;
      cuts += 1;
      socket.destroy();
    });
  };
  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.on("error", () => socket.destroy()).on("close", () => open.delete(socket));
  };
  const server = createServer((socket) => {
    keep(socket);
    void serve(socket, ({ host, port }) => {
      if (!/^(127\.0\.0\.1|localhost)$/.test(host) || !ports.has(port)) {
        refused.push(`${host}:${port}`);
        return null;
      }
      connections.set(port, (connections.get(port) ?? 0) + 1);
      const target = connect(port, "127.0.0.1");
      keep(target);
      return target;
    })
      .then((target) => {
        if (target === null) return;
        count("up", socket);
        count("down", target);
      })
      .catch(() => socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `socks5://127.0.0.1:${port}`,
    refused,
    connections,
    cutAfter: (direction, bytes) => void (left[direction] = bytes),
    get cuts() {
      return cuts;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

interface Destination {
  readonly host: string;
  readonly port: number;
}

const VERSION = 5;
const [IPV4, NAME] = [1, 3];
const [SUCCEEDED, NOT_ALLOWED] = [0, 2];

/** Resolves with the target as soon as bytes go both ways; null when it was refused. */
async function serve(socket: Socket, dial: (destination: Destination) => Socket | null): Promise<Socket | null> {
  const read = reader(socket);
  const [, methods = 0] = await read(2);
  await read(methods);
  socket.write(Buffer.of(VERSION, 0));
  const destination = await readDestination(read);
  const target = dial(destination);
  if (target === null) {
    socket.end(replyOf(NOT_ALLOWED));
    return null;
  }
  await once(target, "connect");
  socket.write(replyOf(SUCCEEDED));
  target.on("close", () => socket.destroy());
  socket.on("close", () => target.destroy());
  socket.pipe(target).pipe(socket);
  return target;
}

async function readDestination(read: (length: number) => Promise<Buffer>): Promise<Destination> {
  const [, command, , kind] = await read(4);
  if (command !== 1 || (kind !== IPV4 && kind !== NAME)) throw new Error("not what Chromium asks");
  const host =
    kind === IPV4 ? [...(await read(4))].join(".") : (await read((await read(1))[0] ?? 0)).toString("latin1");
  return { host, port: (await read(2)).readUInt16BE() };
}

function replyOf(status: number): Buffer {
  return Buffer.of(VERSION, status, 0, IPV4, 0, 0, 0, 0, 0, 0);
}

/** So many bytes and no more: what follows the request belongs to the target. */
function reader(socket: Socket): (length: number) => Promise<Buffer> {
  return async (length) => {
    for (;;) {
      const bytes = length === 0 ? Buffer.alloc(0) : (socket.read(length) as Buffer | null);
      if (bytes !== null) {
        if (bytes.length < length) throw new Error("the connection ended");
        return bytes;
      }
      if (socket.readableEnded || socket.destroyed) throw new Error("the connection ended");
      await Promise.race([once(socket, "readable"), once(socket, "close")]);
    }
  };
}
