import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { nodeTransport } from "./transport.ts";

const LONG = randomBytes(9 * 1024 * 1024 + 17);
const SHORT = randomBytes(70_000);

/** A server on this machine, the connections that it got, and a request for a content, by `node:http` because a store is named. */
async function serve(answer: (response: ServerResponse, request: IncomingMessage) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    sockets.add(request.socket);
    answer(response, request);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  const { port } = server.address() as AddressInfo;
  const transport = nodeTransport({ contentOrigins: ["https://s3.example.com"] });
  const url = `http://127.0.0.1:${String(port)}/api/files/an-id/content`;
  const ask = (init: RequestInit = {}) => transport(new Request(url, init));
  return { ask, sockets, transport, port };
}

const send = (bytes: Uint8Array) => (response: ServerResponse) =>
  response.writeHead(200, { "content-length": bytes.length }).end(bytes);

const digest = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

async function read(response: Response, pause = 0): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    pieces.push(piece);
    await sleep(pause);
  }
  return Buffer.concat(pieces);
}

describe("a content", () => {
  it.each([
    ["long", LONG],
    ["short", SHORT],
    ["empty", new Uint8Array(0)],
  ])("that is %s comes whole, also to a slow reader who keeps what came", async (_, bytes) => {
    const { ask } = await serve(send(bytes));
    const [quick, slow] = await Promise.all([ask().then((got) => read(got)), ask().then((got) => read(got, 3))]);
    expect([digest(quick), digest(slow)]).toEqual([digest(bytes), digest(bytes)]);
  });

  it("has its status and headers, and the request had its own", async () => {
    const seen: unknown[] = [];
    const { ask } = await serve((response, { headers, method, url }) => {
      seen.push([method, url, headers.range, headers.authorization]);
      response
        .writeHead(206, { "content-length": 3, "content-range": "bytes 1-3/9", "x-twice": ["a", "b"] })
        .end("abc");
    });
    const answer = await ask({ headers: { range: "bytes=1-3", authorization: "Bearer of-a-test" } });
    expect([answer.status, answer.headers.get("content-range"), answer.headers.get("x-twice")]).toEqual([
      206,
      "bytes 1-3/9",
      "a, b",
    ]);
    expect(seen).toEqual([["GET", "/api/files/an-id/content", "bytes=1-3", "Bearer of-a-test"]]);
    expect(await answer.text()).toBe("abc");
  });

  it("may come in chunks of unknown length, or without a body", async () => {
    const chunks = await serve((response) => {
      response.write(LONG.subarray(0, 5_000_000));
      response.end(LONG.subarray(5_000_000));
    });
    expect(digest(await read(await chunks.ask()))).toBe(digest(LONG));
    const unchanged = await serve((response) => response.writeHead(304).end());
    const answer = await unchanged.ask();
    expect([answer.status, answer.body]).toEqual([304, null]);
  });

  it("that is refused says so, and the connection is used again", async () => {
    const { ask, sockets } = await serve((response) => {
      response.writeHead(404, { "content-type": "application/json" }).end('{"code":"not_found"}');
    });
    for (let turn = 0; turn < 3; turn += 1) {
      const answer = await ask();
      expect([answer.status, await answer.json()]).toEqual([404, { code: "not_found" }]);
      await sleep(1);
    }
    expect(sockets.size).toBe(1);
  });

  it("has no more than was announced", async () => {
    const { ask } = await serve((response) => {
      const head = `HTTP/1.1 200 OK\r\ncontent-length: ${String(LONG.length)}\r\n\r\n`;
      response.socket?.write(head);
      response.socket?.write(LONG);
      response.socket?.write("more");
    });
    expect(digest(await read(await ask()))).toBe(digest(LONG));
  });

  it.each([
    ["long", LONG.length],
    ["short", SHORT.length],
  ])("that is %s fails when the connection breaks, after the bytes that came", async (_, length) => {
    const came = length - 10_000;
    const { ask } = await serve((response) => {
      response.writeHead(200, { "content-length": length });
      response.write(LONG.subarray(0, came), () => response.socket?.end());
    });
    let seen = 0;
    const reading = async (): Promise<void> => {
      for await (const piece of (await ask()).body as unknown as AsyncIterable<Uint8Array>) seen += piece.length;
    };
    await expect(reading()).rejects.toThrow();
    expect(seen).toBe(came);
  });

  it("is not read further than a few pieces while nobody takes them, and is given up with its stream", async () => {
    let sent = 0;
    const closed = Promise.withResolvers<undefined>();
    const { ask } = await serve((response) => {
      response.on("close", () => {
        closed.resolve(undefined);
      });
      response.writeHead(200, { "content-length": 1024 ** 3 });
      const block = new Uint8Array(1024 * 1024);
      const more = (error?: Error | null): void => {
        if (error != null) return;
        sent += block.length;
        response.write(block, more);
      };
      more();
    });
    const reader = (await ask()).body?.getReader();
    await reader?.read();
    for (let before = -1, same = 0; same < 5; await sleep(20)) [same, before] = [before === sent ? same + 1 : 0, sent];
    // The rest is in the buffers of the system.
    expect(sent).toBeLessThan(24 * 1024 * 1024);
    await reader?.cancel();
    await closed.promise;
  });

  it("ends when its request is aborted, before its head or behind it", async () => {
    const silent = await serve(() => undefined);
    const controller = new AbortController();
    const asked = silent.ask({ signal: controller.signal });
    controller.abort();
    await expect(asked).rejects.toMatchObject({ name: "AbortError" });
    const halting = await serve((response) => {
      response.writeHead(200, { "content-length": LONG.length }).write(SHORT);
    });
    const later = new AbortController();
    const reading = halting.ask({ signal: later.signal }).then((answer) => read(answer));
    setTimeout(() => {
      later.abort();
    }, 20);
    await expect(reading).rejects.toThrow();
  });

  it("is not followed to another address, and is an error when nobody answers", async () => {
    const moved = await serve((response) => response.writeHead(302, { location: "http://127.0.0.1:9/" }).end());
    await expect(moved.ask()).rejects.toThrow("unexpected redirect");
    const away = new Request("http://127.0.0.1:1/api/files/an-id/content");
    await expect(moved.transport(away)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});

it("carries everything else as the default transport does", async () => {
  const { transport, port } = await serve((response, { url }) => response.end(url));
  const answer = await transport(new Request(`http://127.0.0.1:${String(port)}/api/files/an-id`));
  expect(await answer.text()).toBe("/api/files/an-id");
  const put = new Request(`http://127.0.0.1:${String(port)}/api/files/an-id/content`, { method: "PUT", body: "x" });
  expect((await transport(put)).status).toBe(200);
});
