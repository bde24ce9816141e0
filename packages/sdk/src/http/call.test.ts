import { describe, expect, it } from "vitest";
import { AbortError, ApiError, ConnectionError, ContractError, TimeoutError } from "./errors.ts";
import { failure, ID, json, scripted, silence, VAULT } from "./transport.test-kit.ts";

const OK = json({ vault: VAULT });
const CREATED = json({ vault: VAULT }, 201);
const REFUSED = Object.assign(new TypeError("fetch failed"), {
  cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED" }),
});

describe("what is repeated", () => {
  it.each([
    ["a refused connection", REFUSED],
    ["408", failure("request_timeout")],
    ["425 of a proxy", new Response(null, { status: 425 })],
    ["429", failure("rate_limited")],
    ["500", failure("internal")],
    ["502 of a proxy", new Response("<html>", { status: 502 })],
    ["503", failure("unavailable")],
    ["507", failure("disk_full")],
    ["409 whose code says so", failure("idempotency_in_progress")],
  ])("%s, then the answer", async (_name, step) => {
    const { client, requests } = scripted([step, CREATED]);
    expect((await client.vaults.create({ name: "a", type: "public" })).id).toBe(ID);
    expect(requests).toHaveLength(2);
  });

  it.each([
    ["401", failure("invalid_credential"), "invalid_credential"],
    ["404", failure("not_found"), "not_found"],
    ["409 of a conflict", failure("name_exists"), "name_exists"],
    ["409 without a code", json({ error: "no" }, 409), "unknown_error"],
    ["a code under another status", json({ error: "no" }, 404, { "x-error-code": "internal" }), "unknown_error"],
    ["501 of a proxy", new Response(null, { status: 501 }), "unknown_error"],
  ])("not %s", async (_name, step, code) => {
    const { client, requests } = scripted([step, OK]);
    await expect(client.vaults.get(ID)).rejects.toMatchObject({ name: "ApiError", code, retryable: false });
    expect(requests).toHaveLength(1);
  });

  it("not what a middleware throws by mistake as an error of its own", async () => {
    const { client, requests } = scripted([OK], {
      middleware: [() => Promise.reject(new ContractError("request", "x", ["mine"]))],
    });
    await expect(client.vaults.get(ID)).rejects.toThrow("mine");
    expect(requests).toHaveLength(0);
  });

  it("at most as often as the limit says, none with 0", async () => {
    const { client, requests } = scripted([REFUSED], { retry: { limit: 2 } });
    await expect(client.vaults.get(ID)).rejects.toThrow(ConnectionError);
    expect(requests).toHaveLength(3);
    await expect(client.vaults.get(ID, { retries: 0 })).rejects.toThrow(ConnectionError);
    expect(requests).toHaveLength(4);
  });

  it("only while the client's budget lasts, which successes refill", async () => {
    const failing = scripted([REFUSED], { retry: { limit: 9, budget: 4 } });
    await expect(failing.client.vaults.get(ID)).rejects.toThrow(ConnectionError);
    expect(failing.requests).toHaveLength(5);
    await expect(failing.client.vaults.get(ID)).rejects.toThrow(ConnectionError);
    expect(failing.requests).toHaveLength(6);
    const recovering = scripted([REFUSED, OK, REFUSED, OK], { retry: { budget: 1, budgetRefund: 1 } });
    await recovering.client.vaults.get(ID);
    await recovering.client.vaults.get(ID);
    expect(recovering.requests).toHaveLength(4);
  });
});

describe("waits", () => {
  it("grow from attempt to attempt, with full jitter, up to the cap", async () => {
    const { client, clock } = scripted([REFUSED], { retry: { limit: 4, baseDelayMs: 100, maxDelayMs: 300 } });
    clock.randomness = 0.5;
    await expect(client.vaults.get(ID)).rejects.toThrow(ConnectionError);
    expect(clock.waits).toEqual([50, 100, 150, 150]);
    expect(clock.pending).toBe(0);
  });

  it.each([
    ["seconds", "3", 3000],
    ["more than the cap", "3600", 60_000],
  ])("follow Retry-After: %s", async (_name, retryAfter, waited) => {
    const { client, clock } = scripted([failure("rate_limited", { "retry-after": retryAfter }), OK]);
    await client.vaults.get(ID);
    expect(clock.waits).toEqual([waited]);
  });

  it("follow a Retry-After that is a date (RFC 9110 §10.2.3)", async () => {
    const { client, clock } = scripted([
      failure("unavailable", { "retry-after": new Date(Date.now() + 20_000).toUTCString() }),
      OK,
    ]);
    await client.vaults.get(ID);
    expect(clock.waits[0]).toBeGreaterThan(15_000);
    expect(clock.waits[0]).toBeLessThanOrEqual(20_000);
  });

  it("are not begun when they would pass the total limit", async () => {
    const { client, requests } = scripted([failure("rate_limited", { "retry-after": "30" })]);
    await expect(client.vaults.get(ID, { totalMs: 20_000 })).rejects.toMatchObject({
      code: "rate_limited",
      retryAfterMs: 30_000,
    });
    expect(requests).toHaveLength(1);
  });
});

describe("limits", () => {
  it("end an attempt that does not answer, and the call after its total", async () => {
    const { client, requests, clock } = scripted([silence], {
      timeouts: { attemptMs: 1000, totalMs: 2500 },
      retry: { baseDelayMs: 0 },
    });
    await expect(client.vaults.get(ID)).rejects.toMatchObject({ name: "TimeoutError", limit: "total" });
    expect(requests).toHaveLength(3);
    expect(clock.now()).toBe(2500);
    expect(clock.pending).toBe(0);
  });

  it("end a body that does not come", async () => {
    const hanging = () =>
      new Response(new ReadableStream({ pull: () => new Promise(() => undefined) }), { status: 200 });
    const { client } = scripted([hanging], { retry: { limit: 0 }, timeouts: { attemptMs: 700 } });
    await expect(client.vaults.get(ID)).rejects.toMatchObject({ limit: "attempt", afterMs: 700 });
  });

  it("let bytes take their time, and end them only when none moves", async () => {
    const slow = (pauses: number) => () => {
      let left = pauses;
      const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
        if (left === 0) await new Promise(() => undefined);
        left -= 1;
        await new Promise<void>((resolve) => clock.after(50_000, resolve));
        controller.enqueue(new Uint8Array(10));
      };
      return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), {
        headers: { "content-length": "50", etag: `"sha256-${"A".repeat(43)}"` },
      });
    };
    const { client, clock } = scripted([slow(4)], { timeouts: { stallMs: 60_000, attemptMs: 1000, totalMs: 2000 } });
    const reader = (await client.files.download(ID, { retries: 0 })).stream.getReader();
    for (let chunk = 0; chunk < 4; chunk += 1) expect((await reader.read()).value).toHaveLength(10);
    expect(clock.now()).toBe(200_000);
    await expect(reader.read()).rejects.toMatchObject({ name: "TimeoutError", limit: "stall", afterMs: 60_000 });
    expect(clock.pending).toBe(0);
  });

  it("end an upload whose body is not taken", async () => {
    const { client } = scripted([silence], { timeouts: { stallMs: 5000 }, retry: { limit: 0 } });
    await expect(client.files.upload({ name: "a", body: new Uint8Array(9) })).rejects.toThrow(TimeoutError);
  });
});

describe("an abort", () => {
  it("ends a call at once, also while it waits to repeat", async () => {
    const controller = new AbortController();
    const { client, requests, clock } = scripted([failure("rate_limited", { "retry-after": "9" })]);
    const call = client.vaults.get(ID, { signal: controller.signal });
    setImmediate(() => {
      controller.abort();
    });
    await expect(call).rejects.toThrow(AbortError);
    expect(requests).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it("before the call sends nothing", async () => {
    const { client, requests } = scripted([OK]);
    await expect(client.vaults.get(ID, { signal: AbortSignal.abort() })).rejects.toThrow(AbortError);
    expect(requests).toHaveLength(0);
  });
});

describe("mutations", () => {
  it("carry one Idempotency-Key over all attempts, the caller's own when given; reads carry none", async () => {
    const made = scripted([REFUSED, failure("internal"), CREATED]);
    await made.client.vaults.create({ name: "a", type: "public" });
    const keys = made.requests.map((request) => request.headers.get("idempotency-key"));
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    const own = scripted([OK]);
    await own.client.vaults.update(ID, { name: "b" }, { idempotencyKey: "mine" });
    expect(own.requests[0]?.headers.get("idempotency-key")).toBe("mine");
    const read = scripted([OK]);
    await read.client.vaults.get(ID);
    expect(read.requests[0]?.headers.has("idempotency-key")).toBe(false);
  });

  it("a 404 after an attempt that was surely refused is no success [D1-sdk-delete-retry]", async () => {
    const surely = scripted([failure("rate_limited", { "retry-after": "0" }), failure("not_found")]);
    await expect(surely.client.vaults.delete(ID)).rejects.toMatchObject({ code: "not_found" });
    const perhaps = scripted([failure("internal"), failure("not_found")]);
    await perhaps.client.vaults.delete(ID);
    expect(perhaps.requests).toHaveLength(2);
  });
});

describe("answers", () => {
  it("keep what the contract does not know", async () => {
    const { client } = scripted([json({ vault: { ...VAULT, colour: "red" }, more: 1 })]);
    expect(await client.vaults.get(ID)).toMatchObject({ colour: "red" });
  });

  it("that break the contract are errors that name the field and not its value", async () => {
    const { client, requests } = scripted([json({ vault: { ...VAULT, name: 5, createdAt: "secret-value" } })]);
    const error: unknown = await client.vaults.get(ID).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ContractError);
    expect(String(error)).toContain("body.vault.createdAt");
    expect(String(error)).not.toContain("secret-value");
    expect(requests).toHaveLength(1);
    await expect(scripted([new Response("{")]).client.vaults.get(ID)).rejects.toThrow(ContractError);
  });

  it("are read up to 64 MiB and no further, and asked for once", async () => {
    const part = new Uint8Array(1024 * 1024).fill(0x20);
    let given = 0;
    let ended = false;
    const endless = (): Response =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull: (controller) => {
            // Far behind the limit it ends after all: a reader without one fails here and does not take the machine with it.
            if ((given += 1) > 80) controller.close();
            else controller.enqueue(part);
          },
          // A service in this process may never say that it has ended.
          cancel: () => ((ended = true), new Promise(() => undefined)),
        }),
      );
    const { client, requests } = scripted([endless]);
    const error: unknown = await client.vaults.get(ID).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "contract_broken", issues: ["body: more than 67108864 bytes"] });
    expect({ ended, requests: requests.length }).toEqual({ ended: true, requests: 1 });
    expect(given).toBeLessThan(68);
  });

  it.each([
    ["so many values that their objects would fill the memory", "[".repeat(1_500_001), "more than 1500000 values"],
    ["a list far longer than any page", `{"vaults":[${"0,".repeat(10_000)}0]}`, "a list of more than 10000 items"],
  ])("are refused before they are checked when they hold %s", async (_name, body, issue) => {
    const { client, requests } = scripted([new Response(body)]);
    const error: unknown = await client.vaults.list().then(undefined, (reason: unknown) => reason);
    expect(error).toMatchObject({ code: "contract_broken" });
    expect(String(error)).toContain(issue);
    expect(requests).toHaveLength(1);
  });

  it("with more that is wrong than a report can hold break the contract, too", async () => {
    const wrong = `{"vaultIds":[${"0,".repeat(999)}0]},`.repeat(200);
    const { client, requests } = scripted([new Response(`{"apiKeys":[${wrong}0],"nextCursor":null}`)]);
    await expect(client.apiKeys.list()).rejects.toMatchObject({ code: "contract_broken" });
    expect(requests).toHaveLength(1);
  });

  it("are whole however the bytes lie in their chunks", async () => {
    const bytes = new TextEncoder().encode(JSON.stringify({ vault: { ...VAULT, name: "Ž€𐍈" } }));
    const one = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect((await scripted([new Response(one)]).client.vaults.get(ID)).name).toBe("Ž€𐍈");
  });

  it("that break the contract pass when only reports are wanted", async () => {
    const reports: string[] = [];
    const { client } = scripted([json({ vault: { ...VAULT, name: 5 } })], {
      responses: "report",
      onContractError: (error) => reports.push(error.message),
    });
    expect((await client.vaults.get(ID)).name).toBe(5);
    expect(reports).toEqual([expect.stringContaining("body.vault.name")]);
  });
});

describe("requests", () => {
  it("say who sends them, never follow redirects, and count repeats", async () => {
    const { client, requests } = scripted([REFUSED, OK], { application: "my-app/1.0" });
    await client.vaults.get(ID);
    expect(requests[0]?.headers.get("user-agent")).toMatch(/^coffer-sdk\/\d+\.\d+\.\d+ node\/\S+ my-app\/1\.0$/);
    expect(requests[0]?.redirect).toBe("error");
    expect(requests.map((request) => request.headers.get("x-retry-count"))).toEqual([null, "1"]);
    expect(requests[0]?.url).toBe(`http://coffer.test/api/vaults/${ID}`);
  });

  it("ask for the credential before every attempt; open endpoints get none", async () => {
    let asked = 0;
    const { client, requests } = scripted([failure("internal"), OK], {
      credentials: () => ({ apiKey: `cof_${String((asked += 1)).repeat(49)}` }),
    });
    await client.vaults.get(ID);
    expect(requests.map((request) => request.headers.get("authorization")?.at(-1))).toEqual(["1", "2"]);
    const open = scripted([json({ id: ID, email: "a@example.com", apiKey: "k", warning: "w" })]);
    await open.client.development.signup({ email: "a@example.com" });
    expect(open.requests[0]?.headers.has("authorization")).toBe(false);
  });

  it("are not sent with a key or a header that cannot be one", async () => {
    const { client, requests } = scripted([CREATED]);
    const made = client.vaults.create({ name: "a", type: "public" }, { idempotencyKey: "a\nb" });
    await expect(made).rejects.toMatchObject({ code: "invalid_request" });
    const updated = client.files.update(ID, { name: "b" }, { ifMatch: '1"\r\nx: y' });
    await expect(updated).rejects.toMatchObject({ code: "invalid_request" });
    expect(requests).toHaveLength(0);
  });

  it("fail as a matter of settings when the credential cannot be had", async () => {
    const { client, requests } = scripted([OK], { credentials: () => Promise.reject(new Error("vault is sealed")) });
    await expect(client.vaults.get(ID)).rejects.toMatchObject({ code: "configuration", retryable: false });
    expect(requests).toHaveLength(0);
  });

  it.each(["ftp://x", "no url", "http://user:pass@host"])("are not sent to %s", (baseUrl) => {
    expect(() => scripted([OK], { baseUrl })).toThrow(expect.objectContaining({ code: "configuration" }));
  });

  it("errors keep their code when their body is longer than any error's: no more than that is read", async () => {
    let given = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      if ((given += 1) > 99) controller.close();
      else controller.enqueue(new Uint8Array(16 * 1024).fill(0x20));
    };
    const headers = { "x-error-code": "not_found" };
    const { client } = scripted([() => new Response(new ReadableStream({ pull }), { status: 404, headers })]);
    await expect(client.vaults.get(ID)).rejects.toMatchObject({ code: "not_found", message: "Not found" });
    expect(given).toBeLessThan(8);
  });

  it("errors keep status, request id and advice", async () => {
    const { client } = scripted([failure("not_found")]);
    const error: unknown = await client.vaults.get(ID).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: "ApiError",
      message: "Not found",
      code: "not_found",
      retryable: false,
      status: 404,
      requestId: ID,
      nextStep: "Check the id and the key's vaults.",
    });
  });
});
