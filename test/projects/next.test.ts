/** A Next project with the packed packages: built by both bundlers, started, and asked for its server component, its route handlers and its receiver. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { startStack } from "@coffer/devstack";
import { createClient } from "@coffer/sdk";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { plainEnvironment } from "../kit/packed.ts";
import { findSteadyPort } from "../kit/steady-port.ts";
import { installProject } from "./install.ts";
import { serve } from "./served.ts";

const PATIENCE_MS = 900_000;
const NEXT = "node_modules/next/dist/bin/next";
/** Else it tells its maker who builds. */
const QUIET = { NEXT_TELEMETRY_DISABLED: "1" };
const REPORT = "words ".repeat(60_000);

describe.each(["turbopack", "webpack"])("a Next project that %s builds [issue 53]", (bundler) => {
  it(
    "opens a shared vault in server components and route handlers without settings, and receives webhooks",
    async (context) => {
      const directory = await installProject(context, "next");
      await promisify(execFile)(process.execPath, [NEXT, "build", `--${bundler}`], {
        cwd: directory,
        env: { ...plainEnvironment(), NODE_ENV: "production", ...QUIET },
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
      await using _site = await serve({
        directory,
        words: [NEXT, "start", "--hostname", "127.0.0.1", "--port", String(port)],
        settings: {
          ...QUIET,
          SERVICE_CONFIG_FILE: stack.credentialsFile,
          SERVICE_CONFIG_DIR: makeDirectory(),
          COFFER_WEBHOOK_SECRET: secret,
        },
        url: `${address}/webhooks`,
      });

      expect(await textOf(`${address}/?vaultId=${vaultId}`)).toContain("what Node wrote for members");
      const upload = () => fetch(`${address}/report?vaultId=${vaultId}`, { method: "POST", body: REPORT });
      const stored = await upload();
      expect(stored.status).toBe(201);
      const { id, sent } = (await stored.json()) as { readonly id: string; readonly sent: number };
      expect(sent).toBe(REPORT.length);
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

async function textOf(url: string): Promise<string> {
  const answer = await fetch(url);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${String(answer.status)}: ${text.slice(0, 2_000)}`);
  return text;
}
