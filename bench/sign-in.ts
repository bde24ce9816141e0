import { once } from "node:events";
import { Agent, request, type IncomingMessage } from "node:http";
import { makeAccessCode, signUpWithCode } from "../test/acceptance/kit/identity.ts";
import { productionSecrets } from "../test/acceptance/kit/production.ts";
import { startServerProcess } from "../test/acceptance/kit/server-process.ts";
import { measured, median, type Benchmark } from "./outcome.ts";
import { openScratch } from "./service.ts";

const CALLS = 1000;
const WARM_UP = 20;
/** Of one length: what they weigh on the wire must not be the difference. */
const ADDRESSES = { known: "bench-known@example.com", unknown: "bench-other@example.com" } as const;
const WRONG_PASSWORD = "neither of the two has this one";
/** Limits of calls would end the measurement after a few. */
const UNLIMITED = Object.fromEntries(
  ["RATE_LOGIN", "RATE_MAIL", "RATE_MAIL_ADDRESS", "SIGN_IN_FAILURES"].map((name) => [`SERVICE_${name}`, "1000000000"]),
);

/** Whether the time of a failed sign-in says that an account exists (OWASP ASVS 5.0 6.3.8). */
export const loginTiming: Benchmark = () =>
  compare({
    name: "login-timing",
    path: "/api/auth/login",
    status: 401,
    bodyFor: (email) => ({ email, password: WRONG_PASSWORD }),
  });

/** Whether the time of asking for a reset mail says it. The mails are sent meanwhile, in the same process. */
export const forgotPasswordTiming: Benchmark = () =>
  compare({
    name: "forgot-password-timing",
    path: "/api/auth/forgot-password",
    status: 200,
    bodyFor: (email) => ({ email }),
  });

interface Compared {
  readonly name: string;
  readonly path: string;
  readonly status: number;
  readonly bodyFor: (email: string) => object;
}

async function compare({ name, path, status, bodyFor }: Compared): ReturnType<Benchmark> {
  await using scratch = await openScratch();
  const variables = { ...productionSecrets(), ...UNLIMITED, SERVICE_DATA_DIR: scratch.directory };
  await using server = await startServerProcess(variables);
  await signUpWithCode(server.baseUrl, await makeAccessCode(variables), { email: ADDRESSES.known });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const call = (who: keyof typeof ADDRESSES) =>
    milliseconds(agent, server.baseUrl + path, JSON.stringify(bodyFor(ADDRESSES[who])), status);
  const series = { known: [] as number[], unknown: [] as number[] };
  try {
    for (let at = -WARM_UP; at < CALLS; at += 1) {
      // In turns, and each as often first: what one leaves behind for the next is shared out evenly.
      const order = at % 2 === 0 ? (["known", "unknown"] as const) : (["unknown", "known"] as const);
      for (const who of order) {
        const took = await call(who);
        if (at >= 0) series[who].push(took);
      }
    }
  } finally {
    agent.destroy();
  }
  const [known, unknown] = [median(series.known), median(series.unknown)];
  return measured({
    name,
    about: `difference of the medians of POST ${path} for a known and an unknown e-mail`,
    value: (Math.abs(known - unknown) / Math.min(known, unknown)) * 100,
    unit: "% of the median",
    limit: { at: "most", value: 5 },
    series: { "known e-mail, ms": series.known, "unknown e-mail, ms": series.unknown },
    facts: { calls: `${String(CALLS)} of each, in turns over one connection`, mode: "production" },
  });
}

async function milliseconds(agent: Agent, url: string, body: string, status: number): Promise<number> {
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const began = performance.now();
  const sending = request(url, { agent, method: "POST", headers }).end(body);
  const [answer] = (await once(sending, "response")) as [IncomingMessage];
  answer.resume();
  await once(answer, "end");
  const took = performance.now() - began;
  if (answer.statusCode !== status) throw new Error(`${url} answered ${String(answer.statusCode)}`);
  return took;
}
