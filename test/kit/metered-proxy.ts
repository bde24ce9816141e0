/** Passes bytes between a program and a service, counts them, and stops them at a number. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface MeteredProxy extends AsyncDisposable {
  readonly baseUrl: string;
  /** Bytes since the last reset. */
  readonly sent: number;
  readonly received: number;
  /** From the next byte above `bytes` on nothing more goes that way, and `act` is called once. */
  cutAt(way: "sent" | "received", bytes: number, act: () => void): void;
  /** Counts from nothing again, and lets everything pass. */
  reset(): void;
}

interface Cut {
  readonly way: "sent" | "received";
  readonly bytes: number;
  act: (() => void) | null;
}

export async function openMeteredProxy(target: string): Promise<MeteredProxy> {
  const { hostname, port } = new URL(target);
  const counts = { sent: 0, received: 0 };
  let cut: Cut | null = null;
  const open = new Set<Socket>();
  const pass = (way: Cut["way"], from: Socket, to: Socket): void => {
    open.add(from);
    from.on("error", () => to.destroy());
    from.on("close", () => {
      open.delete(from);
      to.destroy();
    });
    from.on("data", (piece: Buffer) => {
      if (cut?.way === way && counts[way] + piece.length > cut.bytes) {
        // Read on and dropped: a socket that is not read does not tell that it was closed.
        const { act } = cut;
        cut.act = null;
        act?.();
        return;
      }
      counts[way] += piece.length;
      if (!to.write(piece)) {
        from.pause();
        to.once("drain", () => from.resume());
      }
    });
  };
  const server = createServer((client) => {
    const service = connect(Number(port), hostname);
    pass("sent", client, service);
    pass("received", service, client);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    baseUrl: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    get sent() {
      return counts.sent;
    },
    get received() {
      return counts.received;
    },
    cutAt: (way, bytes, act) => {
      cut = { way, bytes, act };
    },
    reset: () => {
      cut = null;
      Object.assign(counts, { sent: 0, received: 0 });
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
