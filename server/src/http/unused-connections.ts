/**
 * Connections without a request yet. Browsers and pools open some ahead of need, and Node's `closeIdleConnections`
 * treats them as busy until the time-out of headers. One would hold up a shutdown for its whole grace.
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Follows the server's new connections. Returns what closes those that have not brought a byte. */
export function followUnused(server: Server): () => void {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };
}
