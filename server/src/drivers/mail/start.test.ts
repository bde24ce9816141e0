import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { productionSecrets } from "../../../../test/journeys/kit/production.ts";
import { readMail } from "../../../../test/suites/mailer-message.ts";
import { type Environment, parseConfig, startServer } from "../../index.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { openSmtpServer } from "./smtp-server.test-kit.ts";

const directory = ofEachTest(async () => ({ path: makeDirectory() }));
let logged: string;
beforeEach(() => {
  logged = "";
});

async function start(environment: Environment) {
  const config = parseConfig({ SERVICE_PORT: "0", SERVICE_DATA_DIR: directory.path, ...environment });
  const logSink = { write: (lines: Uint8Array) => void (logged += new TextDecoder().decode(lines)) };
  const server = await startServer(config, { logSink });
  return { baseUrl: server.baseUrl, [Symbol.asyncDispose]: () => server.close() };
}

function post(baseUrl: string, path: string, body: unknown): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(`${baseUrl}/api/auth/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

async function delivers({ baseUrl }: { readonly baseUrl: string }): Promise<string | undefined> {
  const metrics = await (await fetch(`${baseUrl}/metrics`)).text();
  return /^coffer_mail_delivered (\d)$/m.exec(metrics)?.[1];
}

const warnings = () => logged.split("\n").filter((line) => line.includes("mail-stays-here"));

describe("a server's mail", () => {
  it("is files in production without SMTP, which one line at the start says", async () => {
    {
      await using server = await start({ ...productionSecrets(), SERVICE_MAIL_FROM: "Coffer <sender@example.test>" });
      expect(await delivers(server)).toBe("0");
    }
    expect(warnings()).toHaveLength(1);
    const msg = expect.stringContaining(join(directory.path, "outbox"));
    expect(JSON.parse(warnings()[0] ?? "")).toMatchObject({ level: 40, event: "mail-stays-here", msg });
    expect(logged).not.toContain("example.test");
  });

  it("is files in development, and nothing is said about it", async () => {
    const email = "reader@example.test";
    const outbox = join(directory.path, "outbox");
    let links = "";
    {
      await using server = await start({ SERVICE_ENV: "development" });
      links = `${server.baseUrl}/reset-password#token=`;
      await post(server.baseUrl, "dev-signup", { email });
      await post(server.baseUrl, "forgot-password", { email });
      await post(server.baseUrl, "forgot-password", { email: "nobody@example.test" });
      while ((await readdir(outbox)).every((name) => !name.endsWith(".eml"))) await pause(20);
    }
    const names = await readdir(outbox);
    expect(names).toHaveLength(1);
    const mail = readMail(await readFile(join(outbox, names[0] ?? "")));
    expect(mail.header("to")).toBe(email);
    // The port that the server chose.
    expect(mail.text).toContain(links);
    const token = /token=([\w-]{43})$/m.exec(mail.text)?.[1] ?? "no token";
    expect(warnings()).toEqual([]);
    expect(logged).toContain('"mail sent"');
    expect(logged).not.toContain(token);
    expect(logged).not.toContain("@example.test");
  });

  it("goes to the SMTP server that is named, whose password no log has", async () => {
    const email = "reader@example.test";
    await using smtp = await openSmtpServer({ disabledCommands: ["STARTTLS"], allowInsecureAuth: true });
    const url = `smtp://sender:hidden-word@127.0.0.1:${smtp.port}`;
    {
      await using server = await start({ SERVICE_ENV: "development", SERVICE_SMTP_URL: url });
      expect(await delivers(server)).toBe("1");
      await post(server.baseUrl, "dev-signup", { email });
      await post(server.baseUrl, "forgot-password", { email });
      while (smtp.received.length === 0) await pause(20);
    }
    expect(smtp.received.map(({ envelope }) => envelope?.to)).toEqual([[email]]);
    expect(smtp.signIns).toEqual(["sender:hidden-word"]);
    expect(logged).not.toContain("hidden-word");
    expect(await readdir(directory.path)).not.toContain("outbox");
  });
});
