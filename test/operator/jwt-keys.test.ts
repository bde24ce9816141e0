/** The key of access tokens is rotated by the steps that `jwt-keys` prints, while two processes serve from one database. */
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { type ServerProcess, startServerProcess } from "../crash/server-process.ts";
import { freshEmail } from "../journeys/kit/account.ts";
import { PASSWORD } from "../journeys/kit/identity.ts";
import { runOperator } from "../journeys/kit/operator.ts";
import { productionSecrets } from "../journeys/kit/production.ts";
import { makeDirectory } from "../kit/directory.ts";
import { findSteadyPort } from "../kit/steady-port.ts";

interface Answered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Call {
  readonly token?: string;
  readonly json?: object;
}

const GONE = new Set(["ECONNREFUSED", "ECONNRESET"]);

/** Over a connection of its own. null: the process takes none, or ended before it read the request. */
function ask(baseUrl: string, path: string, { token, json }: Call): Promise<Answered | null> {
  const headers: Record<string, string> = {};
  if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
  if (json !== undefined) headers["content-type"] = "application/json";
  const method = json === undefined ? "GET" : "POST";
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, baseUrl), { agent: false, method, headers }, (answer) => {
      text(answer).then(
        (body) =>
          resolve({ status: answer.statusCode ?? 0, body: JSON.parse(body) as Readonly<Record<string, unknown>> }),
        reject,
      );
    });
    sent.on("error", (error: NodeJS.ErrnoException) => (GONE.has(error.code ?? "") ? resolve(null) : reject(error)));
    sent.end(json === undefined ? "" : JSON.stringify(json));
  });
}

const kidOf = (token: string): unknown =>
  (JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()) as { readonly kid: unknown }).kid;

it("nobody is refused while two processes restart after each step, and at the end the old key counts no more [issue 51]", async () => {
  const directory = makeDirectory();
  const file = join(makeDirectory(), "server.env");
  const settings = {
    ...productionSecrets(),
    SERVICE_ACCESS_CODES: "off",
    SERVICE_RATE_REFRESH: "1000000",
    SERVICE_RATE_ANONYMOUS: "1000000",
    SERVICE_RATE_GENERAL: "1000000",
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(file, `# ours\n${lines.join("")}`, { mode: 0o600 });
  const start = (port: number): Promise<ServerProcess> =>
    startServerProcess({ directory, port, words: ["--env-file", file], environment: { SERVICE_ENV: "production" } });
  const servers: ServerProcess[] = [];
  for (const port of [await findSteadyPort(), await findSteadyPort()]) servers.push(await start(port));
  const addresses = servers.map(({ baseUrl }) => baseUrl);

  const json = { email: freshEmail(), password: PASSWORD };
  const account = (await ask(addresses[0] ?? "", "/api/auth/signup", { json }))?.body;
  const first = String(account?.["accessToken"]);
  const tokens = { oldest: [first], newest: first, refresh: String(account?.["refreshToken"]) };
  const signers = new Set<unknown>();
  const refusals: string[] = [];
  let renewed = 0;
  let isOver = false;
  /** Nobody renews a session there: whose answer is lost would have to sign in again, whatever the keys are. */
  let restarting: string | null = null;
  const working = (async () => {
    for (let turn = 0; !isOver; turn += 1) {
      for (const address of addresses)
        for (const token of [...tokens.oldest, tokens.newest]) {
          const answer = await ask(address, "/api/account", { token });
          if (answer?.status === 401) refusals.push(`${String(kidOf(token))} at ${address}`);
        }
      const body = { refreshToken: tokens.refresh };
      const others = addresses.filter((address) => address !== restarting);
      const given = await ask(others[turn % others.length] ?? "", "/api/auth/refresh", { json: body });
      if (given?.status !== 200) throw new Error(`a refresh: ${String(given?.status)} ${String(given?.body["error"])}`);
      tokens.newest = String(given.body["accessToken"]);
      tokens.refresh = String(given.body["refreshToken"]);
      signers.add(kidOf(tokens.newest));
      renewed += 1;
    }
  })().catch((error: unknown) => void refusals.push(String(error)));
  const enough = async (): Promise<void> => {
    const until = renewed + 3;
    while (renewed < until && refusals.length === 0) await pause(20);
    expect(refusals).toEqual([]);
  };
  const step = async (name: string): Promise<string> => {
    const ran = await runOperator(["--env-file", file, "jwt-keys", name], {});
    expect([ran.code, ran.stdout]).toEqual([0, ""]);
    for (const [secret] of readFileSync(file, "utf8").matchAll(/[\w+/]{43,}/g))
      expect(ran.stderr).not.toContain(secret);
    for (const [at, server] of servers.entries()) {
      restarting = server.baseUrl;
      await enough();
      expect(await server.end("SIGTERM")).toBe(0);
      await enough();
      servers[at] = await start(server.port);
      restarting = null;
      await enough();
    }
    return ran.stderr;
  };

  try {
    await enough();
    expect(await step("add")).toContain(`coffer-server --env-file ${file} jwt-keys promote`);
    expect([...signers]).toEqual(["k1"]);
    expect(await step("promote")).toContain(`coffer-server --env-file ${file} jwt-keys drop`);
    expect([...signers]).toEqual(["k1", "k2"]);
    // A quarter of an hour later each session has had its token renewed, and the old ones are over.
    tokens.oldest = [];
    await enough();
    const then = Date.now() / 1000 - 17 * 60;
    utimesSync(file, then, then);
    await step("drop");
    isOver = true;
    await working;
    expect(refusals).toEqual([]);
    expect(readFileSync(file, "utf8")).toMatch(/^# ours\n[^]*^SERVICE_JWT_KEYS=k2:[\w+/]+=*$/m);
    for (const address of addresses) {
      expect((await ask(address, "/api/account", { token: first }))?.status).toBe(401);
      expect((await ask(address, "/api/account", { token: tokens.newest }))?.status).toBe(200);
    }
  } finally {
    isOver = true;
    await working;
    for (const server of servers) await server[Symbol.asyncDispose]();
  }
}, 300_000);
