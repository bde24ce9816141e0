import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createClient } from "../client.ts";
import { ConnectionError } from "./errors.ts";
import { kyTransport, type Transport } from "./transports.ts";

const KEY = `cof_${"k".repeat(49)}`;
const arrived: IncomingMessage[] = [];
let status = 307;

const elsewhere = createServer((request, response) => {
  arrived.push(request);
  request.resume().on("end", () => response.writeHead(200, { "content-type": "application/json" }).end("{}"));
});
const service = createServer((request, response) => {
  const { port } = elsewhere.address() as AddressInfo;
  request
    .resume()
    .on("end", () => response.writeHead(status, { location: `http://127.0.0.1:${String(port)}/secret-place` }).end());
});

beforeAll(async () => {
  for (const server of [service, elsewhere]) await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
});
afterAll(() => {
  for (const server of [service, elsewhere]) {
    server.closeAllConnections();
    server.close();
  }
});

const TRANSPORTS: Readonly<Record<string, () => Transport>> = {
  "the default": () => kyTransport(),
  "a fetch of the caller's": () => kyTransport({ fetch: (url, init) => fetch(url, init) }),
  "a fetch of the caller's that follows": () =>
    kyTransport({ fetch: (url, init) => fetch(url, { ...init, redirect: "follow" }) }),
  "a fetch of the caller's that hands redirects out": () =>
    kyTransport({ fetch: (url, init) => fetch(url, { ...init, redirect: "manual" }) }),
};

/** What workerd does: it refuses the mode `error`. */
function withoutErrorMode(): void {
  const Original = Request;
  vi.stubGlobal(
    "Request",
    class extends Original {
      constructor(input: string | URL | Request, init?: RequestInit) {
        if (init?.redirect === "error") throw new TypeError("Invalid redirect value");
        super(input, init);
      }
    },
  );
}

describe.each([301, 307, 308])("a redirect with status %i", (code) => {
  it.each(Object.entries(TRANSPORTS))("is refused, not retried, and its address not shown: %s", async (name, open) => {
    status = code;
    arrived.length = 0;
    let calls = 0;
    const transport = open();
    const client = createClient({
      baseUrl: `http://127.0.0.1:${String((service.address() as AddressInfo).port)}`,
      credentials: { apiKey: KEY },
      transport: (request) => ((calls += 1), transport(request)),
    });
    const body = new Blob([new Uint8Array(1024)]).stream();
    const acts: (() => Promise<unknown>)[] = [() => client.account.get()];
    // A fetch that follows cannot send a stream a second time: no answer comes then, whatever the service said.
    if (!name.endsWith("that follows")) acts.push(() => client.files.upload({ name: "a", body }));
    for (const act of acts) {
      const failure: unknown = await act().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ConnectionError);
      expect(failure).toMatchObject({ code: "redirected", retryable: false });
      expect(JSON.stringify(failure)).not.toContain("secret-place");
    }
    expect(calls).toBe(acts.length);
    for (const { headers } of arrived) expect(JSON.stringify(headers)).not.toContain(KEY);
    if (!name.endsWith("that follows")) expect(arrived).toEqual([]);
  });
});

it("is refused where the runtime knows no redirect: error", async () => {
  vi.resetModules();
  withoutErrorMode();
  try {
    const fresh = await import("./runtime.ts");
    expect(fresh.redirectMode()).toBe("manual");
    const { createClient: create } = await import("../client.ts");
    status = 307;
    arrived.length = 0;
    const baseUrl = `http://127.0.0.1:${String((service.address() as AddressInfo).port)}`;
    const client = create({ baseUrl, credentials: { apiKey: KEY } });
    await expect(client.account.get()).rejects.toMatchObject({ code: "redirected" });
    expect(arrived).toEqual([]);
  } finally {
    vi.unstubAllGlobals();
  }
});
