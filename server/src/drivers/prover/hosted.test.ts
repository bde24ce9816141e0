import type { IncomingMessage, ServerResponse } from "node:http";
import { json as readJson } from "node:stream/consumers";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { listenOnLoopback, type LoopbackServer } from "../../../../test/kit/loopback.ts";
import { describeProver, makeRequest, SALT } from "../../../../test/suites/prover.ts";
import { suiZklogin } from "../zklogin/sui.ts";
import { openHostedProver } from "./hosted.ts";

const API_KEY = "prover-key-0123456789";

interface Seen {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: Record<string, unknown>;
}

/** Stands for the vendor: answers in its form, without proving anything. */
let server: LoopbackServer;
let seen: Seen[] = [];
let answer: ((response: ServerResponse, request: Seen) => void) | null = null;

beforeAll(async () => {
  server = await listenOnLoopback(serve);
  return () => server[Symbol.asyncDispose]();
});
afterEach(() => {
  seen = [];
  answer = null;
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await readJson(request)) as Record<string, unknown>;
  const entry = { method: request.method, path: request.url, headers: request.headers, body };
  seen.push(entry);
  if (answer !== null) return answer(response, entry);
  json(response, proofFor(entry));
}

function proofFor({ body }: Seen): object {
  return {
    proofPoints: {
      a: ["1", "2", "1"],
      b: [
        ["1", "2"],
        ["3", "4"],
        ["1", "0"],
      ],
      c: ["5", "6", "1"],
    },
    issBase64Details: { value: "yJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiw", indexMod4: 1 },
    headerBase64: String(body["jwt"]).split(".")[0],
  };
}

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

const open = (more: { timeout?: number; path?: string } = {}) =>
  openHostedProver(
    {
      url: server.baseUrl + (more.path ?? ""),
      apiKey: API_KEY,
      timeout: more.timeout ?? 5_000,
    },
    suiZklogin,
  );

describeProver("hosted", () => open());

describe("the hosted prover [S5.5-prover-production]", () => {
  it("is asked in the form of Sui's proving service, with the key as a bearer token", async () => {
    const request = makeRequest();
    await open({ path: "/zk" }).prove(request);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ method: "POST", path: "/zk/v1" });
    expect(seen[0]?.headers).toMatchObject({
      authorization: `Bearer ${API_KEY}`,
      "content-type": "application/json",
    });
    expect(seen[0]?.body).toEqual({
      jwt: request.idToken,
      extendedEphemeralPublicKey: request.key.publicKey,
      maxEpoch: request.key.maxEpoch,
      jwtRandomness: request.key.randomness,
      salt: SALT,
      keyClaimName: "sub",
    });
  });

  it("cannot tell a bad proof, and says so", async () => {
    expect(open().capabilities.checks).toBe(false);
    const proof = await open().prove(makeRequest());
    expect(await open().check(proof, makeRequest())).toBe(true);
  });

  it("takes the seed that a prover adds, when it is the right one", async () => {
    const plain = await open().prove(makeRequest());
    answer = (response, request) => json(response, { ...proofFor(request), addressSeed: plain.addressSeed });
    expect((await open().prove(makeRequest())).addressSeed).toBe(plain.addressSeed);
    answer = (response, request) => json(response, { ...proofFor(request), addressSeed: "1" });
    await expectFailure(open().prove(makeRequest()), "ProverUnavailableError");
  });

  it.each([400, 422])("hands on that values were refused (%i)", async (status) => {
    answer = (response, { body }) => response.writeHead(status).end(JSON.stringify(body));
    await expectFailure(open().prove(makeRequest()), "ProverRefusedError");
  });

  const page = "<h1>oops</h1>";
  it.each([
    ["answers 500", (response: ServerResponse) => response.writeHead(500).end(page)],
    ["does not accept the key", (response: ServerResponse) => response.writeHead(401).end(page)],
    ["is asked too often", (response: ServerResponse) => response.writeHead(429).end(page)],
    ["answers a page", (response: ServerResponse) => response.writeHead(200).end(page)],
    ["answers something else", (response: ServerResponse) => json(response, { proof: "yes" })],
    ["answers too much", (response: ServerResponse) => json(response, { padding: " ".repeat(100_000) })],
    ["hangs up", (response: ServerResponse) => response.destroy()],
    ["hangs", () => undefined],
    ["begins and never ends", (response: ServerResponse) => response.writeHead(200).write("{")],
  ])("is unavailable when it %s", async (_what, behave) => {
    answer = behave;
    await expectFailure(open({ timeout: 300 }).prove(makeRequest()), "ProverUnavailableError");
  });

  it("is unavailable when it redirects: the token goes nowhere else", async () => {
    answer = (response, request) => {
      if (request.path === "/elsewhere") json(response, proofFor(request));
      else response.writeHead(307, { location: "/elsewhere" }).end();
    };
    await expectFailure(open().prove(makeRequest()), "ProverUnavailableError");
    expect(seen).toHaveLength(1);
  });

  it("is unavailable when nobody listens", async () => {
    const prover = openHostedProver({ url: "http://127.0.0.1:9", apiKey: API_KEY }, suiZklogin);
    await expectFailure(prover.prove(makeRequest()), "ProverUnavailableError");
  });
});

/** The error says which it is, and nothing of what was sent. */
async function expectFailure(outcome: Promise<unknown>, name: string): Promise<void> {
  const error = await outcome.then(
    () => null,
    (reason: unknown) => reason as Error,
  );
  expect(error).toMatchObject({ name });
  const said = JSON.stringify([error?.message, error?.stack, String(error?.cause)]);
  const sent = seen[0]?.body ?? {};
  for (const secret of [API_KEY, SALT, sent["jwt"], sent["jwtRandomness"]]) {
    if (typeof secret === "string") expect(said).not.toContain(secret);
  }
}
