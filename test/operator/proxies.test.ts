/** The proxies of deploy/ with TLS, in front of two server processes: what goes through them as it comes, what they say of callers, and what they log. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request as requestPlain, type IncomingMessage } from "node:http";
import { request, type RequestOptions } from "node:https";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { type ServerProcess, startServerProcess } from "../crash/server-process.ts";
import { freshEmail } from "../journeys/kit/account.ts";
import { PASSWORD } from "../journeys/kit/identity.ts";
import { readMailedToken, readOutbox } from "../journeys/kit/outbox.ts";
import { productionSecrets } from "../journeys/kit/production.ts";
import { patternBytes } from "../kit/bytes.ts";
import { makeSignedCertificate } from "../kit/certificates.ts";
import { makeDirectory } from "../kit/directory.ts";
import { findSteadyPort } from "../kit/steady-port.ts";
import { readMetric } from "./asking.ts";
import { checkComposeProxy, nginx, PROXIES, type TlsProxy } from "./proxies.ts";

const MIB = 1024 * 1024;
const LARGE = 64 * MIB;
/** Another address of this machine, as a caller from elsewhere has another than the proxy. */
const CALLER = "127.0.0.9";

interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Scene extends AsyncDisposable {
  readonly proxy: TlsProxy;
  readonly directory: string;
  readonly servers: readonly ServerProcess[];
  /** As an operator does it: SIGTERM, and the same again on the same port. */
  restart(at: number): Promise<void>;
  readonly email: string;
  readonly token: string;
  readonly options: RequestOptions;
  ask(
    path: string,
    call?: Call,
  ): Promise<{ readonly status: number; readonly headers: IncomingMessage["headers"]; readonly text: string }>;
}

/** As the guide has it: the value of the example, behind a proxy on this machine. */
function trustedOfExample(): string {
  const example = readFileSync(new URL("../../deploy/server.env.example", import.meta.url), "utf8");
  return /^SERVICE_TRUSTED_PROXIES=(.+)$/m.exec(example)?.[1] ?? "";
}

describe.each(PROXIES)("deploy/$file [issue 51]", (kind) => {
  const certificate = makeSignedCertificate();
  const why = kind.whyNot() ?? (certificate === null ? "openssl is not installed" : null);
  let scene: Scene;

  async function openScene(): Promise<Scene> {
    if (certificate === null) throw new Error("openssl is not installed");
    const directory = makeDirectory();
    await using opened = new AsyncDisposableStack();
    const ports = [await findSteadyPort(), await findSteadyPort()] as const;
    const proxy = opened.use(await kind.start({ directory: makeDirectory(), certificate, upstreams: ports }));
    const { SERVICE_APP_URL: _, ...secrets } = productionSecrets();
    const environment = {
      ...secrets,
      SERVICE_ENV: "production",
      SERVICE_PUBLIC_URL: `https://localhost:${String(proxy.port)}`,
      SERVICE_TRUSTED_PROXIES: trustedOfExample(),
      SERVICE_ACCESS_CODES: "off",
      SERVICE_RATE_GENERAL: "1000000",
      // Longer than Caddy takes to notice.
      SERVICE_SHUTDOWN_NOTICE_SECONDS: "4",
    };
    const servers: ServerProcess[] = [];
    for (const port of ports) servers.push(opened.use(await startServerProcess({ directory, port, environment })));
    const options: RequestOptions = {
      host: "127.0.0.1",
      port: proxy.port,
      servername: "localhost",
      ca: certificate.authority,
      localAddress: CALLER,
      agent: false,
    };
    const ask: Scene["ask"] = async (path, { method = "GET", headers = {}, body = "" } = {}) => {
      const all = { host: `localhost:${String(proxy.port)}`, ...headers };
      const sent = request({ ...options, path, method, headers: all });
      sent.end(body);
      const [answer] = (await once(sent, "response")) as [IncomingMessage];
      return { status: answer.statusCode ?? 0, headers: answer.headers, text: await text(answer) };
    };
    await answering(ask);
    const email = freshEmail();
    const json = { "content-type": "application/json", "x-forwarded-for": "203.0.113.7" };
    const body = JSON.stringify({ email, password: PASSWORD });
    const account = await ask("/api/auth/signup", { method: "POST", headers: json, body });
    expect([account.status, account.text]).toEqual([201, expect.any(String)]);
    const { accessToken } = JSON.parse(account.text) as { readonly accessToken: string };
    const all = opened.move();
    const restart = async (at: number): Promise<void> => {
      const server = servers[at];
      expect(await server?.end("SIGTERM")).toBe(0);
      servers[at] = all.use(await startServerProcess({ directory, port: server?.port ?? 0, environment }));
    };
    const parts = { proxy, directory, servers, restart, email, token: accessToken, options, ask };
    return { ...parts, [Symbol.asyncDispose]: () => all.disposeAsync() };
  }

  beforeAll(async () => {
    if (why === null) scene = await openScene();
  });
  afterAll(async () => {
    if (why === null) await scene[Symbol.asyncDispose]();
  });
  const test = (title: string, run: () => Promise<void>): void => {
    it(title, async (context: TestContext) => {
      if (why !== null) context.skip(why);
      await run();
    });
  };
  const bearer = () => ({ authorization: `Bearer ${scene.token}`, host: `localhost:${String(scene.proxy.port)}` });

  test("a large file goes through as it comes, and comes back as it was", async () => {
    const { options, servers } = scene;
    const first = patternBytes("first", MIB);
    const rest = patternBytes("rest", MIB);
    const digest = createHash("sha256").update(first);
    const headers = { ...bearer(), "content-type": "application/octet-stream", "content-length": String(LARGE) };
    const sent = request({ ...options, path: "/api/files?name=large.bin", method: "POST", headers });
    const answered = once(sent, "response") as Promise<[IncomingMessage]>;
    sent.write(first);
    // A proxy that waits for the whole body has not asked a process by now, and never does.
    const transfers = async (): Promise<number> => {
      const counts = await Promise.all(servers.map(({ baseUrl }) => readMetric(baseUrl, "coffer_active_transfers")));
      return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
    };
    while ((await transfers()) === 0) await pause(50);
    for (let at = 1; at < LARGE / MIB; at += 1) {
      digest.update(rest);
      if (!sent.write(rest)) await once(sent, "drain");
    }
    sent.end();
    const [made] = await answered;
    const { file } = JSON.parse(await text(made)) as { readonly file: { readonly id: string; readonly size: number } };
    expect([made.statusCode, file.size]).toEqual([201, LARGE]);
    const received = request({ ...options, path: `/api/files/${file.id}/content`, headers: bearer() });
    received.end();
    const [content] = (await once(received, "response")) as [IncomingMessage];
    const back = createHash("sha256");
    for await (const chunk of content as AsyncIterable<Buffer>) back.update(chunk);
    expect(back.digest("hex")).toBe(digest.digest("hex"));
  });

  test("a feed's lines come at once, while it stays open", async () => {
    const feed = request({ ...scene.options, path: "/api/events", headers: bearer() });
    feed.end();
    const [answer] = (await once(feed, "response")) as [IncomingMessage];
    expect(answer.statusCode).toBe(200);
    const headers = { ...bearer(), "content-type": "application/json" };
    const made = await scene.ask("/api/folders", { method: "POST", headers, body: JSON.stringify({ name: "new" }) });
    expect(made.status).toBe(201);
    let seen = "";
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      seen += chunk.toString();
      if (seen.includes("folder.created")) break;
    }
    feed.destroy();
  });

  test("the servers see the caller's own address, whatever it says of itself, and nothing is warned of", async () => {
    const { events } = JSON.parse((await scene.ask("/api/audit-log", { headers: bearer() })).text) as {
      readonly events: readonly { readonly context: { readonly location: string | null } }[];
    };
    const locations = events.map(({ context }) => context.location).filter((location) => location !== null);
    expect(locations.length).toBeGreaterThan(0);
    expect(new Set(locations)).toEqual(new Set([CALLER]));
    for (const { log } of scene.servers) expect(log.filter(({ event }) => event === "unnamed-proxy")).toEqual([]);
  });

  test("metrics are for nobody who comes through it, and browsers come back with TLS alone", async () => {
    for (const path of ["/metrics", "/metrics/", "/%6detrics", "/metrics?x=1"])
      expect((await scene.ask(path)).status).toBe(404);
    expect((await scene.ask("/healthz")).headers["strict-transport-security"]).toBe("max-age=31536000");
    if (scene.proxy.plainPort === null) return;
    const options = { host: "127.0.0.1", port: scene.proxy.plainPort, path: "/signup", agent: false };
    const plain = requestPlain({ ...options, headers: { host: "localhost" } });
    plain.end();
    const [answer] = (await once(plain, "response")) as [IncomingMessage];
    expect([answer.statusCode, answer.headers.location]).toEqual([301, "https://localhost/signup"]);
    answer.resume();
  });

  test("nobody misses a process that is stopped and started again", async () => {
    let isOver = false;
    const statuses = new Map<number, number>();
    const reading = async (): Promise<void> => {
      while (!isOver) {
        const { status } = await scene.ask("/api/account", { headers: bearer() });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    const readers = Promise.all([reading(), reading()]);
    try {
      for (const at of [0, 1]) await scene.restart(at);
    } finally {
      isOver = true;
    }
    await readers;
    expect([...statuses.keys()]).toEqual([200]);
    expect(statuses.get(200)).toBeGreaterThan(10);
  });

  test("goes on with the process that is left, and its logs hold no token and no code when both are gone", async () => {
    const token = await readMailedToken(scene.directory, scene.email, "verify");
    const [mail] = await readOutbox(scene.directory, scene.email);
    const link = new URL(/^https:\S+$/m.exec(mail?.text ?? "")?.[0] ?? "");
    expect([link.pathname, link.search, link.hash]).toEqual(["/verify-email", "", `#token=${token}`]);
    // The proxy may still leave this one out, which was the last to start again.
    await scene.servers[1]?.end("SIGKILL");
    for (let round = 0; round < 10; round += 1)
      expect((await scene.ask("/api/account", { headers: bearer() })).status).toBe(200);
    const [code, state] = ["code-of-somebody", "state-of-somebody"];
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const asked = [
      () => scene.ask(link.pathname),
      () => scene.ask(`${link.pathname}?sent`, { method: "POST", headers: form, body: `token=${token}` }),
      () => scene.ask(`/signup?code=${code}`),
      () => scene.ask(`/auth/callback?code=${code}&state=${state}`),
      () => scene.ask(`/api/auth/idp?accessCode=${code}`, { headers: bearer() }),
    ];
    for (const one of asked) expect([502, 503]).not.toContain((await one()).status);
    await scene.servers[0]?.end("SIGKILL");
    const answers = await Promise.all(asked.map((one) => one()));
    for (const { status } of answers) expect([502, 503]).toContain(status);
    await pause(500);
    const logs = scene.proxy.logs();
    // It is there that somebody would find them.
    expect(logs).toContain("/verify-email");
    for (const secret of [token, code, state, scene.token]) expect(logs).not.toContain(secret);
  });
});

it("nginx takes deploy/nginx.conf of Compose [issue 51]", (context) => {
  const why = nginx.whyNot();
  if (why !== null) context.skip(why);
  expect(checkComposeProxy(makeDirectory())).toMatch(/^nginx: .* syntax is ok\nnginx: .* test is successful\n$/);
});

/** Once the proxy and both processes are up. */
async function answering(ask: Scene["ask"]): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const status = await ask("/readyz").then(
      (answer) => answer.status,
      (error: unknown) => {
        if (tries > 200) throw error;
        return 0;
      },
    );
    if (status === 200) return;
    await pause(100);
  }
}
