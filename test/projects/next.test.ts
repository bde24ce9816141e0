/** A Next project with the packed packages: built by both bundlers, started, and asked for its server component, its route handlers and its receiver. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { startStack, type Stack } from "@coffer/devstack";
import { createClient } from "@coffer/sdk";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { plainEnvironment } from "../kit/packed.ts";
import { findSteadyPort } from "../kit/steady-port.ts";
import { installProject } from "./install.ts";

const PATIENCE_MS = 900_000;
const NEXT = "node_modules/next/dist/bin/next";
const REPORT = "words ".repeat(60_000);

describe.each(["turbopack", "webpack"])("a Next project that %s builds [issue 53]", (bundler) => {
  it(
    "opens a shared vault in server components and route handlers without settings, and receives webhooks",
    async (context) => {
      const directory = await installProject(context, "next");
      await promisify(execFile)(process.execPath, [NEXT, "build", `--${bundler}`], {
        cwd: directory,
        env: environment(),
      }).catch((error: unknown) => {
        const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
        throw new Error(`the build failed:\n${stdout}${stderr}`);
      });
      await using stack = await startStack();
      const { baseUrl, apiKey, sharedVaults } = stack;
      const client = createClient({ baseUrl, credentials: { apiKey }, sharedVaults });
      const { id: vaultId } = await client.vaults.create({ name: "what Next shows", type: "shared" });
      await client.files.upload({ vaultId, name: "of Node.txt", body: "what Node wrote for members" });

      const port = await findSteadyPort();
      const address = `http://127.0.0.1:${String(port)}`;
      const { webhook, secret } = await client.webhooks.create({
        url: `${address}/webhooks`,
        events: ["file.uploaded"],
      });
      await using _site = await startSite(directory, port, stack, secret);

      expect(await textOf(`${address}/?vaultId=${vaultId}`)).toContain("what Node wrote for members");
      const upload = () => fetch(`${address}/report?vaultId=${vaultId}`, { method: "POST", body: REPORT });
      const stored = await upload();
      expect(stored.status).toBe(201);
      const { id, sent } = (await stored.json()) as { readonly id: string; readonly sent: number };
      expect(sent).toBeGreaterThanOrEqual(REPORT.length);
      expect((await upload()).status).toBe(409);
      expect(await textOf(`${address}/report?id=${id}`)).toBe(REPORT);
      expect(await (await client.files.download(id)).text()).toBe(REPORT);

      expect(await client.webhooks.test(webhook.id)).toMatchObject({ status: "success", httpStatus: 204 });
      const forged = await fetch(`${address}/webhooks`, { method: "POST", body: "{}" });
      expect([forged.status, await forged.text()]).toEqual([400, "missing_header"]);
    },
    PATIENCE_MS,
  );
});

/** As for a release. */
function environment(): NodeJS.ProcessEnv {
  return { ...plainEnvironment(), NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" };
}

async function textOf(url: string): Promise<string> {
  const answer = await fetch(url);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${String(answer.status)}: ${text.slice(0, 2_000)}`);
  return text;
}

/** `next start` with the profile of the stack's owner; resolves when it answers. */
async function startSite(directory: string, port: number, stack: Stack, secret: string): Promise<AsyncDisposable> {
  const words = [join(directory, NEXT), "start", "--hostname", "127.0.0.1", "--port", String(port)];
  const said: string[] = [];
  const child = spawn(process.execPath, words, {
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...environment(),
      SERVICE_CONFIG_FILE: stack.credentialsFile,
      SERVICE_CONFIG_DIR: makeDirectory(),
      COFFER_WEBHOOK_SECRET: secret,
    },
  });
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => said.push(String(chunk)));
  const exited = once(child, "exit");
  const end = (): boolean => child.kill("SIGKILL");
  // Whatever ends this process.
  process.once("exit", end);
  const site = {
    async [Symbol.asyncDispose]() {
      process.off("exit", end);
      end();
      await exited;
    },
  };
  for (let waited = 0; waited < 60_000; waited += 100) {
    if (child.exitCode !== null) break;
    // Nothing is signed: a 400 of the receiver.
    const answer = await fetch(`http://127.0.0.1:${String(port)}/webhooks`, { method: "POST" }).catch(() => null);
    if (answer !== null) return site;
    await pause(100);
  }
  await site[Symbol.asyncDispose]();
  throw new Error(`next start did not answer:\n${said.join("")}`);
}
