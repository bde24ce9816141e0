/**
 * TEST ONLY: the Chromium of this machine, without a window, spoken to over two pipes (Chrome DevTools Protocol,
 * `--remote-debugging-pipe`: messages are JSON that ends in a zero byte).
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Readable, Writable } from "node:stream";

/** Null where there is none. */
export function findChromium(): string | null {
  const directories = (process.env["PATH"] ?? "").split(delimiter);
  const names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
  return names.flatMap((name) => directories.map((directory) => join(directory, name))).find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface ChromiumPage extends AsyncDisposable {
  /** What an expression comes to in the page; a promise is waited for. Rejects with the page's own exception. */
  evaluate<Value>(expression: string): Promise<Value>;
  /** Asks again and again until the expression is true; rejects after ten seconds. */
  until(expression: string): Promise<void>;
  press(key: "Tab" | "Enter" | "Space"): Promise<void>;
  /** A narrow window, another colour scheme. */
  emulate(options: { width: number; scheme: "light" | "dark" }): Promise<void>;
  /** A PNG. */
  screenshot(): Promise<Buffer>;
  /** What the page wrote to its console as errors, blocked resources and uncaught exceptions included. */
  readonly complaints: readonly string[];
}

/** Nothing leaves the machine, nothing is kept. */
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--hide-scrollbars",
  "--remote-debugging-pipe",
];

const PATIENCE = 10_000;

export async function openPage(program: string, url: string): Promise<ChromiumPage> {
  const profile = mkdtempSync(join(tmpdir(), "coffer-chromium-"));
  const child = spawn(program, [...FLAGS, `--user-data-dir=${profile}`, "about:blank"], {
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
  });
  const complaints: string[] = [];
  const connection = new Connection(child, complaints);
  const { targetInfos } = await connection.send<{ targetInfos: { type: string; targetId: string }[] }>(
    "Target.getTargets",
  );
  const targetId = targetInfos.find(({ type }) => type === "page")?.targetId;
  await connection.send("Target.attachToTarget", { targetId, flatten: true });
  for (const domain of ["Page", "Runtime", "Log"]) await connection.send(`${domain}.enable`);
  await connection.send("Page.navigate", { url });
  return { ...pageOf(connection), complaints, [Symbol.asyncDispose]: () => end(child, profile) };
}

async function end(child: ChildProcess, profile: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
}

function pageOf(connection: Connection): Omit<ChromiumPage, "complaints" | typeof Symbol.asyncDispose> {
  const evaluate = async <Value>(expression: string): Promise<Value> => {
    const { result, exceptionDetails } = await connection.send<{
      result: { value: Value };
      exceptionDetails?: { exception?: { description?: string } };
    }>("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? "an exception");
    return result.value;
  };
  return {
    evaluate,
    async until(expression) {
      const limit = performance.now() + PATIENCE;
      while (!(await evaluate<boolean>(`Boolean(${expression})`))) {
        if (performance.now() > limit) throw new Error(`it did not come true: ${expression}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async press(key) {
      const code = { Tab: 9, Enter: 13, Space: 32 }[key];
      const text = { Tab: "", Enter: "\r", Space: " " }[key];
      const event = { key: key === "Space" ? " " : key, code: key, windowsVirtualKeyCode: code };
      await connection.send("Input.dispatchKeyEvent", { ...event, type: text === "" ? "rawKeyDown" : "keyDown", text });
      await connection.send("Input.dispatchKeyEvent", { ...event, type: "keyUp" });
    },
    async emulate({ width, scheme }) {
      const metrics = { width, height: 900, deviceScaleFactor: 1, mobile: false };
      await connection.send("Emulation.setDeviceMetricsOverride", metrics);
      const features = [{ name: "prefers-color-scheme", value: scheme }];
      await connection.send("Emulation.setEmulatedMedia", { features });
    },
    screenshot: async () =>
      Buffer.from((await connection.send<{ data: string }>("Page.captureScreenshot")).data, "base64"),
  };
}

interface Message {
  readonly id?: number;
  readonly sessionId?: string;
  readonly method?: string;
  readonly params?: {
    sessionId?: string;
    entry?: { text: string; level: string };
    exceptionDetails?: { text: string };
  };
  readonly result?: unknown;
  readonly error?: { message: string };
}

class Connection {
  readonly #to: Writable;
  readonly #complaints: string[];
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (reason: Error) => void }>();
  #sessionId: string | undefined;
  #count = 0;

  constructor(child: ChildProcess, complaints: string[]) {
    const [, , , to, from] = child.stdio;
    this.#to = to as Writable;
    this.#complaints = complaints;
    let rest = Buffer.alloc(0);
    (from as Readable).on("data", (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (let zero = rest.indexOf(0); zero !== -1; zero = rest.indexOf(0)) {
        this.#take(JSON.parse(rest.subarray(0, zero).toString()) as Message);
        rest = rest.subarray(zero + 1);
      }
    });
    child.once("exit", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the browser has ended"));
    });
    child.once("error", (error) => {
      for (const { reject } of this.#waiting.values()) reject(error);
    });
    this.#to.on("error", () => undefined);
  }

  send<Result>(method: string, params: object = {}): Promise<Result> {
    const id = (this.#count += 1);
    const session = this.#sessionId === undefined ? {} : { sessionId: this.#sessionId };
    this.#to.write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    return new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { resolve, reject })) as Promise<Result>;
  }

  #take({ id, method, params, result, error }: Message): void {
    if (method === "Target.attachedToTarget") this.#sessionId = params?.sessionId;
    if (method === "Log.entryAdded" && params?.entry?.level === "error") this.#complaints.push(params.entry.text);
    if (method === "Runtime.exceptionThrown") this.#complaints.push(params?.exceptionDetails?.text ?? "an exception");
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || waiting === undefined) return;
    this.#waiting.delete(id);
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(new Error(error.message));
  }
}
