/** What an operator's signals do to a server under load: a load balancer sees a stop before any connection is refused. */
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { openScratchServer } from "../crash/server-process.ts";

/** Whole seconds are the setting's unit. */
const NOTICE_SECONDS = 2;

/** The status of an answer over a connection of its own; null: there was no connection. */
function ask(baseUrl: string, path: string, agent = new Agent()): Promise<number | null> {
  return new Promise((resolve) => {
    request(new URL(path, baseUrl), { agent }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
    })
      .on("error", () => resolve(null))
      .end();
  });
}

it("after SIGTERM /readyz answers 503 while everything else is still served, and only then connections are refused", async () => {
  const settings = { SERVICE_SHUTDOWN_NOTICE_SECONDS: String(NOTICE_SECONDS), SERVICE_SHUTDOWN_SECONDS: "10" };
  await using server = await openScratchServer(settings);
  expect(await ask(server.baseUrl, "/readyz")).toBe(200);

  server.signal("SIGTERM");
  await server.waitForLine(({ event }) => event === "stopping");
  const began = performance.now();
  const seen: [ready: number | null, healthy: number | null][] = [];
  for (;;) {
    const answers = [await ask(server.baseUrl, "/readyz"), await ask(server.baseUrl, "/healthz")] as const;
    if (answers.includes(null)) break;
    seen.push([...answers]);
    await pause(50);
  }
  // Long enough for a balancer that asks each second.
  expect(performance.now() - began).toBeGreaterThan(NOTICE_SECONDS * 1000 - 500);
  expect(seen.length).toBeGreaterThan(3);
  expect(new Set(seen.map((answers) => answers.join()))).toEqual(new Set(["503,200"]));
  expect(await server.exited).toBe(0);
});

it("a second SIGTERM ends it at once", async () => {
  await using server = await openScratchServer({ SERVICE_SHUTDOWN_NOTICE_SECONDS: "30" });
  server.signal("SIGTERM");
  await server.waitForLine(({ event }) => event === "stopping");
  expect(await server.end("SIGTERM")).toBe(130);
});

it("SIGHUP drops no connection", async () => {
  await using server = await openScratchServer();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let round = 0; round < 20; round += 1) {
    server.signal("SIGHUP");
    expect(await ask(server.baseUrl, "/healthz", agent)).toBe(200);
  }
  agent.destroy();
  expect(await server.end("SIGTERM")).toBe(0);
});
