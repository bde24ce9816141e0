/** A service that lies on the wire: it stands between a program and a real service, and rewrites the JSON of its answers. */
import { request as forward } from "node:http";
import { buffer } from "node:stream/consumers";
import { listenOnLoopback, type LoopbackServer } from "./loopback.ts";

/** Gets the parsed answer to `GET path`, and returns what the program is told instead. */
export type Lie = (path: string, answer: unknown) => unknown;

export interface LyingProxy extends LoopbackServer {
  /** null: it tells the truth. */
  lie: Lie | null;
}

export async function openLyingProxy(target: string): Promise<LyingProxy> {
  const server = await listenOnLoopback(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    const { method, url = "/" } = incoming;
    const headers = { ...incoming.headers, "accept-encoding": "identity" };
    const passed = forward(`${target}${url}`, { method, headers }, (answer) => {
      void (async () => {
        const bytes = await buffer(answer);
        const isJson = String(answer.headers["content-type"]).startsWith("application/json");
        if (proxy.lie === null || method !== "GET" || !isJson) {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(bytes);
          return;
        }
        const { pathname } = new URL(url, target);
        const told = Buffer.from(JSON.stringify(proxy.lie(pathname, JSON.parse(bytes.toString()))));
        outgoing.writeHead(answer.statusCode ?? 500, { ...answer.headers, "content-length": told.length }).end(told);
      })();
    });
    passed.on("error", () => outgoing.destroy());
    passed.end(body);
  });
  const proxy: LyingProxy = { ...server, lie: null };
  return proxy;
}
