/** Ctrl-C, the end of the input and signals: at each question, and while a service does not answer. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { generateChainKey } from "@coffer/sdk";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { listCommands } from "./command-list.ts";
import { ROUTES } from "./routes.ts";
import { coffer } from "../../../test/kit/coffer.ts";
import { COFFER, runInTerminal, type Typed } from "../../../test/kit/coffer-program.ts";
import { makeDirectory } from "../../../test/kit/directory.ts";

const KEY = `cof_${"A".repeat(49)}`;
const places = await listCommands(ROUTES);

/** Answers where a browser is to go, and what the network of shared vaults is, and never anything else. */
let silent: Server;
let baseUrl: string;
let asked = 0;

beforeAll(async () => {
  silent = createServer((request, response) => {
    asked += 1;
    response.setHeader("content-type", "application/json");
    if (request.url === "/api/network") response.end("{}");
    if (request.url?.startsWith("/api/auth/idp") !== true) return;
    response.end(JSON.stringify({ url: "https://id.example.com/sign-in?state=abc", state: "abc" }));
  });
  await once(silent.listen(0, "127.0.0.1"), "listening");
  baseUrl = `http://127.0.0.1:${String((silent.address() as AddressInfo).port)}`;
});
afterAll(() => {
  silent.closeAllConnections();
  silent.close();
});

const wordsOf = (line: string): string[] =>
  [...line.replace(/ (<|>|\|) .*$/, "").matchAll(/"([^"]*)"|(\S+)/g)]
    .slice(1)
    .map(([, quoted, bare]) => quoted ?? bare ?? "");

describe("while the service does not answer [issue 19]", () => {
  const lines = places.map(({ path, command }) => [path.join(" "), command.examples[0].line] as const);

  it("Ctrl-C ends every command, and a second one is not needed", async () => {
    const stop = new AbortController();
    const runs = lines.map(([, line]) => {
      const home = makeDirectory();
      for (const name of ["report.pdf", "index.html", "key.txt", "dump.sql", "network.json", "invite.txt"])
        writeFileSync(join(home, name), "x");
      mkdirSync(join(home, "photos"));
      const words = wordsOf(line).map((word) => (word === "https://coffer.example.com" ? baseUrl : word));
      return coffer([...words, "--yes"], home, {
        env: { SERVICE_BASE_URL: baseUrl, SERVICE_API_KEY: KEY },
        interrupted: stop.signal,
        input: "x",
      });
    });
    // On a busy machine the first requests take seconds to come. Then the others follow within moments.
    await vi.waitFor(() => expect(asked).toBeGreaterThan(50), { timeout: 60_000, interval: 100 });
    await wait(1_000);
    const settled = new Set<number>();
    runs.forEach((run, at) => void run.then(() => settled.add(at)));
    await wait(0);
    const endedBefore = new Set(settled);
    stop.abort();
    const late = wait(30_000).then(() => null);
    const ended = await Promise.all(
      runs.map(async (run, at) => {
        const ran = await Promise.race([run, late]);
        // A command that asks no service may be done before it is interrupted, or while it is.
        const isDone = endedBefore.has(at) || ran?.code === 0;
        return [lines[at]?.[1], isDone ? 130 : (ran?.code ?? "does not end"), ran?.err.match(/^\s+at /m) ?? null];
      }),
    );
    expect(ended).toEqual(ended.map(([line]) => [line, 130, null]));
  });
});

const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, milliseconds));

/** The shell's number of its process is that of the program that takes its place. */
const TOLD = ["sh", "-c", 'echo "pid $$."; exec "$@"', "sh", ...COFFER] as const;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const signalled = (signal: NodeJS.Signals) => async (screen: string) => {
  process.kill(Number(/pid (\d+)\./.exec(screen)?.[1]), signal);
  return "";
};

/** What ends a question: how, and with which exit code. */
const ENDS: readonly (readonly [string, Typed["types"], number])[] = [
  ["Ctrl-C", "\u0003", 130],
  ["Ctrl-C twice", "\u0003\u0003", 130],
  ["Ctrl-D", "\u0004", 1],
  ...SIGNALS.map((signal) => [signal, signalled(signal), 130] as const),
];

interface Question {
  readonly words: readonly string[];
  readonly answers?: readonly Typed[];
  readonly question: string | RegExp;
  readonly env?: Readonly<Record<string, string>>;
}

const EMAIL: Typed = { after: "E-mail: ", types: "me@example.com\r" };
const QUESTIONS: Readonly<Record<string, Question>> = {
  "e-mail address": { words: ["login"], question: "E-mail: " },
  password: { words: ["login"], answers: [EMAIL], question: "Password: " },
  "new password": { words: ["signup"], answers: [EMAIL], question: "New password: " },
  "the password again": {
    words: ["signup"],
    answers: [EMAIL, { after: "New password: ", types: "several unrelated words 41\r" }],
    question: "The same again: ",
  },
  "API key": { words: ["login", "--api-key-stdin"], question: "API key: " },
  invite: { words: ["login", "--invite-code", "-"], question: "Invite: " },
  "address of a browser": { words: ["login", "--provider"], question: "Address: " },
  "network of shared vaults": { words: ["chain", "network"], question: "SHA-256 of the network file: " },
  "chain key": { words: ["chain", "import"], question: "Chain key: " },
  "token of a mail": { words: ["password", "reset"], question: "Token of the mail: " },
  "present password": { words: ["password", "change"], question: "Present password: ", env: { SERVICE_API_KEY: KEY } },
  agreement: { words: ["chain", "generate", "--replace"], question: "[y/N] " },
};

describe("at a question in a terminal [issue 19]", () => {
  const cases = Object.keys(QUESTIONS).flatMap((name, at) =>
    // Every question with Ctrl-C and Ctrl-D; the others in turn.
    ENDS.filter((_end, which) => which === 0 || which === 2 || which === [1, 3, 4, 5][at % 4]).map(
      (end) => [name, ...end] as const,
    ),
  );

  it.each(cases)("%s: %s", async (name, how, types, code) => {
    const { words, answers = [], question, env = {} } = QUESTIONS[name] as Question;
    const home = makeDirectory();
    const config = join(home, ".config", "coffer");
    if (name === "agreement") {
      mkdirSync(config, { recursive: true, mode: 0o700 });
      const chainPrivateKey = (await generateChainKey()).privateKey.reveal();
      const file = { version: 1, defaultProfile: "default", profiles: { default: { baseUrl, chainPrivateKey } } };
      writeFileSync(join(config, "config.json"), JSON.stringify(file), { mode: 0o600 });
    }
    const before = filesOf(config);
    const { code: ended, screen } = await runInTerminal(words, {
      env: { HOME: home, SERVICE_BASE_URL: baseUrl, NO_COLOR: "1", ...env },
      program: TOLD,
      typed: [...answers, { after: question, types }],
      then: "stty -a",
    });
    const said = code === 130 ? "error: Interrupted.\r\nnext: " : "error: Nothing was done.\r\nnext: ";
    if (!how.endsWith("twice")) expect(screen).toContain(said);
    expect([ended, screen.match(/^\s+at /m)]).toEqual([code, null]);
    // The terminal shows what is typed, line by line, and Ctrl-C works.
    expect(screen).toMatch(/(?<!-)\bisig\b/);
    expect(screen).toMatch(/(?<!-)\bicanon\b/);
    expect(screen).toMatch(/(?<!-)\becho\b/);
    expect(screen).not.toContain("\u001b[?25l");
    expect(filesOf(config)).toEqual(before);
  });
});

const filesOf = (directory: string): string[] => (existsSync(directory) ? readdirSync(directory).toSorted() : []);

describe("as a program [issue 19]", () => {
  it.each(SIGNALS)("%s ends what waits for its input", async (signal) => {
    const [command, ...args] = COFFER;
    const child = spawn(command, [...args, "login", "--api-key-stdin", "--base-url", baseUrl], {
      env: { PATH: process.env["PATH"], HOME: makeDirectory() },
    });
    const err = text(child.stderr);
    // It reads once the first piece is gone from the pipe, which then has room for a second one.
    const isRead = new Promise((resolve) => void child.stdin.write(Buffer.alloc(1_000_000, "x"), resolve));
    await isRead;
    child.kill(signal);
    const [code] = (await once(child, "exit")) as [number | null];
    expect([code, await err]).toEqual([130, expect.stringContaining("error: Interrupted.")]);
  });

  it("SIGTERM reaches the program that it runs", async () => {
    const [command, ...args] = COFFER;
    const child = spawn(command, [...args, "mcp", "serve", "--base-url", baseUrl], {
      env: { PATH: process.env["PATH"], HOME: makeDirectory() },
    });
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } };
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    await once(child.stdout, "data");
    const own = String(child.pid);
    const server = Number(readFileSync(`/proc/${own}/task/${own}/children`, "utf8").trim());
    expect(server).toBeGreaterThan(0);
    child.kill("SIGTERM");
    await once(child, "exit");
    expect(() => process.kill(server, 0)).toThrow("ESRCH");
  });
});
