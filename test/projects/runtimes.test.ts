/** The packed packages on runtimes that are not Node: the program of every kind of project, and redirects, which each runtime refuses in its own way. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { blocksOf } from "../../dev/scripts/pages/documents.ts";
import { listenOnLoopback } from "../kit/loopback.ts";
import { plainEnvironment } from "../kit/packed.ts";
import { PATIENCE_MS, programOf, projectsOfFile } from "../kit/projects-here.ts";
import { REDIRECTED_KEY } from "./refusals.ts";

const { install, ownerVariables, run } = projectsOfFile();

const RUNTIMES = [
  { kind: "bun", words: ["run"], paths: ["@oven/bun-linux-x64/bin/bun", "@oven/bun-linux-aarch64/bin/bun"] },
  {
    kind: "deno",
    words: ["run", "--allow-all"],
    paths: ["@deno/linux-x64-glibc/deno", "@deno/linux-arm64-glibc/deno"],
  },
];

describe.each(RUNTIMES)("a project of the kind $kind", ({ kind, words, paths }) => {
  it(
    "works, and follows no redirect",
    async (context) => {
      const directory = await install(context, kind);
      const program = programOf(context, directory, paths);
      const own = { DENO_DIR: join(directory, "cache"), DENO_NO_UPDATE_CHECK: "1" };
      expect(await run(program, directory, [...words, "main.js"], own)).toBe("done");
      await using redirecting = await openRedirects();
      const settings = { ...own, REDIRECTING_URL: redirecting.baseUrl };
      expect(await run(program, directory, [...words, "redirects.js"], settings)).toBe("done");
      redirecting.expectNoCredential();
    },
    PATIENCE_MS,
  );
});

describe("a project of Workers", () => {
  it(
    "works in workerd, with and without what looks like Node, and follows no redirect",
    async (context) => {
      const directory = await install(context, "workers");
      const program = programOf(
        context,
        directory,
        ["64", "arm64"].map((machine) => `@cloudflare/workerd-linux-${machine}/bin/workerd`),
      );
      const [guide] = blocksOf("docs/guides/workers.md").filter(({ language }) => language === "ts");
      writeFileSync(join(directory, "guide.ts"), guide?.code ?? "");
      await run(process.execPath, directory, ["node_modules/esbuild/bin/esbuild", ...BUNDLING]);
      await using redirecting = await openRedirects();
      await using workers = await startWorkers(program, directory, {
        REDIRECTING_URL: redirecting.baseUrl,
        WEBHOOK_SECRET: SECRET,
      });
      for (const name of ["earlier", "later"])
        for (const path of ["scenario", "redirects"])
          expect([name, path, await (await workers.ask(name, path)).text()]).toEqual([name, path, "done"]);
      redirecting.expectNoCredential();
      await tryGuide((path, init) => workers.ask("guide", path, init));
    },
    PATIENCE_MS,
  );
});

/** As the tools of Workers bundle. */
const BUNDLING = [
  ...["worker.js", "guide.ts", "--bundle", "--format=esm", "--outdir=out", "--log-level=warning"],
  ...["--platform=neutral", "--main-fields=module,main", "--conditions=workerd,worker,browser"],
];

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** What the guide says of its worker. The file is larger than one request's bytes, and goes through as a stream. */
async function tryGuide(ask: (path: string, init?: RequestInit) => Promise<Response>): Promise<void> {
  const body = "words of a guide ".repeat(600_000);
  const stored = await ask("guide.txt", { method: "PUT", body });
  expect(stored.status).toBe(201);
  const { id } = (await stored.json()) as { readonly id: string };
  expect((await (await ask(id)).text()) === body).toBe(true);
  const taken = await ask("guide.txt", { method: "PUT", body: "others" });
  expect([taken.status, await taken.json()]).toEqual([409, { error: "name_exists" }]);
  expect((await ask("webhooks", { method: "POST", body: "{}" })).status).toBe(400);
}

/** A service that answers everything with the status in its path, and the origin that it redirects to, which answers. */
async function openRedirects() {
  const arrived: IncomingMessage[] = [];
  const after = (request: IncomingMessage, answer: () => ServerResponse): unknown => request.resume().on("end", answer);
  const elsewhere = await listenOnLoopback((request, response) => {
    arrived.push(request);
    after(request, () => response.writeHead(200, { "content-type": "application/json" }).end("{}"));
  });
  const service = await listenOnLoopback((request, response) => {
    const [, status, kind = ""] = request.url?.split("/") ?? [];
    const location = `${elsewhere.baseUrl}/secret-place/${kind}`;
    after(request, () => response.writeHead(Number(status), { location }).end());
  });
  return {
    baseUrl: service.baseUrl,
    /** Only the caller's own `fetch` that follows may have come, and no credential with it. */
    expectNoCredential: (): void => {
      expect(arrived.length).toBeGreaterThan(0);
      for (const { url, headers, rawHeaders } of arrived) {
        expect(url).toBe("/secret-place/follows");
        expect(headers).not.toHaveProperty("authorization");
        expect(JSON.stringify(rawHeaders)).not.toContain(REDIRECTED_KEY);
      }
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await service[Symbol.asyncDispose]();
      await elsewhere[Symbol.asyncDispose]();
    },
  };
}

/** In the configuration of the workers. */
const SOCKETS = 3;

/** All workers of the configuration, in one process that ends with the test. The bindings are the owner's settings. */
async function startWorkers(program: string, cwd: string, environment: Readonly<Record<string, string>>) {
  const child = spawn(program, ["serve", "config.capnp", "--control-fd=3"], {
    cwd,
    env: { ...plainEnvironment(), ...ownerVariables(), ...environment },
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  const ended = once(child, "exit");
  const ports = new Map<string, number>();
  for await (const line of createInterface(child.stdio[3] as Readable)) {
    const { event, socket, port } = JSON.parse(line) as { event: string; socket: string; port: number };
    if (event === "listen") ports.set(socket, port);
    if (ports.size === SOCKETS) break;
  }
  return {
    ask: (name: string, path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`http://127.0.0.1:${String(ports.get(name))}/${path}`, {
        ...init,
        signal: AbortSignal.timeout(PATIENCE_MS),
      }),
    [Symbol.asyncDispose]: async (): Promise<void> => {
      child.kill();
      await ended;
    },
  };
}
