import { api, endpointsOf } from "@coffer/contract";
import { createFake } from "@coffer/sdk/testing";
import { describe, expect, it } from "vitest";
import { makeAccessCode } from "../journeys/kit/identity.ts";
import { openScratchServer } from "../crash/server-process.ts";
import { uncoveredBy } from "./fake.ts";
import { parseJson } from "./judge.ts";
import { renderReport, type Report } from "./report.ts";
import { runConformance } from "./run.ts";
import type { Transport } from "./wire.ts";

const MINUTE = 60_000;

describe("conformance", () => {
  it(
    "finds nothing on the real server, and calls every endpoint of the contract [D1-everything-else S4-authorization-required S5.2-bearer-key S5.1-key-access D1-open-health D1-open-openapi D1-bad-uuid-400 D5-member-until]",
    async () => {
      await using server = await openScratchServer();
      const accessCode = await makeAccessCode(server.variables, { uses: 5 });
      const report = await runConformance({ baseUrl: server.baseUrl, accessCode });
      expect(report.findings, renderReport(report)).toEqual([]);
      expect(report.uncalled).toEqual([]);
      expect(report.notes).toEqual([]);
    },
    MINUTE,
  );

  it(
    "finds nothing on the SDK's fake, calls every endpoint that it covers, and names what it does not",
    async () => {
      const report = await onFake((transport) => transport);
      expect(report.findings, renderReport(report)).toEqual([]);
      expect(report.notes).toEqual(
        uncoveredBy(createFake()).map((feature) => `not covered by this service, and not tried: ${feature}`),
      );
    },
    MINUTE,
  );

  it(
    "says what it could not try without an access code",
    async () => {
      await using server = await openScratchServer();
      const tried = /^(account|auth|development|sessions|vaults)\./;
      const without = endpointsOf(api)
        .map(({ id }) => id)
        .filter((id) => !tried.test(id));
      const report = await runConformance({ baseUrl: server.baseUrl, without });
      expect(report.findings, renderReport(report)).toEqual([]);
      expect(report.notes.join()).toContain("SERVICE_ACCESS_CODE");
    },
    MINUTE,
  );
});

/** Each tampers with what a conforming service answers; the run must name it. */
const MUTATIONS: readonly { readonly name: string; readonly tamper: Tamper; readonly reported: RegExp }[] = [
  {
    name: "a renamed field",
    tamper: inJson((text) => text.replaceAll('"sha256":', '"digestHex":')),
    reported: /files\.get: .*sha256/,
  },
  {
    name: "an added field",
    tamper: inJson((text) => text.replaceAll('"vaultId":', '"secret":1,"vaultId":')),
    reported: /unknown field/,
  },
  {
    name: "a number as text",
    tamper: inJson((text) => text.replaceAll(/"size":(\d+)/g, '"size":"$1"')),
    reported: /size: /,
  },
  {
    name: "a second field in errors",
    tamper: inJson((text) => text.replace(/^\{"error":/, '{"statusCode":400,"error":')),
    reported: /exactly \{ error/,
  },
  {
    name: "an error code of another status",
    tamper: inHeaders((headers) => {
      if (headers.get("x-error-code") === "not_found") headers.set("x-error-code", "name_exists");
    }),
    reported: /name_exists goes with 409/,
  },
  {
    name: "401 without WWW-Authenticate",
    tamper: inHeaders((headers) => {
      headers.delete("www-authenticate");
    }),
    reported: /401 without WWW-Authenticate/,
  },
  {
    name: "no request id",
    tamper: inHeaders((headers) => {
      headers.delete("x-request-id");
    }),
    reported: /X-Request-Id/,
  },
  {
    name: "another status",
    tamper: (answer) =>
      answer.status === 201 ? new Response(answer.body, { status: 200, headers: answer.headers }) : answer,
    reported: /status 200 is not declared/,
  },
  { name: "bytes that changed", tamper: inBytes, reported: /other bytes than were stored/ },
];

describe("the conformance run bites", () => {
  it.each(MUTATIONS)(
    "on $name",
    async ({ tamper, reported }) => {
      const report = await onFake((transport) => async (request) => tamper(await transport(request)));
      expect(report.findings.map(({ endpoint, problem }) => `${endpoint}: ${problem}`).join("\n")).toMatch(reported);
    },
    MINUTE,
  );

  it(
    "on an endpoint that is not there",
    async () => {
      const gone = Response.json({ error: "Not found" }, { status: 404 });
      const report = await onFake(
        (transport) => (request) =>
          request.url.includes("/restore") ? Promise.resolve(gone.clone()) : transport(request),
      );
      expect(report.findings.map(({ endpoint }) => endpoint)).toContain("files.restore");
    },
    MINUTE,
  );

  it("on an endpoint that no flow calls", async () => {
    const report = await runConformance({
      baseUrl: "http://fake.invalid",
      transport: () => Promise.resolve(Response.json({ error: "Not found" }, { status: 404 })),
    });
    expect(report.uncalled).toContain("files.upload");
    expect(report.findings.length).toBeGreaterThan(report.uncalled.length);
  });
});

type Tamper = (answer: Response) => Response | Promise<Response>;

function onFake(wrap: (transport: Transport) => Transport): Promise<Report> {
  const fake = createFake();
  const without = uncoveredBy(fake);
  return runConformance({ baseUrl: "http://fake.invalid", transport: wrap(fake.fetch), without });
}

function inJson(change: (text: string) => string): Tamper {
  return async (answer) => {
    if (answer.headers.get("content-type")?.startsWith("text/event-stream") === true) return answer;
    const bytes = await answer.clone().bytes();
    if (parseJson(bytes) === undefined) return answer;
    return new Response(change(new TextDecoder().decode(bytes)), { status: answer.status, headers: answer.headers });
  };
}

function inHeaders(change: (headers: Headers) => void): Tamper {
  return (answer) => {
    const headers = new Headers(answer.headers);
    change(headers);
    return new Response(answer.body, { status: answer.status, headers });
  };
}

async function inBytes(answer: Response): Promise<Response> {
  if (answer.headers.get("etag") === null || answer.status !== 200) return answer;
  const bytes = await answer.bytes();
  if (bytes.length > 0) bytes[0] = (bytes[0] ?? 0) ^ 1;
  return new Response(bytes.length === 0 ? null : bytes, { status: 200, headers: answer.headers });
}
