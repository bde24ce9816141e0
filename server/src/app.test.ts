import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fetchHandler } from "./http/in-process.ts";
import { putMarkRow } from "./features/pairing/store.ts";
import { openTestApp, type TestApp } from "./app.test-kit.ts";

let service: TestApp;
let port: number;
let key: string;
beforeAll(async () => {
  service = await openTestApp({ environment: { SERVICE_MAX_JSON_BYTES: "4096", SERVICE_IDLE_TIMEOUT_SECONDS: "1" } });
  await service.app.listen({ host: "127.0.0.1", port: 0 });
  const address = service.app.server.address();
  port = typeof address === "object" && address !== null ? address.port : 0;
  ({ key } = await service.signUp());
});
afterAll(() => service[Symbol.asyncDispose]());

/** What the server sends for these bytes until it closes the connection. */
async function exchange(request: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => socket.destroy());
  socket.write(request);
  return text(socket);
}

function expectFailure(answer: string, status: number, code: string): void {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head.toLowerCase()).toContain(`x-error-code: ${code}`);
  expect(head.toLowerCase()).toMatch(/x-request-id: [0-9a-f-]{36}/);
  expect(Object.keys(JSON.parse(body) as object)).toEqual(["error"]);
}

describe("what never becomes a request is answered in the one form all the same [D1-error-shape]", () => {
  it("oversized headers: 431", async () => {
    expectFailure(
      await exchange(`GET /healthz HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(20_000)}\r\n\r\n`),
      431,
      "headers_too_large",
    );
  });

  it.each([
    ["no HTTP at all", "hello\r\n\r\n"],
    ["a header without a colon", "GET /healthz HTTP/1.1\r\nHost x\r\n\r\n"],
    [
      "two framings (RFC 9112 §6.1)",
      "POST /api/vaults HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["two hosts (RFC 9112 §3.2)", "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n"],
    ["the same host twice", "GET /healthz HTTP/1.1\r\nhost: a\r\nHOST: a\r\nConnection: close\r\n\r\n"],
    ["no version", "GET /healthz\r\n\r\n"],
    ["another version", "GET /healthz HTTP/2.0\r\nHost: x\r\nConnection: close\r\n\r\n"],
    ...["gzip, chunked", "chunked, chunked", "identity, chunked", "x-odd, chunked"].map((coding) => [
      `${coding} (RFC 9112 §6.1)`,
      `POST /api/vaults HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: ${coding}\r\nConnection: close\r\n\r\n0\r\n\r\n`,
    ]),
    ["chunks in HTTP/1.0", "POST /api/vaults HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["raw bytes in the target", "GET /api/files?name=\u00e9 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
    ["a query that is not UTF-8", "GET /api/files?name=%ff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
    ["a query cut short", "GET /api/files?name=100% HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
    ["a length that is no number", "POST /api/vaults HTTP/1.1\r\nHost: x\r\nContent-Length: ten\r\n\r\n"],
  ])("%s: 400", async (_what, request = "") => {
    expectFailure(await exchange(request), 400, "malformed_request");
  });

  it("a path that does not decode: 400", async () => {
    expectFailure(
      await exchange("GET /api/files/%ff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
      400,
      "malformed_request",
    );
  });

  it("a JSON body that never comes to its end: 400 when the sender goes, and the server lives", async () => {
    const socket = connect(port, "127.0.0.1");
    socket.write(
      `POST /api/vaults HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    socket.end();
    await text(socket);
    expect((await service.ask("GET", "/healthz")).status).toBe(200);
  });

  it("bytes that fall silent: 408", async () => {
    const head = `POST /api/files?name=slow HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\nContent-Length: 100\r\n\r\nsome`;
    expectFailure(await exchange(head), 408, "request_timeout");
  });
});

describe("JSON bodies", () => {
  const vault = (more: { payload?: string; headers?: Record<string, string> }) =>
    service.ask("POST", "/api/vaults", { key, headers: { "content-type": "application/json" }, ...more });

  it.each([
    ["malformed", '{"name":', 400, "malformed_json"],
    ["not UTF-8's", "\u0000", 400, "malformed_json"],
    ["a prototype of their own", '{"__proto__":{"name":"x"},"name":"P","type":"public"}', 400, "validation_failed"],
    ["nested very deeply", "[".repeat(2_000) + "]".repeat(2_000), 400, "validation_failed"],
    ["too large", JSON.stringify({ name: "x".repeat(5_000) }), 413, "body_too_large"],
    ["empty where one is needed", "", 400, "validation_failed"],
  ])("that are %s are refused [D1-malformed-json-400 D1-too-large-413]", async (_what, payload, status, code) => {
    const answer = await vault({ payload });
    expect([answer.status, answer.headers["x-error-code"]]).toEqual([status, code]);
    expect(({} as Record<string, unknown>)["name"]).toBeUndefined();
  });

  it("of another media type, charset or coding are refused [D1-media-type-415]", async () => {
    const payload = '{"name":"T","type":"public"}';
    for (const type of ["text/plain", "application/xml", "application/json; charset=latin1"]) {
      expect((await vault({ payload, headers: { "content-type": type } })).status).toBe(415);
    }
    const coded = { "content-type": "application/json", "content-encoding": "gzip" };
    expect((await vault({ payload, headers: coded })).status).toBe(415);
  });

  it("may be empty, whatever the media type, where the contract says so", async () => {
    const path = `/api/auth/api-keys/${(await service.newKey(key)).id}/rotate`;
    const answer = await service.ask("POST", path, { key, headers: { "content-type": "application/json" } });
    expect(answer.status).toBe(201);
  });
});

describe("every path", () => {
  it("is answered with and without a trailing slash", async () => {
    for (const path of ["/healthz/", "/api/vaults/", "/api/account/"]) {
      expect((await service.ask("GET", path, { key })).status).toBe(200);
    }
  });

  it("says which methods it knows: 405 with Allow, also for HEAD", async () => {
    const answer = await service.ask("DELETE", "/api/vaults", { key });
    expect([answer.status, answer.headers["allow"]]).toEqual([405, "POST, GET"]);
    expect((await service.ask("HEAD", "/api/vaults", { key })).status).toBe(405);
    expect((await service.ask("GET", "/api/nothing")).status).toBe(404);
  });

  it("echoes a version that is a date, and refuses others [D1-versioning]", async () => {
    const version = (value: string) => service.ask("GET", "/healthz", { headers: { "api-version": value } });
    expect((await version("2026-11-20")).headers["api-version"]).toBe("2026-11-20");
    expect((await version("latest")).status).toBe(400);
  });

  it("takes a request id that is a UUID, and makes one otherwise [D1-request-id]", async () => {
    const id = "7b7c7f0e-8f0f-4c55-9a61-6f6f6b8f7a11";
    const withId = (value: string) => service.ask("GET", "/healthz", { headers: { "x-request-id": value } });
    expect((await withId(id)).headers["x-request-id"]).toBe(id);
    expect((await withId("<script>")).headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("readiness", () => {
  it("is 503 while the server starts or stops, and health is not", async () => {
    for (const state of ["starting", "stopping"] as const) {
      service.readiness.state = state;
      const answer = await service.ask("GET", "/readyz");
      expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "1"]);
      expect((await service.ask("GET", "/healthz")).status).toBe(200);
    }
    service.readiness.state = "ready";
    expect((await service.ask("GET", "/readyz")).status).toBe(200);
  });

  it("is given, and says so with the metrics, while nothing may be deleted in the store", async () => {
    await using stopped = await openTestApp();
    const { database } = stopped.deps;
    const show = async () => [
      (await stopped.ask("GET", "/readyz")).body,
      /^coffer_deletions_stopped (\d)$/m.exec((await stopped.ask("GET", "/metrics")).text)?.[1],
    ];
    expect(await show()).toEqual([{ status: "ready" }, "0"]);
    const row = { store_id: "s", token: "t", previous_token: null, renewed_at: 1, stopped: "older-rows" };
    await putMarkRow(database, row);
    expect(await show()).toEqual([{ status: "ready", deletions: "stopped" }, "1"]);
  });
});

describe("metrics", () => {
  it("count by endpoint and status class, and show no caller's words [D1-open-metrics]", async () => {
    await service.ask("GET", "/nothing-of-the-kind");
    const { text: page } = await service.ask("GET", "/metrics");
    expect(page).toContain('coffer_http_requests_total{endpoint="vaults.create",status="4xx"}');
    expect(page).toContain('coffer_storage_up{part="database"} 1');
    expect(page).toMatch(/coffer_nodejs_eventloop_lag_seconds \d/);
    const duration = (part: string): string | undefined =>
      new RegExp(`^coffer_http_request_duration_seconds_${part} (\\d+)`, "m").exec(page)?.[1];
    expect(duration('count\\{endpoint="unmatched"\\}')).toMatch(/^[1-9]/);
    expect(duration('count\\{endpoint="unmatched"\\}')).toBe(duration('bucket\\{endpoint="unmatched",le="\\+Inf"\\}'));
    expect(page).not.toContain("nothing-of-the-kind");
  });

  it("have histograms of that type, each value of a label with all its buckets, its sum and its count [issue 51]", async () => {
    const { text: page } = await service.ask("GET", "/metrics");
    for (const name of ["coffer_http_request_duration_seconds", "coffer_storage_write_duration_seconds"]) {
      expect(page).toContain(`# TYPE ${name} histogram\n`);
      expect(page).not.toMatch(new RegExp(`^# TYPE ${name}_`, "m"));
    }
    const of = page
      .split("\n")
      .filter((line) => line.includes("_duration_seconds_") && line.includes('"vaults.create"'));
    const les = of.flatMap((line) => /le="([^"]+)"/.exec(line)?.[1] ?? []);
    expect(les).toEqual(["0.001", "0.005", "0.02", "0.1", "0.5", "2", "10", "60", "600", "+Inf"]);
    expect(of.slice(-2).map((line) => /_(sum|count)\{/.exec(line)?.[1])).toEqual(["sum", "count"]);
  });

  it("say what accounts store [issue 51]", async () => {
    await using stored = await openTestApp();
    const { key: owner } = await stored.signUp();
    const upload = { key: owner, payload: "x".repeat(1234), headers: { "content-type": "application/octet-stream" } };
    expect((await stored.ask("POST", "/api/files?name=stored", upload)).status).toBe(201);
    const { text: page } = await stored.ask("GET", "/metrics");
    expect(page).toContain('coffer_stored_bytes{kind="files"} 1234\n');
    expect(page).toContain('coffer_stored_bytes{kind="versions"} 0\n');
  });

  it("do not exist for a caller that came through a proxy [D1-open-metrics]", async () => {
    const answer = await service.ask("GET", "/metrics", { headers: { "x-forwarded-for": "203.0.113.9" } });
    expect(answer.status).toBe(404);
  });

  it("do not exist either for one that says it is loopback, to a proxy that is believed [D1-open-metrics]", async () => {
    const environment = { SERVICE_TRUSTED_PROXIES: "127.0.0.0/8", SERVICE_METRICS_TOKEN: "a-token-of-metrics" };
    await using behind = await openTestApp({ environment });
    const ask = (headers: Record<string, string>) => behind.ask("GET", "/metrics", { headers });
    for (const forwarded of ["127.0.0.1", "::1", "localhost", "203.0.113.9"]) {
      expect((await ask({ "x-forwarded-for": forwarded })).status).toBe(404);
    }
    for (const name of ["forwarded", "x-real-ip", "x-forwarded-host", "x-forwarded-proto", "via"]) {
      expect((await ask({ [name]: "127.0.0.1" })).status).toBe(404);
    }
    const token = { authorization: "Bearer a-token-of-metrics", "x-forwarded-for": "203.0.113.9" };
    expect((await ask(token)).status).toBe(200);
    expect((await ask({})).status).toBe(200);
  });
});

describe("the in-process transport", () => {
  it("streams both ways and gives the same answers", async () => {
    const handle = fetchHandler(service.app);
    const chunks = ["one ", "two ", "three"];
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
        controller.close();
      },
    });
    const headers = { authorization: `Bearer ${key}` };
    const init = { method: "POST", body, headers, duplex: "half" } as RequestInit;
    const made = await handle(new Request("http://localhost/api/files?name=streamed.txt", init));
    const { file } = (await made.json()) as { file: { id: string } };
    const content = await handle(new Request(`http://localhost/api/files/${file.id}/content`, { headers }));
    expect([made.status, content.status, await content.text()]).toEqual([201, 200, chunks.join("")]);
  });
});
