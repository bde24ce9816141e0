/** Calls of a page that bring no answer: the browser hides the reason, and the SDK says what to look at, once. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listenOnLoopback, type LoopbackServer } from "../kit/loopback.ts";
import { findChromium, requireChromium } from "./chromium.ts";
import { openPage, type OpenPage } from "./page.ts";
import type { Where } from "./pages/in-page-or-worker.ts";
import type { Called, Told } from "./pages/refusals.ts";

const KEY = `cof_${"k".repeat(49)}`;

let page: OpenPage;
/** Lets no page of another origin read its answers. */
let closed: LoopbackServer;
/** Lets every page read them, and sends each request elsewhere. */
let redirecting: LoopbackServer;
/** Not in the page's policy. */
let unnamed: LoopbackServer;
/** Where the redirects lead. */
let elsewhere: LoopbackServer;
let status = 307;
/** What came there. */
const arrived: IncomingMessage[] = [];

beforeAll(async () => {
  if (findChromium() === null) return;
  closed = await listenOnLoopback((_request, response) => response.end("{}"));
  unnamed = await listenOnLoopback((_request, response) => response.end("{}"));
  elsewhere = await listenOnLoopback((request, response) => {
    arrived.push(request);
    answerPages(response, 200);
  });
  redirecting = await listenOnLoopback((request, response) => {
    response.setHeader("Location", `${elsewhere.baseUrl}/secret-place`);
    request.resume().on("end", () => answerPages(response, request.method === "OPTIONS" ? 204 : status));
  });
  page = await openPage("refusals", () =>
    Promise.resolve([closed, redirecting, elsewhere].map(({ baseUrl }) => baseUrl)),
  );
});

afterAll(async () => {
  const opened: readonly (AsyncDisposable | undefined)[] = [page, closed, unnamed, elsewhere, redirecting];
  for (const each of opened) await each?.[Symbol.asyncDispose]();
});

/** With leave for every page to read the answer, and to send any header. */
function answerPages(response: ServerResponse, code: number): void {
  const leave = { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "Authorization, *" };
  response.writeHead(code, leave).end("{}");
}

/** A call with a key. */
function ask(baseUrl: string, how: Partial<Called> & { readonly where?: Where } = {}): Promise<Told> {
  return page.run<Told>({ baseUrl, apiKey: KEY, act: "account", ...how });
}

describe.each(["page", "worker"] as const)("a call of a %s [issue 53]", (where) => {
  it("that the service allows no page to read names both causes, and is not repeated", async (context) => {
    requireChromium(context);
    const told = await ask(closed.baseUrl, { where });
    expect(told).toMatchObject({ code: "connection_failed", retryable: false, attempts: 1 });
    expect(told.text).toContain(`does not let ${page.site.origin} read answers of ${closed.baseUrl}`);
    for (const cause of ["SERVICE_CORS_ORIGINS", "connect-src"]) expect(told.text).toContain(cause);
  });

  it("that the page's policy does not allow says so, and is not repeated", async (context) => {
    requireChromium(context);
    const told = await ask(unnamed.baseUrl, { where });
    expect(told).toMatchObject({ code: "connection_failed", retryable: false, attempts: 1 });
    expect(told.text).toContain(`policy does not allow a request to ${unnamed.baseUrl}`);
    for (const cause of ["SERVICE_CORS_ORIGINS", "connect-src"]) expect(told.text).toContain(cause);
    expect(unnamed.connections()).toBe(0);
  });
});

describe.each([301, 307, 308])("a redirect with status %i, in a page [issue 53]", (code) => {
  it("is not followed, not repeated, and its address not shown", async (context) => {
    requireChromium(context);
    status = code;
    arrived.length = 0;
    for (const act of ["account", "upload"] as const) {
      const told = await ask(redirecting.baseUrl, { act });
      expect(told).toMatchObject({ code: "redirected", retryable: false, attempts: 1 });
      expect(told.text).not.toContain("secret-place");
    }
    expect(arrived).toEqual([]);
  });

  it("brings no key to another origin, and no answer from there, if the page's own fetch follows it", async (context) => {
    requireChromium(context);
    status = code;
    arrived.length = 0;
    expect(await ask(redirecting.baseUrl, { follows: true })).toMatchObject({ code: "redirected", attempts: 1 });
    expect(arrived.map(({ method }) => method)).toContain("GET");
    expect(JSON.stringify(arrived.map(({ headers }) => headers))).not.toContain(KEY);
  });
});
