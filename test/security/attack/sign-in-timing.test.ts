/** The time of an answer does not tell whether an account exists (OWASP ASVS 5.0 6.3.8). */
import { mkdtemp, rm } from "node:fs/promises";
import { once } from "node:events";
import { Agent, request, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeAccessCode, signUpWithCode } from "../../journeys/kit/identity.ts";
import { productionSecrets } from "../../journeys/kit/production.ts";
import { startServerProcess, type ServerProcess } from "../../journeys/kit/server-process.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const CALLS = FULL ? 500 : 40;
/** The quantile that is compared: the median, or in the short run, where most calls wait for a processor, the quickest tenth. */
const PART = FULL ? 0.5 : 0.1;
/** How far the two may be apart. A few calls beside other tests show that neither leaves out a step, such as hashing the password, and no more. */
const MOST = FULL ? 0.05 : 1;
const WARMING = 5;
/** Of one length: what they weigh on the wire must not be the difference. */
const ADDRESSES = { known: "timed-known@example.com", unknown: "timed-other@example.com" } as const;
/** Limits of calls would end the measurement after a few. */
const UNLIMITED = Object.fromEntries(
  ["RATE_LOGIN", "RATE_MAIL", "RATE_MAIL_ADDRESS", "SIGN_IN_FAILURES"].map((name) => [`SERVICE_${name}`, "1000000000"]),
);

let server: ServerProcess;
let directory: string;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "coffer-timing-"));
  const variables = { ...productionSecrets(), ...UNLIMITED, SERVICE_DATA_DIR: directory };
  server = await startServerProcess(variables);
  await signUpWithCode(server.baseUrl, await makeAccessCode(variables), { email: ADDRESSES.known });
});
afterAll(async () => {
  agent.destroy();
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

it("a wrong password takes as long for an address that has an account as for one that has none [J11]", async () => {
  expect(await difference("/api/auth/login", 401, { password: "neither of the two has this one" })).toBeLessThan(MOST);
});

it("a reset mail is asked for as quickly for an address that has an account as for one that has none [J11]", async () => {
  expect(await difference("/api/auth/forgot-password", 200, {})).toBeLessThan(MOST);
});

/** How far the two addresses are apart at the quantile `PART`, relative to the lower one. */
async function difference(path: string, status: number, fields: object): Promise<number> {
  const taken = { known: [] as number[], unknown: [] as number[] };
  for (let at = -WARMING; at < CALLS; at += 1)
    // In turns, and each as often first: what one leaves behind for the next is shared out evenly.
    for (const who of at % 2 === 0 ? (["known", "unknown"] as const) : (["unknown", "known"] as const)) {
      const milliseconds = await post(path, status, { ...fields, email: ADDRESSES[who] });
      if (at >= 0) taken[who].push(milliseconds);
    }
  const [known, unknown] = [quantile(taken.known), quantile(taken.unknown)];
  return Math.abs(known - unknown) / Math.min(known, unknown);
}

async function post(path: string, status: number, fields: object): Promise<number> {
  const body = JSON.stringify(fields);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const began = performance.now();
  const sending = request(server.baseUrl + path, { agent, method: "POST", headers }).end(body);
  const [answer] = (await once(sending, "response")) as [IncomingMessage];
  answer.resume();
  await once(answer, "end");
  expect(answer.statusCode).toBe(status);
  return performance.now() - began;
}

function quantile(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length * PART)] ?? Number.NaN;
}
