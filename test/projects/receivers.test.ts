/** The receivers of docs/guides/webhooks.md, each started with its framework and the packed packages, and sent a delivery by the service. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient } from "@coffer/sdk";
import { startStack } from "@coffer/devstack";
import { expect, it } from "vitest";
import { plainEnvironment } from "../kit/packed.ts";
import { findSteadyPort } from "../kit/steady-port.ts";
import { installProject } from "./install.ts";
import { serve } from "./served.ts";

const PATIENCE_MS = 300_000;
const COMPILER = join(import.meta.dirname, "../../node_modules/typescript-native/bin/tsc");
const PROGRAMS = ["fastify.ts", "express.ts", "hono.ts", "worker-on-node.ts"];

it(
  "receivers in Fastify, Express, Hono and a worker verify what the service sends, and refuse what it has not sent [issue 53]",
  async (context) => {
    const directory = await installProject(context, "receivers");
    const compiled = promisify(execFile)(process.execPath, [COMPILER, "-p", "."], {
      cwd: directory,
      env: plainEnvironment(),
    });
    await compiled.catch((error: unknown) => expect((error as { readonly stdout: string }).stdout).toBe(""));
    await using stack = await startStack();
    const client = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: stack.apiKey } });
    for (const program of PROGRAMS) {
      const port = String(await findSteadyPort());
      const url = `http://127.0.0.1:${port}/webhooks`;
      const { webhook, secret } = await client.webhooks.create({ url, events: ["vault.created"] });
      const settings = { PORT: port, COFFER_WEBHOOK_SECRET: secret };
      await using _receiver = await serve({ directory, words: [program], settings, url });
      const { status, httpStatus } = await client.webhooks.test(webhook.id);
      expect([program, status, httpStatus]).toEqual([program, "success", 204]);
      const forged = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", "webhook-id": "msg_1" },
        body: "{}",
      });
      expect([program, forged.status, await forged.text()]).toEqual([program, 400, "missing_header"]);
      await client.webhooks.delete(webhook.id);
    }
  },
  PATIENCE_MS,
);
