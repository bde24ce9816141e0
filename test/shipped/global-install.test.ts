/** The lines of docs/guides/install.md that install by npm, on a machine that has nothing of ours: no registry is asked for it. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { listenOnLoopback, type LoopbackServer } from "../kit/loopback.ts";
import { runProgram } from "../kit/coffer-program.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** The block of the page that begins with `npm run build`. */
function block(): string[] {
  const page = readFileSync(join(ROOT, "docs/guides/install.md"), "utf8");
  return /```sh\n(npm run build\n[\s\S]*?)```/.exec(page)?.[1]?.trim().split("\n") ?? [];
}

/** The configured registry, with a record of what it is asked: addresses, and bodies such as those of an audit. */
async function recordRegistry(upstream: string): Promise<LoopbackServer & { readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const server: LoopbackServer = await listenOnLoopback(async (request, response) => {
    const { method = "GET", url = "/" } = request;
    const body = await buffer(request);
    asked.push(`${method} ${decodeURIComponent(url)} ${body.toString("latin1")}`);
    const accept = request.headers.accept ?? "*/*";
    const answer = await fetch(new URL(url.slice(1), upstream), {
      method,
      headers: { accept },
      body: method === "GET" ? null : body,
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    const type = answer.headers.get("content-type") ?? "application/octet-stream";
    response.writeHead(answer.status, { "content-type": type });
    // Tarballs come by this way, too.
    response.end(type.includes("json") ? bytes.toString().replaceAll(upstream, `${server.baseUrl}/`) : bytes);
  });
  return Object.assign(server, { asked });
}

it("installs coffer and coffer-mcp, and asks for no @coffer/ [issue 49]", async (context) => {
  const [build, ...lines] = block();
  expect([build, lines.length]).toEqual(["npm run build", 4]);
  const upstream = execFileSync("npm", ["config", "get", "registry"], { cwd: ROOT, encoding: "utf8" }).trim();
  if (
    !(await fetch(new URL("zod", upstream), { method: "HEAD" }).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    context.skip("no registry answers");
  if (!existsSync(join(ROOT, "packages/sdk/dist/index.d.ts")))
    expect(spawnSync("sh", ["-c", build ?? ""], { cwd: ROOT, encoding: "utf8" }).status).toBe(0);
  await using registry = await recordRegistry(upstream);
  const machine = makeDirectory();
  const env = {
    HOME: machine,
    npm_config_prefix: join(machine, "global"),
    npm_config_cache: join(machine, "cache"),
    npm_config_registry: `${registry.baseUrl}/`,
    npm_config_update_notifier: "false",
    PATH: [join(machine, "global", "bin"), dirname(process.execPath), process.env["PATH"]].join(":"),
  };
  const ran = await runProgram(["-ec", [...lines, "coffer-mcp --version", "coffer mcp status"].join("\n")], {
    env,
    cwd: ROOT,
    program: ["sh"],
  });
  expect([ran.code, ran.out], ran.err).toEqual([0, expect.stringMatching(/^coffer \d+\.\d+\.\d+ /m)]);
  expect(registry.asked.length).toBeGreaterThan(5);
  expect(registry.asked.filter((request) => request.includes("@coffer"))).toEqual([]);
});
