import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, test } from "vitest";
import { openProxy } from "./proxy.ts";

/** Of loopback: nothing listens there, and connections are refused at once. */
const NOBODY = "http://127.0.0.1:9";
const PATIENCE = 5_000;
/** More than anybody holds who does not read: all of it waits in the connection when the answer comes. */
const BODY = Buffer.alloc(1024 * 1024);

test("answers on a connection whose last request no process took, or ends it", async () => {
  const server = createServer((request, response) => void request.resume().on("end", () => response.end("here")));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await using proxy = await openProxy([`http://127.0.0.1:${String(port)}`, NOBODY], 0);
  const socket = connect(Number(new URL(proxy.baseUrl).port), "127.0.0.1");
  try {
    let heard = "";
    socket.setEncoding("utf8").on("data", (text: string) => (heard += text));
    socket.on("error", () => undefined);
    socket.write(`PATCH / HTTP/1.1\r\nhost: x\r\ncontent-length: ${String(BODY.length)}\r\n\r\n`);
    socket.write(BODY);
    await expect.poll(() => heard, { timeout: PATIENCE }).toContain("No process answered");
    socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    await expect.poll(() => socket.closed || heard.endsWith("here"), { timeout: PATIENCE }).toBe(true);
  } finally {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  }
});
