/**
 * `npm run conformance:mcp`: the official suite on both protocol revisions, through the HTTP shell that ships, with a real
 * key of a real service. Then the official Inspector against the process over both transports. Nothing may fail that a revision
 * requires: there is no list of expected failures.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sourceLauncher, startStack, type Stack } from "@coffer/devstack";
import { createClient } from "@coffer/sdk";
import { KeyHolders, serveHttp } from "@coffer/mcp/http";
import { spawnShell } from "../../kit/mcp-http.ts";
import { installPeers, PEER_PROGRAMS } from "../../../dev/scripts/peers.ts";
import { createFixtures } from "./fixtures.ts";

const REVISIONS = ["2025-11-25", "2026-07-28"];

/** The suite sends no key: this passes each request on with one, and leaves Host and Origin as they are. */
async function listenWithKey(target: string, key: string): Promise<{ url: string; close: () => void }> {
  const { hostname, port, pathname } = new URL(target);
  const proxy = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${key}` };
    const passed = send({ hostname, port, path: incoming.url, method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port: own } = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(own)}${pathname}`,
    close: () => {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}

interface Ran {
  readonly code: number | null;
  readonly output: string;
}

function run(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    const home = mkdtempSync(join(tmpdir(), "coffer-peer-"));
    const env = { PATH: process.env["PATH"], HOME: home, ...environment };
    const child = spawn(process.execPath, [join(PEER_PROGRAMS, program), ...args], {
      cwd: home,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        output += chunk.toString();
      });
    child.on("close", (code) => {
      rmSync(home, { recursive: true, force: true });
      resolve({ code, output });
    });
  });
}

let failed = 0;
function report(name: string, { code, output }: Ran, lines: RegExp): void {
  if (code !== 0) failed += 1;
  const all = output.trimEnd().split("\n");
  const shown = code === 0 ? all.filter((line) => lines.test(line)) : all;
  console.log(`${code === 0 ? "ok    " : "FAILED"} ${name}\n${shown.join("\n").replace(/^/gm, "       ")}`);
}

async function runSuite(stack: Stack): Promise<void> {
  const options = { clientFor: (apiKey: string) => createClient({ baseUrl: stack.baseUrl, credentials: { apiKey } }) };
  const shell = await serveHttp({
    http: { host: "127.0.0.1", port: 0, publicUrl: null, allowedOrigins: [] },
    keys: new KeyHolders({ ...options, limits: { atOnce: 16, perMinute: 100_000 } }),
    serverFor: (_holder, notify) => createFixtures(notify()),
    log: () => undefined,
  });
  const proxy = await listenWithKey(shell.url, stack.apiKey);
  for (const revision of REVISIONS)
    report(
      `conformance ${revision}`,
      await run("conformance", ["server", "--url", proxy.url, "--requirements", revision]),
      /Total:|Not scored|✗/,
    );
  proxy.close();
  await shell.close();
}

/** The official Inspector over both transports, and in both eras. */
async function runInspector(stack: Stack): Promise<void> {
  const { command, args } = sourceLauncher();
  const own = { SERVICE_CONFIG_DIR: join(stack.dataDirectory, "client") };
  const environment = { SERVICE_CONFIG_FILE: stack.credentialsFile, ...own };
  await using shell = await spawnShell({ SERVICE_BASE_URL: stack.baseUrl, ...own }, ["--profile", "owner"]);
  const header = `Authorization: Bearer ${stack.apiKey}`;
  const ways: Readonly<Record<string, readonly string[]>> = {
    stdio: [command, ...args, "--profile", "owner"],
    "HTTP, 2025 era": [shell.url, "--transport", "http", "--header", header],
    "HTTP, 2026 era": [shell.url, "--transport", "http", "--protocol-era", "modern", "--header", header],
  };
  for (const [way, target] of Object.entries(ways)) {
    const inspect = (...method: string[]) =>
      run("mcp-inspector", ["--cli", ...target, "--method", ...method, "--format", "json"], environment);
    report(`inspector initialize, ${way}`, await inspect("initialize"), /^$/);
    report(`inspector tools/list --strict, ${way}`, await inspect("tools/list", "--strict"), /^$/);
    report(
      `inspector skills/list --verify, ${way}`,
      await inspect("skills/list", "--verify", "--require-digests"),
      /^$/,
    );
    const apps = await inspect("tools/list", "--app-info");
    report(`inspector tools/list --app-info, ${way}`, { ...apps, code: hasApps(apps.output) ? apps.code : 1 }, /^$/);
  }
}

/** Every tool that names a page has one, of the right type, that asks for no address outside. */
function hasApps(output: string): boolean {
  const found = [...output.matchAll(/"resourceUri":"ui:\/\/coffer\/(files|consent)"/g)].map(([, kind]) => kind);
  return new Set(found).size === 2 && !/"(connectDomains|resourceDomains|frameDomains)":\["/.test(output);
}

await installPeers();
const stack = await startStack();
try {
  await runSuite(stack);
  await runInspector(stack);
} finally {
  await stack.close();
}
process.exitCode = failed === 0 ? 0 : 1;
